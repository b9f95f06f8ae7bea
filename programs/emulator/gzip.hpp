#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace emulator {

/// The decompressed bytes; empty optional when they are not one well-formed gzip member.
std::optional<std::string> gunzip(std::string_view bytes);
std::string gzip(std::string_view bytes);

}  // namespace emulator
