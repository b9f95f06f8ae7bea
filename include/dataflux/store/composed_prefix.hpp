#pragma once

#include <dataflux/config.hpp>

#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {

/// Below it lie objects that were composed for a download and removed after it; what is still there
/// is in use, or a leftover (download/sweep.hpp).
inline constexpr std::string_view composed_objects_prefix = "dataflux-composed-objects/";

}  // namespace dataflux::inline DATAFLUX_ABI
