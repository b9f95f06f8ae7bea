#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/crc32c.hpp>

#include <cstdint>
#include <map>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// Which bytes of an object have been received, and their checksums: ranges that come in any order
/// until they are the whole, whose checksum then follows from theirs without the bytes.
///
/// A byte counts once. Of a range that overlaps what is known, only the gaps() are added, each with
/// a checksum of its own, which the caller makes from the bytes: what is read again is rare.
/// Pure; one executor at a time. Cost: O(log n) in the ranges that do not touch, 48 bytes for each.
class checked_ranges {
 public:
  /// The parts of `range` that are not known yet, in order.
  std::vector<byte_extent> gaps(byte_extent range) const;
  /// Received: none of `range`, which is not empty, is known yet.
  void add(byte_extent range, std::uint32_t crc);

  std::uint64_t bytes() const noexcept { return bytes_; }
  /// The first `size` bytes are known, so that crc() is theirs, if there are no others.
  bool whole(std::uint64_t size) const noexcept;
  /// Of the known range that begins the object; 0 without one.
  std::uint32_t crc() const noexcept;

 private:
  using ranges = std::map<std::uint64_t, codec::crc32c_accumulator>;
  static std::uint64_t end_of(ranges::const_iterator r) noexcept {
    return r->first + r->second.length();
  }

  ranges known_{};  ///< by their begin; none touches another
  std::uint64_t bytes_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/checked_ranges.ipp>
#endif
