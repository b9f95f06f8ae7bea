#pragma once

#include <dataflux/checkpoint/detail/checked_ranges.hpp>

#include <algorithm>
#include <iterator>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE std::vector<byte_extent> checked_ranges::gaps(byte_extent range) const {
  std::vector<byte_extent> found;
  const std::uint64_t end = range.offset + range.length;
  std::uint64_t at = range.offset;
  auto next = known_.upper_bound(at);
  if (next != known_.begin()) at = std::max(at, end_of(std::prev(next)));
  for (; at < end; ++next) {
    const std::uint64_t until = next == known_.end() ? end : std::min(end, next->first);
    if (until > at) found.push_back({at, until - at});
    if (next == known_.end()) break;
    at = end_of(next);
  }
  return found;
}

DATAFLUX_INLINE void checked_ranges::add(byte_extent range, std::uint32_t crc) {
  codec::crc32c_accumulator joined(crc, range.length);
  const auto next = known_.upper_bound(range.offset);
  if (next != known_.end() && next->first == range.offset + range.length) {
    joined.append(next->second);
    known_.erase(next);
  }
  bytes_ += range.length;
  const auto after = known_.upper_bound(range.offset);
  if (after != known_.begin()) {
    const auto before = std::prev(after);
    if (end_of(before) == range.offset) {
      before->second.append(joined);
      return;
    }
  }
  known_.emplace_hint(after, range.offset, joined);
}

DATAFLUX_INLINE bool checked_ranges::whole(std::uint64_t size) const noexcept {
  return bytes_ == size && (size == 0 || (known_.size() == 1 && known_.begin()->first == 0));
}

DATAFLUX_INLINE std::uint32_t checked_ranges::crc() const noexcept {
  return known_.empty() || known_.begin()->first != 0 ? 0 : known_.begin()->second.crc();
}

}  // namespace dataflux::inline DATAFLUX_ABI
