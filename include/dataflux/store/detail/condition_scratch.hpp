#pragma once

#include <dataflux/store/detail/reserved_prefixes.hpp>

#include <cstdint>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// An object by which a server is asked whether it keeps conditions has no more bytes than this.
inline constexpr std::uint64_t largest_condition_scratch = 64;

constexpr bool is_condition_scratch(std::string_view name, std::uint64_t size) noexcept {
  return size <= largest_condition_scratch && is_condition_scratch_name(name);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
