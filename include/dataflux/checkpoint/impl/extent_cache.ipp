#pragma once

#include <dataflux/checkpoint/detail/extent_cache.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE extent_cache::pieces::iterator extent_cache::holding(std::uint64_t offset) {
  auto next = pieces_.upper_bound(offset);
  if (next == pieces_.begin()) return pieces_.end();
  const auto found = std::prev(next);
  return offset < found->first + found->second.memory.size() ? found : pieces_.end();
}

DATAFLUX_INLINE bool extent_cache::use(entry& e) noexcept {
  e.used = ++uses_;
  return !std::exchange(e.read, true);
}

DATAFLUX_INLINE bool extent_cache::copy(std::uint64_t offset, bytes_span into, bool& first_use) {
  std::vector<extent> parts;
  {
    std::scoped_lock lock(mutex_);
    const std::uint64_t end = offset + into.size();
    for (std::uint64_t at = offset; at < end;) {
      const auto found = holding(at);
      if (found == pieces_.end()) return false;
      at = found->first + found->second.memory.size();
      parts.push_back({found->first, found->second.memory});
    }
    for (const extent& part : parts) {
      first_use = use(pieces_.find(part.begin)->second) || first_use;
    }
  }
  // The memory of a piece stays until the last copy of its reference is gone.
  std::size_t done = 0;
  for (const extent& part : parts) {
    const auto skip = static_cast<std::size_t>(offset + done - part.begin);
    const std::size_t count = std::min(into.size() - done, part.memory.size() - skip);
    std::memcpy(into.data() + done, part.memory.data() + skip, count);
    done += count;
  }
  return true;
}

DATAFLUX_INLINE std::optional<extent_cache::extent> extent_cache::at(std::uint64_t offset) {
  std::scoped_lock lock(mutex_);
  const auto found = holding(offset);
  if (found == pieces_.end()) return std::nullopt;
  use(found->second);
  return extent{found->first, found->second.memory};
}

DATAFLUX_INLINE std::uint64_t extent_cache::end_before(std::uint64_t offset) const {
  std::scoped_lock lock(mutex_);
  const auto next = pieces_.lower_bound(offset);
  if (next == pieces_.begin()) return 0;
  const auto before = std::prev(next);
  return before->first + before->second.memory.size();
}

DATAFLUX_INLINE std::uint64_t extent_cache::begin_after(std::uint64_t offset) const {
  std::scoped_lock lock(mutex_);
  const auto next = pieces_.upper_bound(offset);
  return next == pieces_.end() ? nowhere : next->first;
}

DATAFLUX_INLINE void extent_cache::put(const extent& piece, std::uint64_t weight, bool read) {
  std::scoped_lock lock(mutex_);
  entry& place = pieces_[piece.begin];
  weight_ = weight_ - place.weight + weight;
  place = {piece.memory, weight, ++uses_, read};
}

DATAFLUX_INLINE extent_cache::pieces::iterator extent_cache::oldest(bool read) {
  auto found = pieces_.end();
  for (auto p = pieces_.begin(); p != pieces_.end(); ++p) {
    if (p->second.read != read) continue;
    if (found == pieces_.end() || p->second.used < found->second.used) found = p;
  }
  return found;
}

DATAFLUX_INLINE bool extent_cache::shrink(std::uint64_t limit, bool unread_too) {
  pieces dropped;  // goes back to its pool outside the lock
  std::scoped_lock lock(mutex_);
  while (weight_ > limit) {
    auto last = oldest(true);
    if (last == pieces_.end() && unread_too) last = oldest(false);
    if (last == pieces_.end()) return false;
    weight_ -= last->second.weight;
    dropped.insert(pieces_.extract(last));
  }
  return true;
}

DATAFLUX_INLINE std::uint64_t extent_cache::weight() const {
  std::scoped_lock lock(mutex_);
  return weight_;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
