#pragma once

#include <dataflux/service/detail/call.hpp>
#include <dataflux/service/detail/pace_line.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

DATAFLUX_INLINE pace_line::pace_line(http::pacing::lane& lane, std::string_view bucket,
                                     http::operation_class kind)
    : lane_(lane), bucket_(bucket), kind_(kind) {}
DATAFLUX_INLINE pace_line::~pace_line() = default;

DATAFLUX_INLINE pacing_snapshot pace_line::look(time_point now) const {
  const http::pace_snapshot lane = lane_.snapshot(now);
  return {.bucket = bucket_,
          .kind = http::to_string(kind_),
          .limited = lane.limited,
          .rate = lane.rate,
          .concurrency = lane.concurrency,
          .in_flight = static_cast<std::size_t>(std::max(lane.in_flight, 0)),
          .waiting = size_.load(std::memory_order_relaxed),
          .started = lane.started,
          .rejected = lane.rejected};
}

DATAFLUX_INLINE void pace_line::enter(call& c, time_point now) {
  time_point turn = now;
  if (size_.load(std::memory_order_acquire) == 0) {
    turn = lane_.admit(now);
    if (turn <= now) return c.send(now);
  }
  std::scoped_lock lock(mutex_);
  waiting_.push_back(ref<call>::share(&c));
  c.phase_ = call::phase::turn;
  size_.store(waiting_.size(), std::memory_order_release);
  if (!armed_) arm(*c.executor, turn);
}

DATAFLUX_INLINE bool pace_line::leave(call& c) noexcept {
  ref<call> removed;
  std::scoped_lock lock(mutex_);
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const ref<call>& w) { return w.get() == &c; });
  if (found == waiting_.end()) return false;
  removed = std::move(*found);
  waiting_.erase(found);
  size_.store(waiting_.size(), std::memory_order_release);
  return true;
}

DATAFLUX_INLINE void pace_line::arm(scheduler& here, time_point when) {
  // The line lives in the core, which the call that waits keeps alive; so does the timer.
  here.at(when, [this, core = waiting_.front()->core_, &here] { serve(here); });
  armed_ = true;
}

/// Where a turn finds no memory to be told by.
inline constexpr duration retry_of_post = std::chrono::milliseconds(10);

DATAFLUX_INLINE void pace_line::serve(scheduler& here) {
  std::scoped_lock lock(mutex_);
  armed_ = false;
  while (!waiting_.empty()) {
    const time_point now = here.now();
    const time_point turn = lane_.admit(now);
    if (turn > now) return arm(here, turn);
    const bool posted = detail::within_memory([&] {
      waiting_.front()->executor->post(
          [next = waiting_.front(), now] { next->within_memory([&] { next->on_turn(now); }); });
    });
    if (!posted) {  // the timer that has brought us here has left room for another one
      lane_.report(now, now, http::pace_outcome::not_rejected);
      return arm(here, now + retry_of_post);
    }
    waiting_.pop_front();
    size_.store(waiting_.size(), std::memory_order_release);
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
