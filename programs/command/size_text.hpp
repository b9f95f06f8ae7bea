#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cli {

/// "512", "64K", "10M", "3G", "1T": bytes, by powers of 1024; small letters, too. nullopt for any
/// other text, and beyond 64 bits.
std::optional<std::uint64_t> parse_size(std::string_view text) noexcept;

}  // namespace cli
