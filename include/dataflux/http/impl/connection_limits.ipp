#pragma once

#include <dataflux/http/detail/io_thread.hpp>

#include <algorithm>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::http::detail {

/// Of a busy one.
DATAFLUX_INLINE time_point connection::window_end() const noexcept {
  const bool waiting = !sending_ && report_.first_byte == never;
  return waiting ? never : window_.end(current_->limits.window);
}

DATAFLUX_INLINE time_point connection::next_limit() const noexcept {
  if (state_ == state::idle) return deadline_after(last_activity_, keep_for_);
  if (state_ != state::busy) return never;
  const exchange_limits& limits = current_->limits;
  const bool waiting = !sending_ && report_.first_byte == never;
  const duration allowed = waiting ? limits.first_byte : limits.stall;
  const time_point phase_end =
      allowed == duration::zero()
          ? never
          : deadline_after(waiting ? request_sent_ : last_activity_, allowed);
  return std::min({phase_end, window_end(), limits.deadline});
}

/// Timers are lazy: one that fires too early checks again, so that a steady stream of exchanges
/// hardly ever touches the queue.
DATAFLUX_INLINE void connection::arm() {
  const time_point limit = next_limit();
  if (limit >= timer_at_) return;
  if (timer_ != timer_id::none) owner_.loop_.cancel(timer_);
  timer_at_ = limit;
  timer_ = owner_.loop_.at(limit, [this] { on_timer(); });
}

DATAFLUX_INLINE void connection::on_timer() {
  timer_ = timer_id::none;
  timer_at_ = never;
  if (next_limit() > now()) return arm();
  if (state_ == state::idle) return close();
  if (current_->limits.deadline <= now()) {
    return fail(transport_failure::deadline, "the deadline passed " + phase_text());
  }
  if (window_end() <= now()) {
    const std::uint64_t came = window_.since(moved());
    const std::uint64_t least = current_->limits.least_bytes;
    if (came < least) {
      return fail(transport_failure::stalled,
                  "only " + std::to_string(came) + " bytes moved within the time that is for " +
                      std::to_string(least) + " at least, " + phase_text());
    }
    window_.open(now(), moved());
    return arm();
  }
  const bool waiting = !sending_ && report_.first_byte == never;
  fail(waiting ? transport_failure::timeout_first_byte : transport_failure::stalled,
       "no byte moved within the time allowed " + phase_text());
}

}  // namespace dataflux::inline DATAFLUX_ABI::http::detail
