#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/error.hpp>
#include <dataflux/exec/detail/call_clock.hpp>
#include <dataflux/exec/detail/stop_watch.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/unique_function.hpp>

#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What ends one call before its time, its caller's stop or its deadline, as one task of
/// the strand. For calls on what goes on without them; what ends with its call is a coordinator.
///
/// `passed` is called at most once, on the strand, with cancelled or deadline_exceeded. After end()
/// one that was under way may still come.
///
/// Lifetime: the strand outlives it. Whoever begins it calls end().
/// Threads: begin() and end() on any, under no lock that `passed` takes. The destructor on any.
/// Cost: an allocation, and a timer where there is a deadline.
class limit_watch : public std::enable_shared_from_this<limit_watch> {
 public:
  using heard = unique_function<void(error)>;

  limit_watch(scheduler& strand, time_point deadline, heard passed) noexcept
      : strand_(strand), deadline_(deadline), passed_(std::move(passed)) {}

  /// Null where nothing can end the call.
  static std::shared_ptr<limit_watch> begin(scheduler& strand, const call_limits& limits,
                                            heard passed) {
    if (limits.timeout <= duration{0} && !limits.stop.stop_possible()) return nullptr;
    const time_point deadline = call_clock(strand, limits).deadline();
    auto made = std::make_shared<limit_watch>(strand, deadline, std::move(passed));
    taken_back_unless_kept begins([&] { made->end(); });
    if (deadline != never) made->on_strand([](limit_watch& self) { self.arm(); });
    made->watch_.begin(limits.stop, *made);
    begins.kept();
    return made;
  }
  void end() noexcept {
    watch_.end();
    if (deadline_ == never) return;
    within_memory([this] { on_strand([](limit_watch& self) { self.disarm(); }); });
  }
  /// On any thread.
  void stop_heard() noexcept {
    const auto self = weak_from_this().lock();
    if (self == nullptr) return;
    within_memory(
        [&] { strand_.post([self] { self->pass(errc::cancelled, "the caller asked to stop"); }); });
  }

 private:
  template <class Step>
  void on_strand(Step step) {
    if (strand_.is_current()) return step(*this);
    strand_.post([self = shared_from_this(), step] { step(*self); });
  }
  void arm() {
    if (over_) return;
    timer_ = strand_.at(deadline_, [self = shared_from_this()] {
      self->timer_ = timer_id::none;
      self->pass(errc::deadline_exceeded, "the call's time limit passed");
    });
  }
  void disarm() {
    over_ = true;
    if (timer_ != timer_id::none) strand_.cancel(std::exchange(timer_, timer_id::none));
  }
  void pass(errc code, const char* what) {
    if (over_) return;
    disarm();
    error why = short_of_memory();
    within_memory([&] { why = error(code, what); });
    std::exchange(passed_, {})(std::move(why));
  }

  scheduler& strand_;
  const time_point deadline_;
  // On the strand.
  heard passed_;
  timer_id timer_{timer_id::none};
  bool over_{false};
  stop_watch watch_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
