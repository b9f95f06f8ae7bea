#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/exec/detail/call_clock.hpp>
#include <dataflux/exec/detail/stop_watch.hpp>
#include <dataflux/s3/detail/dialect.hpp>
#include <dataflux/s3/detail/kept_conditions.hpp>

#include <memory>
#include <stop_token>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// A call that waits for the answer, its own stop, or its own time limit. All on its executor.
class condition_waiter final : public std::enable_shared_from_this<condition_waiter> {
 public:
  condition_waiter(const condition_question& what, condition_book::question which,
                   condition_book::answer done)
      : core_(what.core),
        which_(std::move(which)),
        about_(what.about),
        clock_(what.on, what.limits),
        stop_(what.limits.stop),
        done_(std::move(done)) {}

  void begin() {
    if (!done_) return;
    if (stop_.stop_requested()) return stop_asked();
    on_stop_.begin(stop_, *this);
    if (!clock_.limited()) return;
    // Whoever nobody can answer any more goes at once, and not with its time limit.
    timer_ = clock_.strand().at(clock_.deadline(), [who = weak_from_this()] {
      const auto self = who.lock();
      if (self == nullptr) return;
      self->timer_ = timer_id::none;
      self->end(error{errc::deadline_exceeded,
                      "the call's time limit passed while it waited for whether this server keeps "
                      "conditions"});
    });
  }
  void stop_heard() noexcept {
    auto self = weak_from_this().lock();
    if (self == nullptr) return;
    within_memory([&] { clock_.strand().post([self] { self->stop_asked(); }); });
  }
  /// On any thread.
  void answered(result<kept_conditions> found) {
    if (found && !((*found).*about_)) {
      found = found->why.value_or(
          error{errc::unavailable, "whether this server keeps conditions could not be found out"});
    }
    clock_.strand().post([self = shared_from_this(), found = std::move(found)]() mutable {
      self->end(std::move(found));
    });
  }

 private:
  void stop_asked() {
    end(error{errc::cancelled,
              "the caller asked to stop while the call waited for whether this server keeps "
              "conditions"});
  }
  void end(result<kept_conditions> outcome) {
    if (!done_) return;
    on_stop_.end();
    if (timer_ != timer_id::none) {
      clock_.strand().cancel(std::exchange(timer_, timer_id::none));
    }
    auto done = std::exchange(done_, {});
    dialect_of(*core_).conditions().leave(which_, *this);
    done(std::move(outcome));
  }

  const ref<service::client_core> core_;
  const condition_book::question which_;
  const kept_condition about_;
  const call_clock clock_;
  const std::stop_token stop_;
  condition_book::answer done_;
  stop_watch on_stop_{};
  timer_id timer_{timer_id::none};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
