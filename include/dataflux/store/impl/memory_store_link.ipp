#pragma once

#include <dataflux/detail/seconds.hpp>
#include <dataflux/store/detail/shared_link.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// timer_queue orders integers that it calls time: here 1/256 bytes, which last for 36 PB a link.
inline constexpr double position_units = 256;
inline time_point position_key(double position) noexcept {
  return time_point(duration(std::llround(position * position_units)));
}
inline double key_position(time_point key) noexcept {
  return static_cast<double>(key.time_since_epoch().count()) / position_units;
}

DATAFLUX_INLINE shared_link::shared_link(scheduler& clock, double per_transfer,
                                         double total) noexcept
    : clock_(clock), per_transfer_(per_transfer), total_(total), updated_(clock.now()) {}

DATAFLUX_INLINE double shared_link::rate() const noexcept {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  const double own = per_transfer_ > 0 ? per_transfer_ : unlimited;
  return total_ > 0 && ends_.size() > 0 ? std::min(own, total_ / weights_) : own;
}

DATAFLUX_INLINE void shared_link::advance() noexcept {
  const time_point now = clock_.now();
  if (ends_.size() > 0) {
    position_ += to_seconds(now - updated_) * rate();
  } else if (!firing_) {
    // Nobody counts from the old ones: begin with full precision again.
    position_ = 0;
    weights_ = 0;
  }
  updated_ = now;
}

DATAFLUX_INLINE timer_id shared_link::start(std::uint64_t bytes, task then, double weight) {
  if (per_transfer_ <= 0 && total_ <= 0) {
    clock_.post(std::move(then));
    return timer_id::none;
  }
  advance();
  const double end = position_ + static_cast<double>(bytes) / weight;
  const timer_id id = ends_.add(position_key(end), [part = share(weights_, weight),
                                                    then = std::move(then)]() mutable { then(); });
  arm();
  return id;
}

DATAFLUX_INLINE bool shared_link::cancel(timer_id id) {
  if (id == timer_id::none) return false;
  advance();
  if (!ends_.cancel(id)) return false;
  arm();
  return true;
}

DATAFLUX_INLINE void shared_link::arm() {
  if (firing_) return;
  time_point when = never;
  if (ends_.size() > 0) {
    const double left = std::max(0.0, key_position(ends_.next()) - position_);
    const double nanoseconds = std::min(std::ceil(left / rate() * 1e9), 1e18);
    when = deadline_after(updated_, std::chrono::nanoseconds(std::llround(nanoseconds)));
  }
  if (when == armed_for_) return;
  clock_.cancel(std::exchange(timer_, timer_id::none));
  armed_for_ = when;
  if (when != never) timer_ = clock_.at(when, [this] { fire(); });
}

DATAFLUX_INLINE void shared_link::fire() {
  timer_ = timer_id::none;
  armed_for_ = never;
  advance();
  // The timer was set for the first end: rounding must not leave it a fraction of a byte short.
  if (ends_.size() > 0) position_ = std::max(position_, key_position(ends_.next()));
  firing_ = true;
  const time_point reached = position_key(position_);
  while (task then = ends_.take_due(reached)) then();
  firing_ = false;
  arm();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
