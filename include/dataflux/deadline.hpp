#pragma once

#include <dataflux/detail/config.hpp>

#include <chrono>
#include <stop_token>

namespace dataflux::inline DATAFLUX_ABI {

/// The one clock of the library: steady, nanoseconds. On a virtual scheduler the same type counts
/// from its epoch. Every time that a layer sees comes from scheduler::now().
using clock = std::chrono::steady_clock;
using duration = clock::duration;
using time_point = clock::time_point;

/// No deadline.
inline constexpr time_point never = time_point::max();

/// `start + wait`, without overflow: `never` when the sum does not fit or `wait` is max().
constexpr time_point deadline_after(time_point start, duration wait) noexcept {
  return wait >= never - start ? never : start + wait;
}

/// How long a call may take and who may stop it. Both cover the whole call with all its retries.
struct call_limits {
  /// From submission to completion; zero = no limit.
  duration timeout{0};
  /// When stop is requested the call completes soon with errc::cancelled.
  std::stop_token stop{};

  /// When a call that is submitted `now` has to be over; `never` without a limit.
  time_point deadline_from(time_point now) const noexcept {
    return timeout > duration{0} ? deadline_after(now, timeout) : never;
  }
};

}  // namespace dataflux::inline DATAFLUX_ABI
