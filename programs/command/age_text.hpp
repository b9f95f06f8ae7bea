#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace cli {

/// "90s", "30m", "12h", "7d", "2w": a whole number and its unit. Nothing for any other text or for
/// more than a hundred years. Pure.
std::optional<std::chrono::seconds> parse_age(std::string_view text) noexcept;

}  // namespace cli
