#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cli {

/// The word of `known` that somebody who typed `word` is likely to have meant: with few letters
/// wrong, left out, added or swapped. Empty where none is near.
std::string nearest(std::string_view word, std::span<const std::string> known);

}  // namespace cli
