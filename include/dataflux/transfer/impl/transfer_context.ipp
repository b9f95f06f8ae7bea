#pragma once

#include <dataflux/transfer/detail/transfer_state.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE transfer_context::transfer_context(object_store& store,
                                                   const transfer_options& options)
    : state_(std::make_shared<detail::transfer_state>(store, nullptr, options)) {}
DATAFLUX_INLINE transfer_context::transfer_context(std::shared_ptr<object_store> store,
                                                   const transfer_options& options) {
  auto& used = *store;
  state_ = std::make_shared<detail::transfer_state>(used, std::move(store), options);
}

DATAFLUX_INLINE object_store& transfer_context::store() const noexcept {
  return state_->engine.store();
}
DATAFLUX_INLINE scheduler& transfer_context::strand() const noexcept { return state_->strand; }
DATAFLUX_INLINE const transfer_options& transfer_context::options() const noexcept {
  return state_->options;
}
DATAFLUX_INLINE transfer_counters transfer_context::counters() const { return state_->published(); }
DATAFLUX_INLINE memory_snapshot transfer_context::memory() const {
  const transfer_counters now = counters();
  return {.cap = options().memory_cap,
          .held = now.held,
          .borrowed = now.borrowed,
          .upload_cap = options().upload_memory,
          .upload_held = now.upload_held};
}

}  // namespace dataflux::inline DATAFLUX_ABI
