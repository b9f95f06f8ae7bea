#pragma once

#include <dataflux/transfer/detail/engine_read.hpp>
#include <dataflux/transfer/read_engine.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE read_engine::read_engine(object_store& store, scheduler& home,
                                         const read_engine_options& options)
    : state_(std::make_shared<detail::read_engine_state>(store, home, options.concurrency,
                                                         options.hedge)) {}
DATAFLUX_INLINE read_engine::~read_engine() = default;

DATAFLUX_INLINE void read_engine::start(read_request request, byte_sink& sink, completion done) {
  std::make_shared<detail::engine_read>(state_, std::move(request), sink, std::move(done))
      ->enqueue();
}

DATAFLUX_INLINE object_store& read_engine::store() const noexcept { return state_->store; }
DATAFLUX_INLINE scheduler& read_engine::home() const noexcept { return state_->home; }
DATAFLUX_INLINE bool read_engine::idle() const noexcept { return state_->idle(); }
DATAFLUX_INLINE void read_engine::on_idle(unique_function<void()> wake) {
  state_->on_idle = std::move(wake);
}
DATAFLUX_INLINE std::size_t read_engine::waiting() const noexcept { return state_->waiting; }
DATAFLUX_INLINE std::size_t read_engine::in_flight() const noexcept {
  return static_cast<std::size_t>(state_->concurrency.in_flight());
}
DATAFLUX_INLINE int read_engine::limit() const noexcept { return state_->concurrency.limit(); }
DATAFLUX_INLINE network_estimate read_engine::estimate() const noexcept {
  return state_->concurrency.estimate();
}
DATAFLUX_INLINE const hedge_counters& read_engine::hedges() const noexcept {
  return state_->hedges.counters();
}

}  // namespace dataflux::inline DATAFLUX_ABI
