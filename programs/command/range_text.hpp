#pragma once

#include <dataflux/bytes.hpp>

#include <optional>
#include <string_view>

namespace cli {

/// "FIRST-LAST" (both included, as HTTP has it), "FIRST-", "-COUNT" (the last so many bytes), ""
/// (all). Nothing for any other text, an empty range, or numbers beyond 2^63 - 1. Pure.
std::optional<dataflux::byte_range> parse_range(std::string_view text) noexcept;

}  // namespace cli
