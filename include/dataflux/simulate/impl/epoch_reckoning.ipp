#pragma once

#include <dataflux/simulate/detail/epoch_reckoning.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE epoch_bound bound_of(const epoch_use& use) noexcept {
  constexpr double busy = 0.9;
  constexpr double full = 0.85;  // what a link carries besides bodies is not counted
  constexpr double hardly = 0.1;
  if (use.steps && use.waited <= hardly) return epoch_bound::step;
  if (use.steps && use.waited_later <= hardly) return epoch_bound::start;
  if (use.decoders >= busy) return epoch_bound::decoding;
  if (std::max(use.io_threads, use.processors) >= busy) return epoch_bound::processors;
  if (use.link >= full) return epoch_bound::link;
  if (use.short_lived) return epoch_bound::start;
  return use.memory >= use.concurrency ? epoch_bound::memory : epoch_bound::concurrency;
}

/// From the first batch in the second half of what was simulated, to its end. All of it where that
/// has one batch.
struct steady_part {
  epoch_batch from{};
  epoch_batch to{};

  double seconds() const noexcept { return to.time - from.time; }
  double waited() const noexcept {
    return seconds() > 0 ? (to.waited - from.waited) / seconds() : 1;
  }
  double rate() const noexcept {
    return seconds() > 0 ? static_cast<double>(to.items - from.items) / seconds() : 0;
  }
};

inline steady_part steady_part_of(const epoch_outcome& outcome) {
  const auto& all = outcome.batches;
  steady_part part{.to = all.back()};
  if (all.size() > 1) part.from = all[(all.size() - 1) / 2];
  return part;
}

inline double share(double part, double whole) noexcept { return whole > 0 ? part / whole : 0; }

inline epoch_use use_of(const epoch_outcome& outcome, const simulated_network& network,
                        const epoch_plan& plan) {
  const steady_part steady = steady_part_of(outcome);
  const epoch_sample& from = outcome.at(steady.from.time);
  const epoch_sample& to = outcome.end();
  const double seconds = to.time - from.time;
  const auto workers = static_cast<double>(plan.workers);
  const auto busy = [&](std::uint64_t before, std::uint64_t after, double threads) {
    return share(static_cast<double>(after - before) / 1e9, seconds * threads);
  };
  epoch_use use{
      .steps = plan.step > 0,
      .waited_later = steady.waited(),
      .link = share(static_cast<double>(to.received - from.received), seconds * network.total_rate),
      .io_threads =
          busy(from.io_spent, to.io_spent, workers * static_cast<double>(plan.costs.io_threads)),
      .processors = busy(from.processor_spent, to.processor_spent, plan.processors),
      .decoders = busy(from.decode_spent, to.decode_spent,
                       workers * static_cast<double>(plan.decode_threads)),
      .short_lived = outcome.batches.size() < 8 || to.time < 10 * network.round_trip};
  double held = 0;
  double in_flight = 0;
  double samples = 0;
  for (const epoch_sample& s : outcome.samples) {
    if (s.time < from.time) continue;
    held += static_cast<double>(s.held);
    in_flight += static_cast<double>(s.in_flight);
    ++samples;
  }
  use.memory = held / samples / (workers * static_cast<double>(plan.transfer.memory_cap));
  use.concurrency = in_flight / samples / (workers * plan.transfer.concurrency.max);
  return use;
}

DATAFLUX_INLINE epoch_forecast forecast_of(const epoch_outcome& outcome,
                                           const simulated_network& network, const epoch_plan& plan,
                                           const epoch_size& size, const request_prices& prices) {
  const steady_part steady = steady_part_of(outcome);
  epoch_use use = use_of(outcome, network, plan);
  const auto samples = static_cast<double>(size.samples);
  const double left = share(samples - static_cast<double>(steady.to.items), steady.rate());
  const double scale =
      share(static_cast<double>(size.bytes), static_cast<double>(outcome.reads.bytes));
  epoch_forecast told{.seconds = steady.to.time + left,
                      .first_batch = outcome.batches.front().time,
                      .samples = size.samples,
                      .bytes = size.bytes,
                      .class_a = (size.listed + 999) / 1000,
                      .peak_memory = outcome.peak_held,
                      .simulated = share(static_cast<double>(steady.to.items), samples)};
  told.samples_per_second = share(samples, told.seconds);
  told.bytes_per_second = share(static_cast<double>(size.bytes), told.seconds);
  told.link_share = share(told.bytes_per_second, network.total_rate);
  told.processors_share = use.processors;
  told.waited = share(steady.to.waited + steady.waited() * left, told.seconds);
  use.waited = told.waited;
  told.bound = bound_of(use);
  told.in_flight = use.concurrency * static_cast<double>(plan.workers) *
                   static_cast<double>(plan.transfer.concurrency.max);
  const auto scaled = [&](std::uint64_t count) {
    return static_cast<std::uint64_t>(std::llround(scale * static_cast<double>(count)));
  };
  told.hedged = scaled(outcome.hedged);
  told.class_b = scaled(outcome.reads.reads + outcome.hedged);
  told.price = (static_cast<double>(told.class_a) * prices.class_a +
                static_cast<double>(told.class_b) * prices.class_b) /
                   1e6 +
               static_cast<double>(size.bytes) / 0x1p30 * prices.gib;
  return told;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
