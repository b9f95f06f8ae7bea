#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/detail/collecting_sink.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE void collecting_sink::reset(std::size_t limit, excess beyond) noexcept {
  used_ = 0;
  limit_ = limit;
  beyond_ = beyond;
}

DATAFLUX_INLINE void collecting_sink::release_if_larger(std::size_t bytes) noexcept {
  if (memory_.capacity() <= bytes) return;
  memory_ = buffer();
  used_ = 0;
}

/// Memory for as much is asked for at once; twice as much as has come where more is to come.
inline constexpr std::size_t collected_at_once = std::size_t{8} << 20U;

DATAFLUX_INLINE void collecting_sink::grow(std::size_t capacity) {
  buffer larger = pool_.acquire(capacity);
  if (used_ > 0) std::memcpy(larger.data(), memory_.data(), used_);
  memory_ = std::move(larger);
}

DATAFLUX_INLINE result<void> collecting_sink::expect(std::uint64_t length) {
  if (length == byte_range::to_end) return {};
  if (length > limit_ - used_ && beyond_ == excess::refuse) {
    return error(errc::out_of_range, "a reply of " + std::to_string(length) +
                                         " bytes is longer than the limit of " +
                                         std::to_string(limit_));
  }
  const auto wanted =
      used_ + static_cast<std::size_t>(std::min<std::uint64_t>(length, limit_ - used_));
  // What is announced is not memory yet: beyond this it grows by what has come.
  if (wanted > memory_.capacity() && wanted <= used_ + collected_at_once) grow(wanted);
  return {};
}

DATAFLUX_INLINE bytes_span collecting_sink::prepare(std::size_t wanted) {
  if (!memory_) grow(std::min(limit_, std::max<std::size_t>(wanted, std::size_t{64} << 10U)));
  if (used_ == memory_.capacity() && used_ < limit_) grow(std::min(limit_, used_ * 2));
  const std::size_t end = std::min(limit_, memory_.capacity());
  if (used_ < end) return memory_.span().subspan(used_, std::min(wanted, end - used_));
  return {};
}

DATAFLUX_INLINE result<void> collecting_sink::commit(std::size_t count) {
  used_ += count;
  return {};
}

DATAFLUX_INLINE result<void> collecting_sink::rewind(std::uint64_t offset) {
  used_ = static_cast<std::size_t>(std::min<std::uint64_t>(offset, used_));
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
