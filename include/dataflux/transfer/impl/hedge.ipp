#pragma once

#include <dataflux/transfer/hedge.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::hedging {
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
}  // namespace detail::hedging

DATAFLUX_INLINE hedged_read hedge_policy::begin(time_point now) noexcept {
  ++counters_.reads;
  tokens_ = std::min(tokens_ + detail::hedging::tokens_per_read, detail::hedging::most_tokens);
  return {.asked_at = now,
          .next_check = deadline_after(now, threshold_),
          .number = counters_.reads - 1};
}

DATAFLUX_INLINE hedge_policy::cohort& hedge_policy::cohort_of(std::uint64_t id) noexcept {
  cohort& c = cohorts_[id % cohorts_.size()];
  if (c.id < id) c = {.id = id};
  return c;
}

/// Among the reads of its cohort and of the one before.
DATAFLUX_INLINE double hedge_policy::overdue_share(std::uint64_t number) noexcept {
  constexpr std::uint64_t size = detail::hedging::cohort_size;
  const std::uint64_t id = number / size;
  std::uint32_t overdue = cohort_of(id).overdue;
  if (id > 0) overdue += cohort_of(id - 1).overdue;
  const std::uint64_t from = id > 0 ? (id - 1) * size : 0;
  const std::uint64_t to = std::min(counters_.reads, (id + 1) * size);
  return overdue / static_cast<double>(to - from);
}

DATAFLUX_INLINE hedge_decision hedge_policy::consider(hedged_read& read, time_point now) noexcept {
  if (read.second_at != never) return {};
  const duration waited = now - read.asked_at;
  if (waited < threshold_) return {.next_check = deadline_after(read.asked_at, threshold_)};
  return ask(read, waited, now);
}

DATAFLUX_INLINE hedge_decision hedge_policy::consider_body(hedged_read& read,
                                                           const body_progress& body,
                                                           time_point now) noexcept {
  if (read.second_at != never || body.usual <= duration::zero()) return {};
  const duration patience = std::max(options_.floor, detail::hedging::usual_times * body.usual);
  const duration waited = now - body.first_byte;
  if (waited < patience) return {.next_check = deadline_after(body.first_byte, patience)};
  // rest / received * waited > 2 * usual, without a division by 0
  const auto rest = static_cast<double>(body.length - std::min(body.received, body.length));
  const auto slow = rest * std::chrono::duration<double>(waited).count();
  const auto anew = detail::hedging::anew_times * std::chrono::duration<double>(body.usual).count();
  const bool moved = std::exchange(read.seen, body.received) != body.received;
  if (moved && slow <= anew * static_cast<double>(body.received)) {
    return {.next_check = deadline_after(now, waited)};
  }
  const hedge_decision decision = ask(read, waited, now);
  if (decision.ask) {
    ++counters_.left;
    read.left_at = body.first_byte;
  }
  return decision;
}

/// What is late is asked for again, unless something speaks against it.
DATAFLUX_INLINE hedge_decision hedge_policy::ask(hedged_read& read, duration waited,
                                                 time_point now) noexcept {
  if (!read.overdue) {
    read.overdue = true;
    ++cohort_of(read.number / detail::hedging::cohort_size).overdue;
  }
  const hedge_decision later{.next_check = deadline_after(now, waited)};
  if (waits_.count() < detail::hedging::least_samples) return later;
  if (now < quiet_until_) {
    ++counters_.denied_by_throttling;
    return later;
  }
  if (overdue_share(read.number) > detail::hedging::most_overdue) {
    ++counters_.denied_by_service;
    return later;
  }
  if (tokens_ < 1) {
    ++counters_.denied_by_budget;
    return later;
  }
  tokens_ -= 1;
  ++counters_.asked;
  read.second_at = now;
  return {.ask = true};
}

DATAFLUX_INLINE void hedge_policy::first_byte(const hedged_read& read, hedge_side side,
                                              time_point now) noexcept {
  // Of a first request that was overtaken only the least it would have taken is known. Without it
  // the percentile would never learn that the service has become slow.
  saw((read.left_at != never ? read.left_at : now) - read.asked_at);
  if (read.second_at == never) return;
  if (side == hedge_side::second) {
    saw(now - read.second_at);
    ++counters_.won;
  } else {
    ++counters_.lost;
  }
}

DATAFLUX_INLINE void hedge_policy::throttled(time_point now) noexcept {
  quiet_until_ = std::max(quiet_until_, now + detail::hedging::quiet_after_throttling);
}

DATAFLUX_INLINE void hedge_policy::saw(duration waited) noexcept {
  waits_.add(std::chrono::duration<double>(waited).count());
  if (waits_.count() < detail::hedging::least_samples) return;
  if (waits_.count() % detail::hedging::samples_per_threshold != 0) return;
  const std::chrono::duration<double> slow(detail::hedging::times_percentile *
                                           waits_.quantile(detail::hedging::percentile));
  threshold_ = std::max(options_.floor, std::chrono::duration_cast<duration>(slow));
}

}  // namespace dataflux::inline DATAFLUX_ABI
