#pragma once

#include <dataflux/transfer/detail/scatter_sink.hpp>

#include <algorithm>
#include <cstring>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// For bytes that nobody wants.
inline constexpr std::size_t most_unwanted_at_once = 64U << 10U;

DATAFLUX_INLINE result<void> scatter_sink::expect(std::uint64_t length) {
  static_cast<void>(length);  // less when the object ends early, never more than was asked for
  return {};
}

DATAFLUX_INLINE bytes_span scatter_sink::prepare(std::size_t wanted) {
  std::uint64_t gap = wanted;
  for (std::size_t i = first_; i < landings_.size(); ++i) {
    const landing& l = landings_[i];
    if (l.begin() > position_) {
      gap = std::min(gap, l.begin() - position_);
      break;
    }
    if (l.end() <= position_) continue;
    const bytes_span rest = l.to.subspan(static_cast<std::size_t>(position_ - l.begin()));
    return borrowed_ = rest.first(std::min(wanted, rest.size()));
  }
  if (unwanted_.empty()) unwanted_.resize(most_unwanted_at_once);
  const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(gap, unwanted_.size()));
  return borrowed_ = bytes_span(unwanted_).first(some);
}

DATAFLUX_INLINE result<void> scatter_sink::commit(std::size_t count) {
  const std::uint64_t end = position_ + count;
  for (std::size_t i = first_; i < landings_.size() && landings_[i].begin() < end; ++i) {
    landing& l = landings_[i];
    const std::uint64_t from = std::max(position_, l.begin());
    const std::uint64_t to = std::min(end, l.end());
    if (from >= to) continue;
    const auto some = static_cast<std::size_t>(to - from);
    std::byte* const target = l.to.data() + (from - l.begin());
    const std::byte* const source = borrowed_.data() + (from - position_);
    if (target != source) std::memcpy(target, source, some);
    l.got.update({target, some});
  }
  position_ = end;
  while (first_ < landings_.size() && landings_[first_].end() <= position_) ++first_;
  return {};
}

DATAFLUX_INLINE result<void> scatter_sink::rewind(std::uint64_t offset) {
  if (offset == position_) return {};
  if (offset != 0) return error(errc::internal, "scattered bytes begin anew from the start only");
  for (landing& l : landings_) l.got = {};
  first_ = 0;
  position_ = 0;
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
