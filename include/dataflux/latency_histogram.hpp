#pragma once

#include <dataflux/deadline.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI {

/// How often something took how long. The first bucket ends at 2^16 ns (65 us), four follow to each
/// doubling, and the last one that has an end is that of 2^37 ns (137 s).
///
/// A value type; a sum of two is that of each bucket and of `sum`.
struct latency_histogram {
  static constexpr std::size_t buckets = 86;
  std::array<std::uint64_t, buckets> counts{};
  /// Of all durations.
  duration sum{};

  /// The longest duration of a bucket; duration::max() of the last one.
  static constexpr duration limit_of(std::size_t bucket) noexcept {
    if (bucket == 0) return duration(1 << 16);
    if (bucket + 1 >= buckets) return duration::max();
    return duration(static_cast<duration::rep>(5 + (bucket - 1) % 4) << (14 + (bucket - 1) / 4));
  }
  static constexpr std::size_t bucket_of(duration took) noexcept {
    if (took <= limit_of(0)) return 0;
    // Exponent and first two digits of a double: exact where it matters.
    constexpr int rest = 52 - 2;
    constexpr auto first = std::bit_cast<std::uint64_t>(65'536.0) >> rest;
    const auto time = static_cast<double>(took.count() - 1);
    return std::min<std::size_t>((std::bit_cast<std::uint64_t>(time) >> rest) - first + 1,
                                 buckets - 1);
  }

  std::uint64_t count() const noexcept;
  /// What the share `q` in [0, 1] of them did not exceed: too long by a quarter at most. Zero where
  /// there were none, duration::max() above 137 s.
  duration quantile(double q) const noexcept;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/impl/latency_histogram.ipp>
#endif
