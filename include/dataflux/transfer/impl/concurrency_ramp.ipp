#pragma once

#include <dataflux/detail/seconds.hpp>
#include <dataflux/transfer/detail/concurrency_ramp.hpp>

#include <algorithm>
#include <chrono>

namespace dataflux::inline DATAFLUX_ABI::detail {

namespace ramp {
inline constexpr double nearly_all = 0.85;
inline constexpr double gain_per_step = 0.2;
/// Bytes come in pieces: less time says nothing about their rate.
inline constexpr duration shortest_measure = std::chrono::milliseconds(10);
}  // namespace ramp

DATAFLUX_INLINE int concurrency_ramp::on_arrivals(int limit, int most, const arrivals& seen,
                                                  time_point now) noexcept {
  if (over_) return limit;
  if (step_at_ == never) step_at_ = now;
  if (measured_at_ == never) {
    if (seen.begun < ramp::nearly_all * limit) return limit;
    measured_at_ = now;
    measured_from_ = seen.bytes;
    measured_for_ = std::max(now - step_at_, ramp::shortest_measure);
    return limit;
  }
  if (now - measured_at_ < measured_for_) return limit;
  const std::uint64_t came = seen.bytes - std::min(seen.bytes, measured_from_);
  const double rate = static_cast<double>(came) / to_seconds(now - measured_at_);
  if (base_limit_ > 0) {
    const double growth = static_cast<double>(limit) / base_limit_ - 1;
    over_ = rate <= (1 + ramp::gain_per_step * growth) * base_rate_;
    if (over_) return base_limit_;
  }
  base_limit_ = limit;
  base_rate_ = rate;
  step_at_ = now;
  measured_at_ = never;
  over_ = limit >= most;
  return limit > most / 2 ? most : 2 * limit;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
