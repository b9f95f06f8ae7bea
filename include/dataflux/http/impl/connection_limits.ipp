#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/detail/timeout_text.hpp>
#include <dataflux/http/detail/io_thread.hpp>

#include <algorithm>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// Of a busy one.
DATAFLUX_INLINE time_point connection::window_end() const noexcept {
  const bool waiting = !sending_ && nothing_came();
  return waiting ? never : window_.end(current_->limits.window);
}

inline time_point end_of(duration allowed, time_point from) noexcept {
  return allowed == duration::zero() ? never : deadline_after(from, allowed);
}

DATAFLUX_INLINE time_point connection::head_end() const noexcept {
  const bool waiting = !sending_ && !head_done_;
  return waiting ? end_of(current_->limits.first_byte, request_sent_) : never;
}

DATAFLUX_INLINE time_point connection::next_limit() const noexcept {
  if (state_ == state::idle) return deadline_after(last_activity_, keep_for_);
  if (state_ != state::busy) return never;
  const bool moving = sending_ || !nothing_came();
  const time_point stall = moving ? end_of(current_->limits.stall, last_activity_) : never;
  return std::min({head_end(), stall, window_end(), current_->limits.deadline});
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
  detail::within_memory([this] { timed_out(); }, [this] { fail_short(); });
}

DATAFLUX_INLINE void connection::timed_out() {
  timer_ = timer_id::none;
  timer_at_ = never;
  if (next_limit() > now()) return arm();
  if (state_ == state::idle) return close();
  if (current_->limits.deadline <= now()) {
    return fail(transport_failure::deadline, std::string{timeout_text} + " " + phase_text());
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
  if (head_end() <= now()) {
    return fail(transport_failure::timeout_first_byte,
                nothing_came()
                    ? "no byte moved within the first-byte timeout " + phase_text()
                    : "the head of the reply was not whole within the first-byte timeout");
  }
  fail(transport_failure::stalled, "no byte moved within the stall timeout " + phase_text());
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
