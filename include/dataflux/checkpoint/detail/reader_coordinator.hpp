#pragma once

#include <dataflux/checkpoint/detail/reader_state.hpp>
#include <dataflux/store/detail/call_coordinator.hpp>

#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What the calls of a reader have in common. Their errors name its object.
template <class Self>
class reader_coordinator : public call_coordinator<Self, void> {
 public:
  reader_coordinator(std::shared_ptr<reader_state> state, const call_limits& limits,
                     object_store::completion<void> done)
      : call_coordinator<Self, void>(state->store(), state->strand(), limits, std::move(done)),
        state_(std::move(state)) {}

  void stop_asked() {
    this->self().fail(state_->described(errc::cancelled, "the caller asked to stop"));
  }
  void time_passed() {
    this->self().fail(state_->described(errc::deadline_exceeded, "the read's time limit passed"));
  }

 protected:
  ~reader_coordinator() = default;

  /// Hears of the caller's stop and of the deadline from now on. False if it has failed: the object
  /// is known to be damaged, or the stop was asked for before.
  bool watch() {
    if (auto lost = state_->lost()) {
      this->self().fail(*std::move(lost));
    } else if (!this->watch_stop()) {
      stop_asked();
    } else {
      this->watch_deadline();
      return true;
    }
    return false;
  }

  const std::shared_ptr<reader_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/detail/reader_call.hpp>
#endif
