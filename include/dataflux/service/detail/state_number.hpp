#pragma once

#include <dataflux/detail/config.hpp>

#include <cstdint>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// The number by which the library knows a state of an object that the service names by a text: the
/// first 63 bits of the text's SHA-256, and 0 for an empty one alone. The same in every process and
/// version, since records keep it. Two numbers have no order. Who writes objects may choose the
/// text, hence no faster hash. Thread-safe. Cost: half a microsecond.
std::int64_t state_number(std::string_view name);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/service/impl/state_number.ipp>
#endif
