#pragma once

#include <dataflux/detail/seconds.hpp>
#include <dataflux/transfer/detail/hedge.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

namespace hedging {
inline constexpr std::uint64_t least_samples = 200;
inline constexpr std::uint64_t samples_per_threshold = 64;
inline constexpr double percentile = 0.95;
inline constexpr double times_percentile = 2;
inline constexpr int usual_times = 4;
inline constexpr double anew_times = 2;
inline constexpr double tokens_per_read = 0.05;
inline constexpr double most_tokens = 256;
inline constexpr double most_overdue = 0.05;
inline constexpr std::uint64_t cohort_size = 256;  // reads
/// As long as pacing holds back after a rejection.
inline constexpr duration quiet_after_throttling = std::chrono::seconds(10);
}  // namespace hedging

DATAFLUX_INLINE hedged_read hedge_policy::begin(time_point now) noexcept {
  ++counters_.reads;
  tokens_ = std::min(tokens_ + hedging::tokens_per_read, hedging::most_tokens);
  hedged_read read{.next_check = deadline_after(now, threshold_), .number = counters_.reads - 1};
  read.sent_at[0] = now;
  return read;
}

DATAFLUX_INLINE hedge_policy::cohort& hedge_policy::cohort_of(std::uint64_t id) noexcept {
  cohort& c = cohorts_[id % cohorts_.size()];
  if (c.id < id) c = {.id = id};
  return c;
}

/// Among the reads of its cohort and of the one before.
DATAFLUX_INLINE double hedge_policy::overdue_share(std::uint64_t number) noexcept {
  constexpr std::uint64_t size = hedging::cohort_size;
  const std::uint64_t id = number / size;
  std::uint32_t overdue = cohort_of(id).overdue;
  if (id > 0) overdue += cohort_of(id - 1).overdue;
  const std::uint64_t from = id > 0 ? (id - 1) * size : 0;
  const std::uint64_t to = std::min(counters_.reads, (id + 1) * size);
  return overdue / static_cast<double>(to - from);
}

DATAFLUX_INLINE hedge_decision hedge_policy::consider(hedged_read& read, time_point now) noexcept {
  if (read.requests == hedged_read::most_requests) return {};
  const time_point last = read.sent_at[read.requests - 1U];
  if (now - last < threshold_) return {.next_check = deadline_after(last, threshold_)};
  hedge_decision decision = ask(read, now - last, now);
  if (decision.ask && read.requests < hedged_read::most_requests) {
    decision.next_check = deadline_after(now, threshold_);
  }
  return decision;
}

DATAFLUX_INLINE hedge_decision hedge_policy::consider_body(hedged_read& read,
                                                           const body_progress& body,
                                                           time_point now) noexcept {
  if (read.requests == hedged_read::most_requests || read.known > 0) return {};
  if (body.usual <= duration::zero()) return {};
  const duration timeout = std::max(options_.floor, hedging::usual_times * body.usual);
  const duration waited = now - body.first_byte;
  if (waited < timeout) return {.next_check = deadline_after(body.first_byte, timeout)};
  // rest / received * waited > 2 * usual, without a division by 0
  const auto rest = static_cast<double>(body.length - std::min(body.received, body.length));
  const auto slow = rest * to_seconds(waited);
  const auto anew = hedging::anew_times * to_seconds(body.usual);
  const bool moved = std::exchange(read.seen, body.received) != body.received;
  if (moved && slow <= anew * static_cast<double>(body.received)) {
    return {.next_check = deadline_after(now, waited)};
  }
  const hedge_decision decision = ask(read, waited, now);
  if (decision.ask) {
    ++counters_.left;
    learn(read, body.request, body.first_byte);
    read.known = static_cast<std::uint8_t>(read.requests - 1);
  }
  return decision;
}

/// A late read is asked for again, unless something speaks against it.
DATAFLUX_INLINE hedge_decision hedge_policy::ask(hedged_read& read, duration waited,
                                                 time_point now) noexcept {
  if (!read.overdue) {
    read.overdue = true;
    ++cohort_of(read.number / hedging::cohort_size).overdue;
  }
  const hedge_decision later{.next_check = deadline_after(now, waited)};
  if (waits_.count() < hedging::least_samples) return later;
  if (now < quiet_until_) {
    ++counters_.denied_by_throttling;
    return later;
  }
  if (overdue_share(read.number) > hedging::most_overdue) {
    ++counters_.denied_by_service;
    return later;
  }
  if (tokens_ < 1) {
    ++counters_.denied_by_budget;
    return later;
  }
  tokens_ -= 1;
  ++counters_.asked;
  read.sent_at[read.requests++] = now;
  return {.ask = true};
}

DATAFLUX_INLINE void hedge_policy::first_byte(const hedged_read& read, std::size_t request,
                                              time_point now) noexcept {
  learn(read, request, now);
  if (read.requests > 1) ++(request > 0 ? counters_.won : counters_.lost);
}

/// Of a request that was overtaken only the least it would have taken is known. Without it the
/// percentile would never learn that the service has become slow.
DATAFLUX_INLINE void hedge_policy::learn(const hedged_read& read, std::size_t request,
                                         time_point first_byte) noexcept {
  for (std::size_t i = read.known; i <= request; ++i) saw(first_byte - read.sent_at[i]);
}

DATAFLUX_INLINE void hedge_policy::throttled(time_point now) noexcept {
  quiet_until_ = std::max(quiet_until_, now + hedging::quiet_after_throttling);
}

DATAFLUX_INLINE void hedge_policy::saw(duration waited) noexcept {
  waits_.add(to_seconds(waited));
  if (waits_.count() < hedging::least_samples) return;
  if (waits_.count() % hedging::samples_per_threshold != 0) return;
  const duration slow =
      from_seconds(hedging::times_percentile * waits_.quantile(hedging::percentile));
  threshold_ = std::max(options_.floor, slow);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
