#pragma once

#include <dataflux/bytes.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE error detail::range_error(const byte_range& range) {
  const std::string limit = " is beyond 9223372036854775807, the last that a request can name";
  std::string what = "length: 0 bytes are no range; at least 1 is needed";
  if (range.length() != 0) {
    const std::string offset = std::to_string(range.offset());
    const bool far = range.offset() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    what = far ? "offset: byte " + offset + limit
               : "length: the end of " + std::to_string(range.length()) + " bytes from " + offset +
                     " on" + limit;
  }
  return {errc::invalid_argument, what};
}

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
