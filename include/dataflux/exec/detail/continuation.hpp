#pragma once

#include <dataflux/exec/detail/scheduler.hpp>
#include <dataflux/result.hpp>

#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

/// How what lives on one executor of a store goes on after a request: a completion, for any thread,
/// that calls `step(*self, outcome)` on `strand`, at once where it is there already, and keeps
/// `self` until then. `strand` outlives the request.
template <class T, class Self, class Step>
auto continue_on(scheduler& strand, std::shared_ptr<Self> self, Step step) {
  return [&strand, self = std::move(self), step = std::move(step)](result<T> outcome) mutable {
    if (strand.is_current()) return step(*self, std::move(outcome));
    strand.post([self = std::move(self), step = std::move(step),
                 outcome = std::move(outcome)]() mutable { step(*self, std::move(outcome)); });
  };
}

}  // namespace dataflux::inline DATAFLUX_ABI
