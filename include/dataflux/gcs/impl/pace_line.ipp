#pragma once

#include <dataflux/gcs/detail/call.hpp>
#include <dataflux/gcs/detail/pace_line.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::gcs::detail {

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
  c.phase_ = call::phase::turn;
  std::scoped_lock lock(mutex_);
  waiting_.push_back(ref<call>::share(&c));
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
  armed_ = true;
  // The line lives in the core, which the call that waits keeps alive; so does the timer.
  here.at(when, [this, core = waiting_.front()->core_, &here] { serve(here); });
}

DATAFLUX_INLINE void pace_line::serve(scheduler& here) {
  std::scoped_lock lock(mutex_);
  armed_ = false;
  while (!waiting_.empty()) {
    const time_point now = here.now();
    const time_point turn = lane_.admit(now);
    if (turn > now) return arm(here, turn);
    ref<call> next = std::move(waiting_.front());
    waiting_.pop_front();
    size_.store(waiting_.size(), std::memory_order_release);
    scheduler& strand = *next->executor;
    strand.post([next = std::move(next), now] { next->on_turn(now); });
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::gcs::detail
