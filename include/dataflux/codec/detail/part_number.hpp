#pragma once

#include <dataflux/detail/config.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Parts of an upload are numbered from 1 to this, and so it has at most as many (protocol.md 2).
inline constexpr std::uint32_t greatest_part_number = 10'000;

}  // namespace dataflux::inline DATAFLUX_ABI::detail
