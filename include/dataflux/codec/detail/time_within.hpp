#pragma once

#include <dataflux/codec/timestamp.hpp>

#include <optional>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// parse_timestamp(), and nothing for a time that a timestamp does not reach to: of a date on which
/// something happened the end of the span would be a wrong one.
inline std::optional<timestamp> parse_time_within(std::string_view text) {
  const auto time = parse_timestamp(text);
  const bool within = time && *time != timestamp::min() && *time != timestamp::max();
  return within ? time : std::nullopt;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
