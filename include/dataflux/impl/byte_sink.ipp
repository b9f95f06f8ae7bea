#pragma once

#include <dataflux/bytes.hpp>

#include <algorithm>
#include <string>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE result<void> span_sink::expect(std::uint64_t length) {
  const std::size_t left = memory_.size() - used_;
  if (length == byte_range::to_end || length <= left) return {};
  return error{errc::out_of_range, std::to_string(length) +
                                       " bytes are to come, the memory holds " +
                                       std::to_string(left) + " more"};
}

DATAFLUX_INLINE bytes_span span_sink::prepare(std::size_t wanted) {
  return memory_.subspan(used_, std::min(wanted, memory_.size() - used_));
}

DATAFLUX_INLINE result<void> span_sink::commit(std::size_t count) {
  if (count > memory_.size() - used_) {
    return error{errc::internal, "more bytes committed than prepared"};
  }
  used_ += count;
  return {};
}

DATAFLUX_INLINE result<void> span_sink::rewind(std::uint64_t offset) {
  if (offset > used_) return error{errc::internal, "rewind to an offset that was never reached"};
  used_ = static_cast<std::size_t>(offset);
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI
