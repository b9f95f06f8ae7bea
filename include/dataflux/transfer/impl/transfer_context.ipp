#pragma once

#include <dataflux/transfer/transfer_context.hpp>
#include <dataflux/transfer/transfer_state.hpp>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE transfer_context::transfer_context(object_store& store,
                                                   const transfer_options& options)
    : state_(std::make_shared<detail::transfer_state>(store, store.executor(), options)) {}

DATAFLUX_INLINE object_store& transfer_context::store() const noexcept {
  return state_->engine.store();
}
DATAFLUX_INLINE scheduler& transfer_context::home() const noexcept { return state_->home; }
DATAFLUX_INLINE const transfer_options& transfer_context::options() const noexcept {
  return state_->options;
}
DATAFLUX_INLINE transfer_counters transfer_context::counters() const { return state_->published(); }

}  // namespace dataflux::inline DATAFLUX_ABI
