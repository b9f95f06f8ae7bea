#pragma once

#include <dataflux/bytes.hpp>

#include <cstdint>
#include <map>
#include <optional>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: which bytes of an object somebody has taken on to write, each of them once.
/// Pure; under its owner's lock. Cost: O(log n) in the ranges that do not touch.
class claimed_ranges {
 public:
  /// What is claimed of `range`'s surroundings, when a byte of `range` is: a range that touches no
  /// other.
  std::optional<byte_extent> overlap(byte_extent range) const;
  /// None of `range`, which is not empty, is claimed yet.
  void add(byte_extent range);
  /// All of `range`, which is not empty, was claimed and is not any more.
  void remove(byte_extent range);
  /// The first bytes of `size` that nobody has claimed.
  std::optional<byte_extent> first_gap(std::uint64_t size) const;
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_{};  ///< begin to end; none touches another
  std::uint64_t bytes_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/claimed_ranges.ipp>
#endif
