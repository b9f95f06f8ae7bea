#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/result.hpp>
#include <dataflux/unique_function.hpp>

#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Calls `done` on `strand`, later. One task for all steps that wait for a T.
template <class T>
void go_on(scheduler& strand, unique_function<void(result<T>)> done, result<T> outcome) {
  strand.post([done = std::move(done), outcome = std::move(outcome)]() mutable {
    done(std::move(outcome));
  });
}

/// How what lives on one executor of a store goes on after a request: a completion, for any thread,
/// that calls `step(*self, outcome)` on `strand`, at once where it is there already, and keeps
/// `self` until then. `strand` outlives the request. Where there is no memory for a task of the
/// strand, `self->step_lost()` comes there instead.
template <class T, class Self, class Step>
class continuation {
 public:
  continuation(scheduler& strand, std::shared_ptr<Self> self, Step step)
      : strand_(&strand), self_(std::move(self)), step_(std::move(step)) {}

  void operator()(result<T> outcome) {
    if (strand_->is_current()) return step_(*self_, std::move(outcome));
    scheduler& strand = *strand_;
    const std::shared_ptr<Self> self = self_;
    within_memory([&] { go_on<T>(strand, std::move(*this), std::move(outcome)); },
                  [&] {
                    if constexpr (requires(Self & s) { s.step_lost(); }) {
                      strand.post([self] { self->step_lost(); });
                    }
                  });
  }

 private:
  scheduler* strand_;
  std::shared_ptr<Self> self_;
  Step step_;
};

template <class T, class Self, class Step>
continuation<T, Self, Step> continue_on(scheduler& strand, std::shared_ptr<Self> self, Step step) {
  return {strand, std::move(self), std::move(step)};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
