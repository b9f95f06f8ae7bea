#pragma once

#include <dataflux/detail/config.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// splitmix64: enough for content and for a simulation's dice, and the same everywhere, which the
/// distributions of <random> are not.
inline std::uint64_t next_random(std::uint64_t& state) noexcept {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
