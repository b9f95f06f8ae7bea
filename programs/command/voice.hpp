#pragma once

#include <cstdint>

namespace cli {

/// What standard error gets besides failures.
enum class voice : std::uint8_t {
  quiet,    ///< nothing
  usual,    ///< remarks, attempts, and a last line with counts
  verbose,  ///< a line for each name, too
};

}  // namespace cli
