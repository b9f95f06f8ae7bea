#pragma once

#include <dataflux/detail/config.hpp>

#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// For listings that begin behind a name, and not at one: the greatest text that no name >= `start`
/// is behind, as far as text goes. What lies behind it is all names >= `start`, and may be some
/// before that, which the page drops. `start` is UTF-8, and so is this.
std::string just_before(std::string_view start);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/service/impl/just_before.ipp>
#endif
