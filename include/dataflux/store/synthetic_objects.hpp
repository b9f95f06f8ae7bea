#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/detail/config.hpp>
#include <dataflux/store/object_chunk.hpp>
#include <dataflux/unique_function.hpp>

#include <cstdint>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {

/// A body that is computed instead of kept, for simulations of more data than there is memory.
///
/// Pseudo-random bytes fixed by `seed`, the same on every machine. They repeat after 65,521 bytes,
/// a prime, so that a piece put at a wrong offset shows for every offset that is no multiple of it;
/// two seeds in 65,521 give the same bytes. A value of 16 bytes; thread-safe.
class synthetic_bytes {
 public:
  static constexpr std::uint64_t period = 65'521;

  synthetic_bytes(std::uint64_t size, std::uint64_t seed) noexcept;

  std::uint64_t size() const noexcept { return size_; }
  /// Writes the bytes from `offset` on. `offset + out.size()` must not exceed size(). Cost: a copy.
  void copy(std::uint64_t offset, bytes_span out) const noexcept;
  /// CRC32C of everything, and of `length` bytes from `offset`, without making them: about 1 us.
  std::uint32_t crc32c() const noexcept { return crc32c(0, size_); }
  std::uint32_t crc32c(std::uint64_t offset, std::uint64_t length) const noexcept;

 private:
  std::uint64_t size_;
  std::uint64_t shift_;  ///< where in the period the body begins
};

/// The objects of a bucket in UTF-8 byte order of their names, as memory_store lists them. A source
/// that computes its names lets it list a hundred million of them without holding one.
///
/// Threads: const members from any thread.
class name_source {
 public:
  /// Sees one object and says whether it wants the next one. The row is valid during the call.
  using visitor = unique_function<bool(const object_row&)>;

  name_source() = default;
  name_source(const name_source&) = delete;
  name_source& operator=(const name_source&) = delete;
  virtual ~name_source() = default;

  /// Visits the objects whose names are >= `from`, in strictly ascending order, until `visit`
  /// returns false or none is left. A computed source finds the rank of `from` and counts on from
  /// there. Cost: O(log n), then O(1) a row; a listing calls it once per page, and once more for
  /// each prefix that it folds.
  virtual void scan(std::string_view from, visitor& visit) const = 0;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/synthetic_bytes.ipp>
#endif
