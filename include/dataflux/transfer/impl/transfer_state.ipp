#pragma once

#include <dataflux/detail/or_default.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Quantiles cost more than an item: they are read once for so many.
inline constexpr std::uint64_t items_per_estimate = 256;

/// A gap is read rather than skipped, until round trip and bandwidth are known.
inline constexpr std::uint64_t first_gap = 256U << 10U;

inline transfer_options complete(const transfer_options& given) noexcept {
  auto o = with_defaults<&transfer_options::memory_cap, &transfer_options::slice,
                         &transfer_options::upload_memory>(given);
  o.concurrency = with_defaults<&concurrency_options::max>(o.concurrency);
  o.hedge = with_defaults<&hedge_options::floor>(o.hedge);
  return o;
}

DATAFLUX_INLINE transfer_state::transfer_state(object_store& store,
                                               std::shared_ptr<object_store> owner,
                                               const transfer_options& o)
    : owned(std::move(owner)),
      options(complete(o)),
      strand(store.executor()),
      engine(store, strand, {.concurrency = options.concurrency, .hedge = options.hedge}),
      budget(options.memory_cap),
      uploads(options.upload_memory) {
  published_.concurrency = engine.limit();
}

DATAFLUX_INLINE coalesce_options
transfer_state::coalescing(const network_estimate& network) const noexcept {
  const std::uint64_t gap = coalesce_gap(network.round_trip, network.connection_bandwidth);
  return {.gap = std::min(gap > 0 ? gap : first_gap, options.slice), .slice = options.slice};
}

DATAFLUX_INLINE void transfer_state::publish() {
  counters.held = budget.held();
  counters.in_flight = engine.in_flight();
  counters.waiting = engine.waiting();
  counters.concurrency = engine.limit();
  counters.hedges = engine.hedges();
  counters.upload_held = uploads.memory.held();
  counters.upload_peak = uploads.memory.peak();
  if (counters.items == 0 || counters.items - estimated_at_ >= items_per_estimate) {
    estimated_at_ = counters.items;
    counters.network = engine.estimate();
  }
  std::scoped_lock lock(mutex_);
  published_ = counters;
}

DATAFLUX_INLINE transfer_counters transfer_state::published() const {
  if (born_.inherited()) return {};
  std::scoped_lock lock(mutex_);
  transfer_counters now = published_;
  now.borrowed = borrowed->load(std::memory_order_relaxed);
  return now;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
