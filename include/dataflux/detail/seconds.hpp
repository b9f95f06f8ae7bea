#pragma once

#include <dataflux/deadline.hpp>

#include <chrono>

/// Durations as numbers, for what is estimated.
namespace dataflux::inline DATAFLUX_ABI::detail {

inline double to_seconds(duration d) noexcept { return std::chrono::duration<double>(d).count(); }

/// Cut off to what a duration counts. `s` is at most some 9e9.
inline duration from_seconds(double s) noexcept {
  return std::chrono::duration_cast<duration>(std::chrono::duration<double>(s));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
