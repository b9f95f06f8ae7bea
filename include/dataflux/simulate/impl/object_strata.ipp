#pragma once

#include <dataflux/simulate/detail/object_strata.hpp>
#include <dataflux/store/detail/random.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE void size_tally::add(std::uint64_t bytes) noexcept {
  // Below 64 bytes each size is a class; above it the six bits behind the first one tell.
  std::size_t number = bytes;
  if (bytes >= classes_of_power) {
    const auto power = static_cast<std::size_t>(std::bit_width(bytes)) - 1;
    number = (power - 5) * classes_of_power + ((bytes >> (power - 6)) & (classes_of_power - 1));
  }
  ++classes_[number].count;
  classes_[number].bytes += static_cast<double>(bytes);
}

DATAFLUX_INLINE std::vector<std::pair<std::uint64_t, std::uint64_t>> size_tally::sizes() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  for (const size_class& each : classes_) {
    if (each.count == 0) continue;
    const double mean = std::round(each.bytes / static_cast<double>(each.count));
    all.emplace_back(static_cast<std::uint64_t>(mean), each.count);
  }
  return all;
}

DATAFLUX_INLINE std::vector<std::uint64_t> object_strata(
    std::vector<std::pair<std::uint64_t, std::uint64_t>> sizes, std::uint64_t count,
    std::size_t most, std::uint64_t seed) {
  std::vector<std::uint64_t> all;
  const auto runs = static_cast<std::size_t>(std::min<std::uint64_t>(count, most));
  if (runs == 0) return all;
  all.reserve(runs);
  std::sort(sizes.begin(), sizes.end());
  std::size_t at = 0;
  std::uint64_t left = sizes[0].second;
  double rest = 0;  // of a byte, that rounding has left out
  for (std::size_t i = 0; i < runs; ++i) {
    // Of n objects in r runs the first n % r have one more.
    const std::uint64_t members = count / runs + (i < count % runs ? 1 : 0);
    double bytes = 0;
    for (std::uint64_t missing = members; missing > 0;) {
      if (left == 0) left = sizes[++at].second;
      const std::uint64_t taken = std::min(left, missing);
      bytes += static_cast<double>(taken) * static_cast<double>(sizes[at].first);
      left -= taken;
      missing -= taken;
    }
    const double mean = bytes / static_cast<double>(members) + rest;
    all.push_back(static_cast<std::uint64_t>(std::max(0.0, std::round(mean))));
    rest = mean - static_cast<double>(all.back());
  }
  for (std::size_t i = runs; i > 1; --i) std::swap(all[i - 1], all[next_random(seed) % i]);
  return all;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
