#pragma once

#include <dataflux/transfer/detail/quantile_sketch.hpp>

#include <algorithm>
#include <cmath>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::sketching {
/// Bounds of neighbouring buckets: 461 of them cover a factor of 1e8, and the middle of a bucket is
/// within 2 % of both its ends.
inline constexpr double step = 1.0408;
/// Old weights are not made smaller, new ones are larger, until this; a power of two, so that
/// scaling back rounds nothing.
inline constexpr double heaviest = 65536;
}  // namespace detail::sketching

DATAFLUX_INLINE quantile_sketch::quantile_sketch(double lowest, double half_life) noexcept
    : lowest_(lowest), growth_(std::exp2(1 / half_life)) {}

DATAFLUX_INLINE void quantile_sketch::add(double value) noexcept {
  const double place = std::log(value / lowest_) / std::log(detail::sketching::step);
  // Written so that a NaN (of a negative value) lands in the first bucket.
  const std::size_t bucket =
      place > 0 ? static_cast<std::size_t>(std::min(place, static_cast<double>(buckets - 1))) : 0;
  weights_[bucket] += static_cast<float>(weight_);
  ++count_;
  weight_ *= growth_;
  if (weight_ >= detail::sketching::heaviest) rescale();
}

DATAFLUX_INLINE void quantile_sketch::rescale() noexcept {
  weight_ /= detail::sketching::heaviest;
  for (float& w : weights_) w /= static_cast<float>(detail::sketching::heaviest);
}

DATAFLUX_INLINE double quantile_sketch::quantile(double q) const noexcept {
  double total = 0;
  for (const float w : weights_) total += w;
  if (total <= 0) return 0;
  double below = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < buckets; ++i) {
    if (weights_[i] <= 0) continue;
    last = i;
    below += weights_[i];
    if (below >= q * total) break;
  }
  constexpr double step = detail::sketching::step;
  return lowest_ * std::pow(step, static_cast<double>(last)) * 2 * step / (1 + step);
}

}  // namespace dataflux::inline DATAFLUX_ABI
