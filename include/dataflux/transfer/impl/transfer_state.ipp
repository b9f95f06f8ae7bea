#pragma once

#include <dataflux/transfer/transfer_state.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Quantiles cost more than an item: they are looked at once for so many.
inline constexpr std::uint64_t items_per_estimate = 256;

DATAFLUX_INLINE transfer_state::transfer_state(object_store& store,
                                               std::shared_ptr<object_store> owner,
                                               const transfer_options& o)
    : owned(std::move(owner)),
      options(o),
      home(store.executor()),
      engine(store, home, {.concurrency = o.concurrency, .hedge = o.hedge}),
      budget(o.memory_cap),
      uploads(o.upload_memory) {
  published_.concurrency = engine.limit();
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
  if (born_ != fork_generation()) return {};
  std::scoped_lock lock(mutex_);
  transfer_counters now = published_;
  now.lent = lent->load(std::memory_order_relaxed);
  return now;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
