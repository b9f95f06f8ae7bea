#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <algorithm>

/// What times differ by, where one of them may be an end of what a timestamp can say: a
/// time beyond it was read as that end. Pure.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// `time` + `wait`, or the end of time.
inline timestamp later(timestamp time, duration wait) noexcept {
  const bool positive = time > timestamp{};
  return positive && wait >= timestamp::max() - time ? timestamp::max() : time + wait;
}

/// How long ago `then` was: 0 for what is to come, and at most what a duration can say.
inline duration age_of(timestamp then, timestamp now) noexcept {
  if (then >= now) return duration{0};
  const bool fits = then >= timestamp{} || now <= timestamp::max() + then.time_since_epoch();
  return fits ? std::chrono::duration_cast<duration>(now - then) : duration::max();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
