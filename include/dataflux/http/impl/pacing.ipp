#pragma once

#include <dataflux/detail/seconds.hpp>
#include <dataflux/http/detail/pacing.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

namespace pace {

inline constexpr duration tenth = std::chrono::milliseconds(100);
inline constexpr duration millisecond = std::chrono::milliseconds(1);
inline constexpr duration shortest_between_cuts = std::chrono::milliseconds(100);
/// Starts that were due while nobody asked are made up for at once, up to this much: timers wake
/// late, but a burst would be rejected.
inline constexpr duration slack = std::chrono::milliseconds(10);
/// How long to wait when too many are in flight: nothing tells the asker when one ends.
inline constexpr duration in_flight_poll = std::chrono::milliseconds(10);
inline constexpr double recover_seconds = 0.5;
inline constexpr double recover_to = 0.98;
inline constexpr double probe_per_second = 0.02;
/// Each probe costs some rejections: at low rates wait longer, to keep their share small.
inline constexpr double requests_before_doubling = 30;
inline constexpr double doubling_after_at_least = 3.0;
inline constexpr double doubling_after_at_most = 6.0;
/// Before a limit has been met from below, there is no level to return to: probe for it sooner.
inline constexpr double doubling_after_first = 0.25;
inline constexpr double unlimited_after = 10.0;
inline constexpr double cut_to = 0.9;
inline constexpr double cut_at_most_to = 0.5;
inline constexpr double lowest_rate = 0.5;
inline constexpr double lowest_cap = 0.01;
/// A shorter activity says too little about a rate. Longer would set the first rate too low when
/// the rejections come at once, and a job of some seconds would spend them on the way back.
inline constexpr double shortest_activity = 0.2;
/// Starts since the first that was rejected: fewer say little about a rate.
inline constexpr std::uint32_t telling_starts = 16;
inline constexpr duration calibration = std::chrono::seconds(1);
/// What was under way at the first rejection is rejected in so many times what that took.
inline constexpr int rejections_take = 2;
inline constexpr duration longest_pause = std::chrono::milliseconds(100);

inline std::int64_t slot_of(time_point t, duration each) noexcept {
  return t.time_since_epoch() / each;
}
template <class Tallies>
auto& tally_of(Tallies& all, std::int64_t slot) noexcept {
  return all[static_cast<std::size_t>(slot) % all.size()];
}

}  // namespace pace

DATAFLUX_INLINE std::string_view to_string(operation_class c) noexcept {
  switch (c) {
    case operation_class::read:
      return "read";
    case operation_class::write:
      return "write";
    case operation_class::metadata:
      return "metadata";
  }
  return "read";
}

DATAFLUX_INLINE time_point pace_controller::admit(time_point now) noexcept {
  if (limited_) grow(now);
  if (limited_ && in_flight_ + 1 > concurrency_) return now + pace::in_flight_poll;
  if (const double rate = allowed(); rate > 0) {
    if (next_start_ > now) return next_start_;
    next_start_ = std::max(next_start_, now - pace::slack) + from_seconds(1.0 / rate);
  }
  const auto count = [now](auto& tallies, duration each) {
    const std::int64_t slot = pace::slot_of(now, each);
    tally& t = pace::tally_of(tallies, slot);
    if (t.slot != slot) t = {slot, 0, 0};
    ++t.started;
  };
  count(tenths_, pace::tenth);
  count(milliseconds_, pace::millisecond);
  ++since_refused_.started;
  if (now - last_start_ > std::chrono::seconds(1)) busy_since_ = now;
  last_start_ = now;
  ++started_;
  ++in_flight_;
  return now;
}

DATAFLUX_INLINE void pace_controller::limit(double rate, time_point now) noexcept {
  cap_ = rate > 0 ? std::max(rate, pace::lowest_cap) : 0;
  // Who waits for a turn at the old rate has one at the new rate, but for a pause.
  if (limited_) return;
  next_start_ = std::min(next_start_, cap_ > 0 ? now + from_seconds(1.0 / cap_) : now);
}

DATAFLUX_INLINE double pace_controller::allowed() const noexcept {
  if (!limited_) return cap_;
  return cap_ > 0 ? std::min(cap_, rate_) : rate_;
}

DATAFLUX_INLINE void pace_controller::report(time_point started, time_point now,
                                             pace_outcome outcome) noexcept {
  --in_flight_;
  if (outcome != pace_outcome::rejected) return;
  ++rejected_;
  const auto count = [started](auto& tallies, duration each) {
    const std::int64_t slot = pace::slot_of(started, each);
    tally& t = pace::tally_of(tallies, slot);
    if (t.slot == slot) ++t.rejected;
  };
  count(tenths_, pace::tenth);
  count(milliseconds_, pace::millisecond);
  ++since_refused_.rejected;
  if (limited_) grow(now);
  cut(started, now);
}

/// What was started in the last second and not rejected so far.
DATAFLUX_INLINE double pace_controller::accepted_per_second(time_point now) const noexcept {
  const std::int64_t newest = pace::slot_of(now, pace::tenth);
  double accepted = 0;
  for (const tally& t : tenths_) {
    if (newest - t.slot < static_cast<std::int64_t>(tenths_.size())) accepted += t.accepted();
  }
  return accepted / std::clamp(to_seconds(now - busy_since_), pace::shortest_activity, 1.0);
}

/// Counts from the start of that request on, the first one that was rejected.
DATAFLUX_INLINE void pace_controller::calibrate_from(time_point started) noexcept {
  const std::int64_t from = pace::slot_of(started, pace::millisecond);
  since_refused_ = {};
  refused_from_ = never;
  for (const tally& t : milliseconds_) {
    if (t.slot < from) continue;
    if (t.slot == from) refused_from_ = started;
    since_refused_.started += t.started;
    since_refused_.rejected += t.rejected;
  }
}

/// One is taken for accepted in any case, or the way back would take seconds.
DATAFLUX_INLINE double pace_controller::accepted_since_refused(time_point now) const noexcept {
  const duration paused = std::clamp(now, first_cut_, paused_until_) - first_cut_;
  const duration passed = std::max(now - refused_from_ - paused, pace::millisecond);
  return std::max(since_refused_.accepted(), 1.0) / to_seconds(passed);
}

DATAFLUX_INLINE void pace_controller::cut(time_point started, time_point now) noexcept {
  last_rejection_ = now;
  // A request started before the last cut tells nothing about the rate since, but more about what
  // was accepted before: the cut is made anew.
  const bool first = !std::exchange(limited_, true);
  const bool again = !first && started < last_cut_;
  if (first) {
    found_ = false;
    before_ = std::numeric_limits<double>::infinity();
    const duration took = std::max(pace::rejections_take * (now - started), duration{0});
    first_cut_ = now;
    paused_until_ = now + std::min(took, pace::longest_pause);
    calibrate_from(started);
  } else if (!found_ && started < refused_from_) {
    calibrate_from(started);
  }
  const bool calibrating = refused_from_ != never && now - refused_from_ < pace::calibration &&
                           since_refused_.started >= pace::telling_starts;
  double accepted = accepted_per_second(now);
  const double since_refused = calibrating ? accepted_since_refused(now) : accepted;
  const bool collapsed = since_refused < pace::cut_at_most_to * accepted;
  if (collapsed) accepted = since_refused;
  if (!first && !again) {
    const bool far_off = collapsed && accepted < pace::cut_at_most_to * rate_;
    if (now - last_cut_ < pace::shortest_between_cuts && !far_off) return;
    found_ = true;
    before_ = rate_;
  }
  double rate = pace::cut_to * accepted;
  if (found_) {
    const double least = collapsed ? pace::lowest_rate : pace::cut_at_most_to * before_;
    rate = std::clamp(rate, std::min(least, pace::cut_to * before_), pace::cut_to * before_);
  }
  if (again) rate = std::min(rate, rate_);
  rate_ = std::max(rate, pace::lowest_rate);
  level_ = rate_ / pace::cut_to;
  concurrency_ = std::max({1.0, rate_, pace::cut_to * in_flight_});
  if (again) return;
  next_start_ = std::max(now, paused_until_);
  grown_ = last_cut_ = now;
}

DATAFLUX_INLINE void pace_controller::grow(time_point now) noexcept {
  if (now <= grown_) return;
  const double quiet = to_seconds(now - last_rejection_);
  if (quiet >= pace::unlimited_after) {
    limited_ = false;
    return;
  }
  const double dt = to_seconds(now - grown_);
  grown_ = now;
  double rate = rate_;
  const double hold = found_
                          ? std::clamp(pace::requests_before_doubling / level_,
                                       pace::doubling_after_at_least, pace::doubling_after_at_most)
                          : pace::doubling_after_first;
  if (found_ && rate < pace::recover_to * level_) {
    const double slope = (pace::recover_to - pace::cut_to) * level_ / pace::recover_seconds;
    rate = std::min(rate + slope * dt, pace::recover_to * level_);
  } else if (quiet < hold) {
    rate += pace::probe_per_second * level_ * dt;
  }
  if (quiet > hold) rate *= std::exp2(std::min(dt, quiet - hold));
  concurrency_ *= rate / rate_;
  rate_ = rate;
}

DATAFLUX_INLINE pace_snapshot pace_controller::snapshot(time_point now) const noexcept {
  pace_controller then = *this;
  if (limited_) then.grow(now);
  return {then.limited_, then.allowed(), then.limited_ ? then.concurrency_ : 0,
          in_flight_,    started_,       rejected_};
}

DATAFLUX_INLINE time_point pacing::lane::admit(time_point now) noexcept {
  const std::lock_guard lock{mutex_};
  return controller_.admit(now);
}
DATAFLUX_INLINE void pacing::lane::report(time_point started, time_point now,
                                          pace_outcome outcome) noexcept {
  const std::lock_guard lock{mutex_};
  controller_.report(started, now, outcome);
}
DATAFLUX_INLINE void pacing::lane::limit(double rate, time_point now) noexcept {
  const std::lock_guard lock{mutex_};
  controller_.limit(rate, now);
}
DATAFLUX_INLINE pace_snapshot pacing::lane::snapshot(time_point now) const noexcept {
  const std::lock_guard lock{mutex_};
  return controller_.snapshot(now);
}

DATAFLUX_INLINE pacing::lane& pacing::of(std::string_view bucket, operation_class c) {
  const std::lock_guard lock{mutex_};
  auto it = buckets_.find(bucket);
  if (it == buckets_.end()) {
    it = buckets_
             .emplace(std::piecewise_construct, std::forward_as_tuple(bucket),
                      std::forward_as_tuple())
             .first;
    for (std::size_t i = 0; i < limits_.size(); ++i) {
      if (limits_[i] > 0) it->second.classes[i].limit(limits_[i], {});
    }
  }
  return it->second.classes[static_cast<std::size_t>(c)];
}

DATAFLUX_INLINE void pacing::limit_new(operation_class c, double rate) {
  const std::lock_guard lock{mutex_};
  limits_[static_cast<std::size_t>(c)] = rate;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
