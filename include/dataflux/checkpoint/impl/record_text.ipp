#pragma once

#include <dataflux/checkpoint/detail/record_text.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/detail/hexadecimal.hpp>

#include <algorithm>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE std::optional<std::uint32_t> parse_hex32(std::string_view text) noexcept {
  if (text.size() != 8 || !is_hex(text)) return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : text) value = value << 4U | static_cast<std::uint32_t>(hex_value(c));
  return value;
}

DATAFLUX_INLINE result<void> read_members(const codec::json_value& object,
                                          std::span<const std::string_view> keys,
                                          std::span<codec::json_value> values) {
  for (const codec::json_member& member : object.members()) {
    const auto place = std::find(keys.begin(), keys.end(), member.key) - keys.begin();
    const bool known = place != static_cast<std::ptrdiff_t>(keys.size());
    if (!known || values[static_cast<std::size_t>(place)]) {
      return error{errc::invalid_argument,
                   json_quoted(member.key) + (known ? " is there twice" : " is unknown here")};
    }
    values[static_cast<std::size_t>(place)] = member.value;
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!values[i]) return error{errc::invalid_argument, json_quoted(keys[i]) + " is missing"};
  }
  return {};
}

DATAFLUX_INLINE std::string json_quoted(std::string_view name) {
  std::string out;
  codec::append_json_string(out, name);
  return out;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
