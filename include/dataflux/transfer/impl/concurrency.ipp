#pragma once

#include <dataflux/detail/seconds.hpp>
#include <dataflux/transfer/detail/concurrency.hpp>
#include <dataflux/transfer/impl/transfer_options.ipp>

#include <algorithm>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::concurrency {

inline constexpr int initial = 32;
/// Fewer are not tried: they would save next to nothing, and where the round trip is as good as
/// none and a CPU the limit, two in flight do nearly as much as sixteen.
inline constexpr int fewest_by_choice = 16;
inline constexpr double largest_step = 2;
inline constexpr double smallest_step = 1.25;
/// Of the limit's growth, what goodput must grow by. So a limit that is kept although a step of
/// 1.25 would bring more is at 1 / 1.05 of the best at least.
inline constexpr double gain_per_step = 0.2;
inline constexpr double loss_allowed = 0.03;
/// Below this there is no queue that fewer requests would make shorter.
inline constexpr double slower = 1.15;
/// A window with less than this share of its limit in flight was not limited by it.
inline constexpr double in_use = 0.85;
inline constexpr double cut_to = 0.8;
/// Of a step that doubles; the chance that spoils a comparison falls with the root of the number.
inline constexpr int fewest_completions = 16;
/// Squared and times the number of completions: two standard deviations of times that vary by half.
inline constexpr double telling_difference = 1;
inline constexpr duration long_window = std::chrono::seconds(1);
inline constexpr int rest_windows = 8;
inline constexpr duration shortest_rest = std::chrono::milliseconds(500);
inline constexpr duration longest_rest = std::chrono::seconds(4);
inline constexpr duration first_cut_rest = std::chrono::seconds(1);
inline constexpr double lowest_rate = 100;
/// The worth of a request beside its bytes: about those of 20 ms of a connection. It need not be
/// exact, it keeps windows of small and of large bodies comparable.
inline constexpr double worth_of_request = 1 << 20;

}  // namespace detail::concurrency

DATAFLUX_INLINE detail::concurrency_control::concurrency_control(
    concurrency_options options) noexcept
    : max_(std::max(options.max, 1)),
      limit_(std::min(detail::concurrency::initial, max_)),
      rates_(detail::concurrency::lowest_rate) {}

DATAFLUX_INLINE void detail::concurrency_control::pass_time(time_point now) noexcept {
  if (now <= window_.updated) return;
  if (window_.since != never) {
    window_.in_flight_seconds += in_flight_ * detail::to_seconds(now - window_.updated);
  }
  window_.updated = now;
}

DATAFLUX_INLINE void detail::concurrency_control::started(time_point now) noexcept {
  pass_time(now);
  ++in_flight_;
  if (window_.since == never) window_.since = now;
}

DATAFLUX_INLINE void detail::concurrency_control::dropped(time_point now) noexcept {
  pass_time(now);
  --in_flight_;
}

DATAFLUX_INLINE void detail::concurrency_control::finished(
    const detail::finished_request& request) noexcept {
  namespace tune = detail::concurrency;
  pass_time(request.finished);
  --in_flight_;
  first_bytes_.add(detail::to_seconds(request.first_byte - request.started));
  const auto bytes = static_cast<double>(request.bytes);
  if (request.bytes >= detail::concurrency::telling_body && request.finished > request.first_byte) {
    rates_.add(bytes / detail::to_seconds(request.finished - request.first_byte));
  }
  if (phase_ == phase::rest) {
    if (request.finished >= rest_until_) open_window(phase::baseline, request.finished);
    return;
  }
  if (request.started < window_.since) return;
  window_.busy_seconds += detail::to_seconds(request.finished - request.started);
  window_.work += bytes + detail::concurrency::worth_of_request;
  window_.bytes += bytes;
  ++window_.count;
  if (window_full(request.finished)) close_window(request.finished);
}

/// All slots have ended twice, and a small step would show above chance, or that takes too long, or
/// the difference is so large that it shows already.
DATAFLUX_INLINE bool detail::concurrency_control::window_full(time_point now) const noexcept {
  namespace tune = detail::concurrency;
  if (window_.count < std::max(2 * limit_, detail::concurrency::fewest_completions)) return false;
  const double excess = (downward_ ? detail::concurrency::smallest_step : step_) - 1;
  if (window_.count * excess * excess >= detail::concurrency::fewest_completions) return true;
  if (now - window_.since >= detail::concurrency::long_window) return true;
  if (phase_ != phase::trial) return false;
  const double difference = window_goodput() / base_goodput_ - ratio_needed();
  return difference * difference * window_.count > detail::concurrency::telling_difference;
}

/// Of a trial's goodput to that of the baseline, at least.
DATAFLUX_INLINE double detail::concurrency_control::ratio_needed() const noexcept {
  if (downward_) return 1 - detail::concurrency::loss_allowed;
  const double growth = static_cast<double>(limit_) / base_limit_ - 1;
  return 1 + detail::concurrency::gain_per_step * growth;
}

DATAFLUX_INLINE double detail::concurrency_control::in_flight_on_average() const noexcept {
  const double length = detail::to_seconds(window_.updated - window_.since);
  return length > 0 ? window_.in_flight_seconds / length : 0;
}

DATAFLUX_INLINE double detail::concurrency_control::window_goodput() const noexcept {
  return in_flight_on_average() * window_.work / std::max(window_.busy_seconds, 1e-9);
}

DATAFLUX_INLINE void detail::concurrency_control::open_window(phase next, time_point now) noexcept {
  phase_ = next;
  window_ = {.opened = now, .updated = now};
}

DATAFLUX_INLINE void detail::concurrency_control::close_window(time_point now) noexcept {
  namespace tune = detail::concurrency;
  last_window_ = now - window_.opened;
  if (in_flight_on_average() < detail::concurrency::in_use * limit_) {
    goodput_ = window_goodput() * window_.bytes / window_.work;
    if (phase_ == phase::trial) {
      limit_ = base_limit_;
      step_ = std::max(1 + (step_ - 1) / 2, detail::concurrency::smallest_step);
    }
    rest(detail::concurrency::shortest_rest, now);
    return;
  }
  verify(window_goodput(), window_.busy_seconds / window_.work, now);
}

/// What a full window at `limit_` means.
DATAFLUX_INLINE void detail::concurrency_control::verify(double goodput, double slowness,
                                                         time_point now) noexcept {
  namespace tune = detail::concurrency;
  learned_ = true;
  const double step = downward_ ? detail::concurrency::smallest_step : step_;
  const bool accepted = phase_ != phase::trial || goodput >= ratio_needed() * base_goodput_;
  if (fastest_limit_ == 0 || slowness * detail::concurrency::slower < fastest_)
    fastest_limit_ = limit_;
  fastest_limit_ = std::min(fastest_limit_, limit_);
  fastest_ = fastest_ > 0 ? std::min(fastest_, slowness) : slowness;
  if (accepted) {
    if (phase_ == phase::trial && !downward_) {
      step_ = std::min(1 + 2 * (step_ - 1), detail::concurrency::largest_step);
    }
    base_limit_ = limit_;
    base_goodput_ = goodput;
    base_slowness_ = slowness;
    goodput_ = goodput * window_.bytes / window_.work;
    if (!downward_ && limit_ < max_) return try_level(step_, now);
  } else {
    limit_ = base_limit_;
    if (downward_) {
      fastest_ = slowness;  // with fewer in flight requests are not faster than this nowadays
      return rest(detail::concurrency::shortest_rest, now);
    }
    if (step > detail::concurrency::smallest_step) {
      step_ = 1 + (step - 1) / 2;
      return try_level(step_, now);
    }
  }
  downward_ = limit_ > detail::concurrency::fewest_by_choice &&
              (limit_ <= fastest_limit_ || base_slowness_ > detail::concurrency::slower * fastest_);
  if (downward_) return try_level(1 / detail::concurrency::smallest_step, now);
  rest(detail::concurrency::shortest_rest, now);
}

DATAFLUX_INLINE void detail::concurrency_control::try_level(double factor,
                                                            time_point now) noexcept {
  namespace tune = detail::concurrency;
  const double level = limit_ * factor;
  limit_ = factor > 1 ? std::min(std::max(limit_ + 1, static_cast<int>(level)), max_)
                      : std::max(detail::concurrency::fewest_by_choice, static_cast<int>(level));
  open_window(phase::trial, now);
}

DATAFLUX_INLINE void detail::concurrency_control::rest(duration least, time_point now) noexcept {
  namespace tune = detail::concurrency;
  const duration wait =
      std::clamp(detail::concurrency::rest_windows * last_window_,
                 detail::concurrency::shortest_rest, detail::concurrency::longest_rest);
  rest_until_ = now + std::max(least, wait);
  downward_ = false;
  phase_ = phase::rest;
  window_.since = never;
}

DATAFLUX_INLINE void detail::concurrency_control::set_limit(int limit, time_point now) noexcept {
  pass_time(now);
  limit_ = std::clamp(limit, 1, max_);
  open_window(phase::baseline, now);
}

DATAFLUX_INLINE void detail::concurrency_control::throttled(time_point started,
                                                            time_point now) noexcept {
  namespace tune = detail::concurrency;
  if (started < last_cut_) return;
  learned_ = true;
  pass_time(now);
  limit_ = std::max(1, static_cast<int>(detail::concurrency::cut_to * limit_));
  const bool again =
      last_cut_ != time_point::min() && now - last_cut_ < 2 * detail::concurrency::longest_rest;
  cut_rest_ = again ? std::min(2 * cut_rest_, detail::concurrency::longest_rest)
                    : detail::concurrency::first_cut_rest;
  last_cut_ = now;
  step_ = detail::concurrency::smallest_step;
  rest(cut_rest_, now);
}

DATAFLUX_INLINE network_estimate detail::concurrency_control::estimate() const noexcept {
  return {.round_trip = detail::from_seconds(first_bytes_.quantile(0.1)),
          .first_byte = detail::from_seconds(first_bytes_.quantile(0.5)),
          .connection_bandwidth = rates_.quantile(0.5),
          .goodput = goodput_};
}

}  // namespace dataflux::inline DATAFLUX_ABI
