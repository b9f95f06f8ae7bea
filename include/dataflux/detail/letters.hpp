#pragma once

#include <dataflux/detail/config.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: of ASCII alone, whatever the locale; any other byte is itself.
constexpr char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
