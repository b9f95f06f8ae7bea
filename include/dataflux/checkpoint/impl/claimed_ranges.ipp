#pragma once

#include <dataflux/checkpoint/detail/claimed_ranges.hpp>

#include <iterator>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE std::optional<byte_extent> claimed_ranges::overlap(byte_extent range) const {
  const std::uint64_t end = range.offset + range.length;
  auto at = ranges_.upper_bound(range.offset);
  if (at != ranges_.begin() && std::prev(at)->second > range.offset) --at;
  if (at == ranges_.end() || at->first >= end) return {};
  return byte_extent{at->first, at->second - at->first};
}

DATAFLUX_INLINE void claimed_ranges::add(byte_extent range) {
  std::uint64_t end = range.offset + range.length;
  const auto next = ranges_.find(end);
  const auto after = ranges_.upper_bound(range.offset);
  const bool joins = after != ranges_.begin() && std::prev(after)->second == range.offset;
  if (joins) {
    std::prev(after)->second = next == ranges_.end() ? end : next->second;
  } else {
    ranges_.emplace(range.offset, next == ranges_.end() ? end : next->second);
  }
  if (next != ranges_.end()) ranges_.erase(next);
  bytes_ += range.length;
}

DATAFLUX_INLINE void claimed_ranges::remove(byte_extent range) {
  const std::uint64_t end = range.offset + range.length;
  const auto at = std::prev(ranges_.upper_bound(range.offset));
  if (at->second > end) ranges_.emplace(end, at->second);
  at->second = range.offset;
  if (at->first == range.offset) ranges_.erase(at);
  bytes_ -= range.length;
}

DATAFLUX_INLINE std::optional<byte_extent> claimed_ranges::first_gap(std::uint64_t size) const {
  std::uint64_t begin = 0;
  auto at = ranges_.begin();
  if (at != ranges_.end() && at->first == 0) begin = (at++)->second;
  const std::uint64_t end = at == ranges_.end() ? size : at->first;
  if (begin >= end) return {};
  return byte_extent{begin, end - begin};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
