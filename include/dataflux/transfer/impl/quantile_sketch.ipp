#pragma once

#include <dataflux/transfer/detail/quantile_sketch.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

namespace sketching {
/// Bounds of neighbouring buckets: 461 of them cover a factor of 1e8, and the middle of a bucket is
/// within 2 % of both its ends.
inline constexpr double step = 1.0408;
inline constexpr double doublings_per_step = 0.057692867;  ///< log2(step)
/// Old weights are not made smaller, new ones are larger, until this; a power of two, so that
/// scaling back rounds nothing.
inline constexpr double heaviest = 65536;

/// The logarithm of a positive number to base 2, within 2e-5: the exponent, and a polynomial of the
/// mantissa. The library's own is exact, and its code and table are never in the cache here.
inline double rough_log2(double value) noexcept {
  constexpr std::uint64_t mantissa = (std::uint64_t{1} << 52U) - 1;
  constexpr std::uint64_t one = std::uint64_t{1023} << 52U;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<double>(static_cast<std::int64_t>(bits >> 52U) - 1023);
  const auto m = std::bit_cast<double>((bits & mantissa) | one);
  constexpr double c0 = -2.7879262073059774;
  constexpr double c1 = 5.0478554134483975;
  constexpr double c2 = -3.489878550694812;
  constexpr double c3 = 1.58947429498286;
  constexpr double c4 = -0.40251339355164717;
  constexpr double c5 = 0.04300495779222825;
  return exponent + c0 + m * (c1 + m * (c2 + m * (c3 + m * (c4 + m * c5))));
}
}  // namespace sketching

DATAFLUX_INLINE quantile_sketch::quantile_sketch(double lowest, double half_life) noexcept
    : lowest_(lowest), growth_(std::exp2(1 / half_life)) {}

DATAFLUX_INLINE void quantile_sketch::add(double value) noexcept {
  std::size_t bucket = 0;
  // Written so that a NaN lands in the first bucket.
  if (value > lowest_) {
    const double place = sketching::rough_log2(value / lowest_) / sketching::doublings_per_step;
    bucket = static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(buckets - 1)));
  }
  weights_[bucket] += static_cast<float>(weight_);
  ++count_;
  weight_ *= growth_;
  if (weight_ >= sketching::heaviest) rescale();
}

DATAFLUX_INLINE void quantile_sketch::rescale() noexcept {
  weight_ /= sketching::heaviest;
  for (float& w : weights_) w /= static_cast<float>(sketching::heaviest);
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
  constexpr double step = sketching::step;
  return lowest_ * std::pow(step, static_cast<double>(last)) * 2 * step / (1 + step);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
