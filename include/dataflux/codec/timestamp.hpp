#pragma once

#include <dataflux/detail/config.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

/// Times of RFC 3339 as the service writes them (protocol.md 0): a fraction of 0 to 9 digits, and
/// `Z`. Pure and thread-safe, free of locale and time zone data.
namespace dataflux::inline DATAFLUX_ABI {

/// A point in time since 1970-01-01T00:00:00Z without leap seconds; spans 1677-09-21 to 2262-04-11.
using timestamp = std::chrono::sys_time<std::chrono::nanoseconds>;

/// Reads `YYYY-MM-DDTHH:MM:SS[.fraction](Z|+HH:MM|-HH:MM)`; `t` and `z` are read too.
///
/// nullopt for any other shape, a date that does not exist, a field out of its range, or more than
/// nine digits of fraction. A time beyond the span of `timestamp` becomes the end of it: a writer's
/// custom time may say "9999-12-31T23:59:59Z" for never, and such an object is no broken one. A
/// leap second (23:59:60 in UTC, and no other :60) is read as the second after it, which is how
/// system clocks count.
std::optional<timestamp> parse_timestamp(std::string_view text);

/// `YYYY-MM-DDTHH:MM:SS[.fraction]Z` with 0, 3, 6 or 9 digits of fraction, as few as lose nothing.
/// Every timestamp comes back equal from parse_timestamp().
std::string to_string(timestamp time);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/timestamp.ipp>
#endif
