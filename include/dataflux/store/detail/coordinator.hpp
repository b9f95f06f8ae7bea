#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/error.hpp>
#include <dataflux/exec/detail/call_clock.hpp>
#include <dataflux/exec/detail/continuation.hpp>
#include <dataflux/exec/detail/stop_watch.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The base of whatever makes several requests of a store and lives on one of its
/// executors, the strand: its state is touched by tasks of the strand alone, so that it has no
/// lock. `Self` is the class that derives from it. It is made by make_shared, and kept alive by the
/// requests that it waits for.
///
///     void begin() {  // of a class two_steps : call_coordinator<two_steps, object_metadata>
///       store().start(first(limits()), then<void>([](two_steps& self, result<void> outcome) {
///         if (!outcome) return self.fail(std::move(outcome).error());
///         self.second();
///       }));
///     }
///
/// What it does. start() checks the fork and posts begin(). limits() is what a request gets: what
/// is left of the time, and a stop. then() makes a completion that goes on on the strand, and
/// counts it as under way until then. fail() keeps the first failure. watch_stop() and
/// watch_deadline() bring the caller's stop and the end of the time as tasks of the strand. What
/// needs less uses the parts alone: call_clock, stop_watch.
///
/// Self says what happens by members of these names; it needs begin(), the others have a default:
///
/// - `begin()`: the first step, on the strand.
/// - `refused(error)`: instead of begin() in the child of a fork; inside start().
/// - `stop_heard()`: the caller asked for a stop; on any thread, at once. Posts stop_asked().
/// - `stop_asked()`, `time_passed()`: the same, and the deadline, on the strand. fail().
/// - `fall_short(error)`: a step was short of memory; on the strand. fail().
/// - `idle()`: a step was made and nothing is under way; on the strand. May come more than once.
///
/// Errors: cancelled, deadline_exceeded for the two above; failed_precondition of start();
/// resource_exhausted where a step is short of memory.
///
/// Lifetime: store and strand outlive it. Whoever destroys it on another thread than the strand's
/// (a store that ends drops its tasks) sees no callback under way any more.
///
/// Threads: the strand, but for start(), stop_heard(), and what a member says.
///
/// Cost: no virtual call and no lock. watch_stop() allocates a stop state; without it nothing is.
template <class Self>
class coordinator : public std::enable_shared_from_this<Self> {
 public:
  coordinator(object_store& store, scheduler& strand, call_limits limits) noexcept
      : store_(store),
        scheme_(store.traits().scheme),
        clock_(strand, limits),
        caller_stop_(std::move(limits.stop)) {}
  coordinator(const coordinator&) = delete;
  coordinator& operator=(const coordinator&) = delete;

  /// Begins. The names are those of the error where the process is a fork's child.
  void start(std::string_view bucket, std::string_view object = {}) {
    if (auto good = store_.check_not_forked(bucket, object); !good) {
      return self().refused(std::move(good).error());
    }
    post_step([](Self& self) { self.begin(); });
  }

  /// On any thread.
  object_store& store() const noexcept { return store_; }
  /// Whose bucket it is about; the store may have ended.
  void name_store(error& why) const noexcept {
    within_memory([&] { why.with_scheme(scheme_); });
  }
  scheduler& strand() const noexcept { return clock_.strand(); }
  const call_clock& clock() const noexcept { return clock_; }

  void stop_heard() noexcept {
    auto self = this->weak_from_this().lock();
    if (self == nullptr) return;
    within_memory([&] { self->post_step([](Self& here) { here.stop_asked(); }); });
  }
  void stop_asked() { self().fail(error(errc::cancelled, "the caller asked to stop")); }
  void time_passed() {
    self().fail(error(errc::deadline_exceeded, "the call's time limit passed"));
  }
  void idle() {}
  /// Makes a step on the strand. On any thread; throws std::bad_alloc.
  template <class Step>
  void post_step(Step step) {
    strand().post([self = this->shared_from_this(), step = std::move(step)]() mutable {
      self->make_step(step);
    });
  }
  /// Makes a step; where it is short of memory this fails with resource_exhausted.
  template <class Step>
  void make_step(Step&& step) noexcept {
    within_memory([&] { step(self()); }, [this] { self().fall_short(short_of_memory()), rest(); });
  }
  void fall_short(error why) { self().fail(std::move(why)); }
  void step_lost() noexcept {
    --in_flight_;
    make_step([this](Self& here) {
      here.fall_short(short_of_memory());
      rest();
    });
  }

  /// What is under way without then() comes back, on any thread: makes `act`, which posts a step.
  /// Where it is short of memory the step is lost.
  template <class Act>
  void come_back(Act act) noexcept {
    within_memory(
        act, [this] { strand().post([self = this->shared_from_this()] { self->step_lost(); }); });
  }

  /// The first failure is kept; with watch_stop() the requests under way are stopped.
  void fail(error why) {
    if (failure_) return;
    failure_ = std::move(why);
    name_store(*failure_);
    stop_requests();
  }
  bool failed() const noexcept { return failure_.has_value(); }

  /// For the next request.
  call_limits limits() const noexcept { return clock_.limits(requests_token()); }
  std::size_t in_flight() const noexcept { return in_flight_; }

 protected:
  ~coordinator() = default;

  Self& self() noexcept { return static_cast<Self&>(*this); }
  /// From now on requests get a token of their own, which stop_requests() stops.
  void own_stop() {
    if (!stop_.stop_possible()) stop_ = std::stop_source();
  }
  /// The same, and the caller's stop is heard. False where that was asked for before: then nothing
  /// is watched.
  [[nodiscard]] bool watch_stop() {
    own_stop();
    if (caller_stop_.stop_requested()) return false;
    on_stop_.begin(caller_stop_, self());
    return true;
  }
  /// From now on time_passed() comes at the deadline, and keeps it alive until then.
  void watch_deadline() {
    if (!clock_.limited()) return;
    timer_ = strand().at(clock_.deadline(), [self = this->shared_from_this()] {
      self->timer_ = timer_id::none;
      self->make_step([](Self& here) { here.time_passed(); });
    });
  }
  /// Neither is heard any more; what was posted before may still come.
  void unwatch() noexcept {
    on_stop_.end();
    if (timer_ != timer_id::none) strand().cancel(std::exchange(timer_, timer_id::none));
  }
  const std::stop_token& caller_stop() const noexcept { return caller_stop_; }
  /// What ends the requests. On any thread after own_stop(), as the two that follow.
  std::stop_token requests_token() const noexcept {
    return stop_.stop_possible() ? stop_.get_token() : caller_stop_;
  }
  void stop_requests() noexcept { stop_.request_stop(); }
  bool requests_stopped() const noexcept { return stop_.stop_requested(); }

  /// The completion of a request: calls `step(*self, outcome)` on the strand, at once where it is
  /// there already, and keeps it alive until then. One more is under way until the step.
  template <class T, class Step>
  auto then(Step step) {
    return then<T>(&self(), std::move(step));
  }
  /// The same for a class that derives from Self: `then<T>(this, step)`.
  template <class T, class Derived, class Step>
  auto then(Derived* /*this*/, Step step) {
    return continue_on<T>(strand(), this->shared_from_this(),
                          [step = std::move(step), counted = under_way(*this)](
                              Self& self, result<T> outcome) mutable {
                            coordinator& base = self;
                            counted.end();
                            base.make_step([&](Self& here) {
                              step(static_cast<Derived&>(here), std::move(outcome));
                            });
                            base.make_step([&base](Self&) { base.rest(); });
                          });
  }
  /// For what is under way without then(): a step on another thread, a wait for memory.
  void one_more() noexcept { ++in_flight_; }
  void one_less() {
    --in_flight_;
    rest();
  }

  std::optional<error> failure_{};

 private:
  void rest() {
    if (in_flight_ == 0) self().idle();
  }
  /// One more as long as it lives. One that goes without end() on the strand was lost on the way,
  /// for want of memory; elsewhere it goes with its store, or as a step_lost().
  class under_way {
   public:
    explicit under_way(coordinator& of) noexcept : of_(&of) { ++of.in_flight_; }
    under_way(under_way&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    under_way& operator=(under_way&&) = delete;
    ~under_way() {
      if (of_ != nullptr && of_->strand().is_current()) of_->step_lost();
    }
    void end() noexcept { --std::exchange(of_, nullptr)->in_flight_; }

   private:
    coordinator* of_;
  };

  object_store& store_;
  const std::string_view scheme_;  ///< a literal
  const call_clock clock_;
  const std::stop_token caller_stop_;
  std::stop_source stop_{std::nostopstate};
  stop_watch on_stop_{};
  timer_id timer_{timer_id::none};
  std::size_t in_flight_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
