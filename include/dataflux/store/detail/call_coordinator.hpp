#pragma once

#include <dataflux/error.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/store/detail/coordinator.hpp>
#include <dataflux/store/object_store.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A coordinator that ends in one result. complete() calls the completion once, whatever
/// comes later. After fail() that is as soon as nothing is under way, perhaps inside fail(): what
/// writes into the caller's memory has ended by then.
template <class Self, class Value>
class call_coordinator : public coordinator<Self> {
 public:
  using completion = object_store::completion<Value>;

  call_coordinator(object_store& store, scheduler& strand, call_limits limits,
                   completion done) noexcept
      : coordinator<Self>(store, strand, std::move(limits)), done_(std::move(done)) {}

  void refused(error why) { complete(std::move(why)); }
  void idle() {
    if (this->failure_) complete(*this->failure_);
  }
  void fail(error why) {
    if (completed()) return;
    coordinator<Self>::fail(std::move(why));
    if (this->in_flight() == 0) this->self().idle();
  }
  bool completed() const noexcept { return !done_; }

 protected:
  ~call_coordinator() = default;

  void complete(result<Value> outcome) {
    this->unwatch();
    if (!outcome) this->name_store(outcome.error());
    if (auto done = std::exchange(done_, {})) done(std::move(outcome));
  }

 private:
  completion done_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
