#pragma once

#include <dataflux/result.hpp>

#include <vector>

#include "commands.hpp"
#include "location.hpp"
#include "selecting.hpp"

namespace cli {

/// What one command copies, and where to.
struct copy_ends {
  std::vector<source> sources{};
  location target{};
};
/// Errors: invalid_argument for what no copy can be, before any request; those of parse_sources().
dataflux::result<copy_ends> parse_ends(const session& with, const cp_options& options);

}  // namespace cli
