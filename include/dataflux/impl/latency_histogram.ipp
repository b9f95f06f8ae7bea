#pragma once

#include <dataflux/latency_histogram.hpp>

#include <cmath>
#include <numeric>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE std::uint64_t latency_histogram::count() const noexcept {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

DATAFLUX_INLINE duration latency_histogram::quantile(double q) const noexcept {
  const std::uint64_t all = count();
  if (all == 0) return duration::zero();
  const double share = std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(all));
  const auto wanted = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(share));
  std::uint64_t below = 0;
  for (std::size_t bucket = 0;; ++bucket) {
    below += counts[bucket];
    if (below >= wanted || bucket + 1 == buckets) return limit_of(bucket);
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI
