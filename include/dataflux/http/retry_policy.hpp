#pragma once

#include <dataflux/deadline.hpp>

#include <chrono>

namespace dataflux::inline DATAFLUX_ABI {

/// How long a call keeps trying. 0 = the default of each; the largest value of its type = no limit.
struct retry_policy {
  /// Attempts in a row that brought nothing, the first included; 1 = never retry.
  int max_attempts{10};
  /// The same for attempts that found nobody, where nobody has ever answered: the error for a
  /// wrong address comes sooner than that for an outage. With the defaults it comes after half a
  /// minute at most, and the time that connecting takes.
  int max_attempts_at_nobody{6};
  /// No attempt begins later than this after the start of the call. The caller's deadline
  /// holds besides.
  duration max_elapsed{std::chrono::minutes(5)};
  /// Before retry n the wait is uniform in [0, min(cap, first * factor^(n-1))]: full jitter, so
  /// that clients which failed together do not come back together.
  duration first{std::chrono::seconds(1)};
  double factor{2.0};
  duration cap{std::chrono::seconds(60)};
};

}  // namespace dataflux::inline DATAFLUX_ABI
