#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/exec/scheduler.hpp>

#include <stop_token>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The time of one call that makes several requests. The limit that the caller gave counts
/// from here; each request gets what is left of it.
///
/// Lifetime: the strand outlives it. Threads: those of scheduler::now(). Cost: a call without a
/// limit never reads the clock.
class call_clock {
 public:
  call_clock(scheduler& strand, const call_limits& limits) noexcept
      : strand_(&strand),
        deadline_(limits.timeout > duration{0} ? limits.deadline_from(strand.now()) : never) {}

  scheduler& strand() const noexcept { return *strand_; }
  /// `never` without a limit.
  time_point deadline() const noexcept { return deadline_; }
  bool limited() const noexcept { return deadline_ != never; }
  /// No time is left.
  bool passed() const noexcept { return limited() && strand_->now() >= deadline_; }

  /// For a request that is sent `now`: zero without a limit. When no time is left it is one
  /// nanosecond, so that the request itself fails with deadline_exceeded and names what it was.
  duration left(time_point now) const noexcept {
    if (!limited()) return duration{0};
    return deadline_ > now ? deadline_ - now : duration{1};
  }
  /// The limits of a request that is sent now and is ended by `stop`.
  call_limits limits(std::stop_token stop) const noexcept {
    return {.timeout = limited() ? left(strand_->now()) : duration{0}, .stop = std::move(stop)};
  }

 private:
  scheduler* strand_;
  time_point deadline_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
