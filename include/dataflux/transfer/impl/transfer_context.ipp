#pragma once

#include <dataflux/transfer/transfer_context.hpp>
#include <dataflux/transfer/transfer_state.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline std::shared_ptr<transfer_state> make_transfer_state(object_store& store,
                                                           std::shared_ptr<object_store> owned,
                                                           const transfer_options& options) {
  auto made = std::make_shared<transfer_state>(store, std::move(owned), options);
  // The engine's reads may outlive the state by a few instructions.
  made->engine.on_idle([weak = std::weak_ptr(made)] {
    if (const auto state = weak.lock()) state->wake_next();
  });
  return made;
}

}  // namespace detail

DATAFLUX_INLINE transfer_context::transfer_context(object_store& store,
                                                   const transfer_options& options)
    : state_(detail::make_transfer_state(store, nullptr, options)) {}
DATAFLUX_INLINE transfer_context::transfer_context(std::shared_ptr<object_store> store,
                                                   const transfer_options& options) {
  auto& used = *store;
  state_ = detail::make_transfer_state(used, std::move(store), options);
}

DATAFLUX_INLINE object_store& transfer_context::store() const noexcept {
  return state_->engine.store();
}
DATAFLUX_INLINE scheduler& transfer_context::home() const noexcept { return state_->home; }
DATAFLUX_INLINE const transfer_options& transfer_context::options() const noexcept {
  return state_->options;
}
DATAFLUX_INLINE transfer_counters transfer_context::counters() const { return state_->published(); }

}  // namespace dataflux::inline DATAFLUX_ABI
