#pragma once

#include <dataflux/detail/config.hpp>

#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// How an error begins that comes since the time of a call is over.
inline constexpr std::string_view timeout_text{"the call's timeout has passed"};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
