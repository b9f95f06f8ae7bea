#pragma once

#include <dataflux/checkpoint/detail/read_ahead.hpp>

#include <algorithm>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE std::uint64_t read_ahead::piece() const noexcept {
  return std::max<std::uint64_t>({1, options_.first, window_ / lanes_});
}

DATAFLUX_INLINE void read_ahead::aim(std::uint64_t lanes, std::uint64_t ahead) noexcept {
  lanes_ = std::max<std::uint64_t>(1, lanes);
  rewarded_ = ahead;
}

DATAFLUX_INLINE byte_extent read_ahead::on_read(byte_extent read, std::uint64_t size) noexcept {
  const std::uint64_t end = read.offset + read.length;
  const bool in_sequence = read_before_ && read.offset >= expected_ &&
                           read.offset <= std::max(expected_ + options_.first, asked_);
  read_before_ = true;
  expected_ = end;
  if (!in_sequence) {
    window_ = 0;
    asked_ = end;
    return {};
  }
  asked_ = std::max(asked_, end);
  const bool begins = window_ == 0;
  if (!begins && window_ - std::min(window_, asked_ - end) < piece()) return {};
  const std::uint64_t at_first = std::max(options_.first, std::min(read.length, options_.most / 8));
  const std::uint64_t most = std::min(options_.most, std::max(rewarded_, at_first));
  window_ = std::min(most, begins ? at_first : 2 * window_);
  const std::uint64_t from = asked_;
  asked_ = std::max(asked_, std::min(size, end + window_));
  return {from, asked_ - from};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
