#pragma once

#include <dataflux/transfer/detail/engine_read.hpp>
#include <dataflux/transfer/detail/read_engine.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE read_engine::read_engine(object_store& store, scheduler& strand,
                                         const read_engine_options& options)
    : state_(
          std::make_shared<read_engine_state>(store, strand, options.concurrency, options.hedge)) {}
DATAFLUX_INLINE read_engine::~read_engine() = default;

DATAFLUX_INLINE void read_engine::start(const read_request& request, byte_sink& sink,
                                        completion done, read_member* whose) {
  std::allocate_shared<engine_read>(state_->memory_of_reads, state_,
                                    whose != nullptr ? *whose : state_->nobodys, request, sink,
                                    std::move(done))
      ->enqueue();
}

DATAFLUX_INLINE bool read_engine::may_start(read_member& member) {
  if (!std::exchange(member.asks_, true)) state_->turns.join(member);
  state_->advance(&member);
  return state_->has_turn(member);
}

DATAFLUX_INLINE void read_engine::leave(read_member& member) {
  if (!std::exchange(member.asks_, false)) return;
  if (member.line_.empty()) state_->turns.leave(member);
  state_->advance();
}

DATAFLUX_INLINE object_store& read_engine::store() const noexcept { return state_->store; }
DATAFLUX_INLINE scheduler& read_engine::strand() const noexcept { return state_->strand; }
DATAFLUX_INLINE std::size_t read_engine::waiting() const noexcept { return state_->waiting; }
DATAFLUX_INLINE std::size_t read_engine::in_flight() const noexcept {
  return static_cast<std::size_t>(state_->concurrency.in_flight());
}
DATAFLUX_INLINE int read_engine::limit() const noexcept { return state_->concurrency.limit(); }
DATAFLUX_INLINE int read_engine::reach() const noexcept {
  return state_->climbing() ? state_->concurrency.most() : limit();
}
DATAFLUX_INLINE network_estimate read_engine::estimate() const noexcept {
  return state_->concurrency.estimate();
}
DATAFLUX_INLINE const hedge_counters& read_engine::hedges() const noexcept {
  return state_->hedges.counters();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
