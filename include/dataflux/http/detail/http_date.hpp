#pragma once

#include <dataflux/codec/timestamp.hpp>

#include <optional>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// The time of a Date field in HTTP's own form ("Fri, 24 May 2013 00:00:00 GMT"), to the second;
/// nothing for the older forms of RFC 9110 5.6.7, for a time that a timestamp does not reach to,
/// and for any other text. Pure, thread-safe.
std::optional<timestamp> parse_http_date(std::string_view text);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/http_date.ipp>
#endif
