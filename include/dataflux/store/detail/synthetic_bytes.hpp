#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/detail/config.hpp>

#include <cstdint>

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

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/synthetic_bytes.ipp>
#endif
