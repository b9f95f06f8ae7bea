#pragma once

#include <dataflux/detail/or_default.hpp>
#include <dataflux/http/detail/retry.hpp>

#include <algorithm>
#include <cmath>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

inline bool is_throttle_reason(std::string_view reason) noexcept {
  return reason == "rateLimitExceeded" || reason == "userRateLimitExceeded" || reason == "SlowDown";
}

inline retry_decision stop_because(stop_reason reason) noexcept {
  return {retry_action::stop, duration{0}, reason};
}

/// Never negative; `never` apart, the sum of two points in time always fits.
inline duration time_left(time_point now, time_point end) noexcept {
  return end == never ? duration::max() : std::max(end - now, duration{0});
}

inline duration scaled(duration d, double by) noexcept {
  return duration{static_cast<duration::rep>(static_cast<double>(d.count()) * by)};
}

/// Full jitter; or, when the budget cannot pay, the upper half of a later step.
inline duration jittered_backoff(const retry_policy& policy, int n, double uniform,
                                 bool postponed) noexcept {
  constexpr int steps_when_postponed = 3;
  if (!postponed) return scaled(backoff_ceiling(policy, n), uniform);
  return scaled(backoff_ceiling(policy, n + steps_when_postponed), 0.5 + uniform / 2);
}

/// Fits the delay into the limits of the call, or stops.
inline retry_decision within_limits(const retry_policy& policy, const retry_state& state,
                                    retry_decision wanted, duration retry_after,
                                    time_point now) noexcept {
  const time_point end = deadline_after(
      state.started, detail::or_default(policy.max_elapsed, retry_policy{}.max_elapsed));
  if (now >= end || retry_after > time_left(now, end)) return stop_because(stop_reason::elapsed);
  wanted.delay = std::min(std::max(wanted.delay, retry_after), time_left(now, end));
  if (wanted.delay >= time_left(now, state.deadline)) return stop_because(stop_reason::elapsed);
  return wanted;
}

inline bool may_repeat(const retry_state& state, const attempt_outcome& outcome) noexcept {
  return state.idempotent || !outcome.request_sent ||
         (outcome.http_status == 0 && !may_have_been_executed(outcome.failure));
}

DATAFLUX_INLINE reply_class classify(int http_status, std::string_view reason) noexcept {
  switch (http_status) {
    case 401:
      return reply_class::unauthenticated;
    case 403:
      return is_throttle_reason(reason) ? reply_class::throttled : reply_class::final;
    case 408:
      return reply_class::transient;
    case 429:
      return reply_class::throttled;
    case 501:
    case 505:
      return reply_class::final;
    default:
      break;
  }
  if (http_status < 500 || http_status > 599) return reply_class::final;
  const bool throttled = http_status == 503 && is_throttle_reason(reason);
  return throttled ? reply_class::throttled : reply_class::transient;
}

DATAFLUX_INLINE std::string_view to_string(stop_reason reason) noexcept {
  switch (reason) {
    case stop_reason::none:
      return "none";
    case stop_reason::final_outcome:
      return "final_outcome";
    case stop_reason::not_idempotent:
      return "not_idempotent";
    case stop_reason::attempts:
      return "attempts";
    case stop_reason::elapsed:
      return "elapsed";
  }
  return "none";
}

DATAFLUX_INLINE bool retry_budget::spend() noexcept {
  auto tenths = tenths_.load(std::memory_order_relaxed);
  while (tenths >= successes_per_retry) {
    if (tenths_.compare_exchange_weak(tenths, tenths - successes_per_retry,
                                      std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

DATAFLUX_INLINE void retry_budget::succeeded() noexcept {
  auto tenths = tenths_.load(std::memory_order_relaxed);
  while (tenths < capacity * successes_per_retry &&
         !tenths_.compare_exchange_weak(tenths, tenths + 1, std::memory_order_relaxed)) {
  }
}

DATAFLUX_INLINE int retry_budget::available() const noexcept {
  return tenths_.load(std::memory_order_relaxed) / successes_per_retry;
}

DATAFLUX_INLINE duration backoff_ceiling(const retry_policy& policy, int n) noexcept {
  // In floating point: factor^n overflows integers long before the cap is applied.
  constexpr retry_policy usual{};
  const duration first = detail::or_default(policy.first, usual.first);
  const duration cap = detail::or_default(policy.cap, usual.cap);
  const double factor = detail::or_default(policy.factor, usual.factor);
  const double ceiling = static_cast<double>(first.count()) * std::pow(factor, std::max(n, 1) - 1);
  return ceiling < static_cast<double>(cap.count()) ? duration{static_cast<duration::rep>(ceiling)}
                                                    : cap;
}

DATAFLUX_INLINE retry_decision decide(const retry_policy& policy, retry_state& state,
                                      const attempt_outcome& outcome, time_point now,
                                      double uniform, retry_budget* budget) noexcept {
  ++state.attempts;
  const bool broke_off = outcome.failure != transport_failure::none;
  const reply_class kind =
      broke_off ? reply_class::transient
                : outcome.meaning.value_or(classify(outcome.http_status, outcome.reason));
  switch (kind) {
    case reply_class::final:
    case reply_class::unauthenticated:
      if (outcome.elsewhere) {
        return within_limits(policy, state, {retry_action::sign_again}, duration{0}, now);
      }
      if (state.signed_again || !outcome.mendable) return stop_because(stop_reason::final_outcome);
      state.signed_again = true;
      return within_limits(policy, state, {retry_action::sign_again}, duration{0}, now);
    case reply_class::throttled: {
      const int own_waits = state.throttles++;
      const duration wait =
          own_waits == 0 ? duration{0} : jittered_backoff(policy, own_waits, uniform, false);
      return within_limits(policy, state, {retry_action::pace, wait}, outcome.retry_after, now);
    }
    case reply_class::transient:
      break;
  }
  const bool repeatable = may_repeat(state, outcome);
  if (outcome.request_sent && (!broke_off || may_have_been_executed(outcome.failure))) {
    state.may_have_been_executed = true;
  }
  if (broke_off && !may_be_retried(outcome.failure)) {
    return stop_because(stop_reason::final_outcome);
  }
  if (!repeatable) return stop_because(stop_reason::not_idempotent);
  ++state.failures;
  constexpr retry_policy usual{};
  int most = detail::or_default(policy.max_attempts, usual.max_attempts);
  if (outcome.nobody) {
    most = std::min(
        most, detail::or_default(policy.max_attempts_at_nobody, usual.max_attempts_at_nobody));
  }
  if (state.failures >= most) return stop_because(stop_reason::attempts);
  state.throttles = 0;
  const auto after = [&](bool postponed) {
    const duration wait = jittered_backoff(policy, state.failures, uniform, postponed);
    return within_limits(policy, state, {retry_action::retry, wait}, outcome.retry_after, now);
  };
  const retry_decision paid = after(false);
  if (paid.action == retry_action::stop || budget == nullptr || budget->spend()) return paid;
  return after(true);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
