#pragma once

#include <dataflux/codec/timestamp.hpp>
#include <dataflux/detail/hexadecimal.hpp>
#include <dataflux/transfer/detail/age.hpp>
#include <dataflux/transfer/detail/composite_label.hpp>
#include <dataflux/version.hpp>

#include <algorithm>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::size_t composite_digits = 32;
inline constexpr std::string_view creator_key{"dataflux-creator"};
inline constexpr std::string_view created_key{"dataflux-created"};
inline constexpr std::string_view expires_key{"dataflux-expires"};
inline constexpr std::string_view creator_start{"dataflux/"};

DATAFLUX_INLINE std::string composite_name(std::uint64_t high, std::uint64_t low) {
  std::string name(composed_objects_prefix);
  append_hex(name, high);
  append_hex(name, low);
  return name;
}

DATAFLUX_INLINE bool is_composite_name(std::string_view name) noexcept {
  if (!name.starts_with(composed_objects_prefix)) return false;
  name.remove_prefix(composed_objects_prefix.size());
  return name.size() == composite_digits && is_hex(name);
}

DATAFLUX_INLINE composite_label make_composite_label(timestamp now, duration lifetime) {
  // A second is enough for an hour's span, and the service keeps no less of a custom time.
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  return {.creator = std::string(creator_start) + DATAFLUX_VERSION,
          .created = second,
          .expires = later(second, std::max(lifetime, duration{0}))};
}

DATAFLUX_INLINE std::vector<std::pair<std::string, std::string>> to_metadata(
    const composite_label& label) {
  return {{std::string(creator_key), label.creator},
          {std::string(created_key), to_string(label.created)},
          {std::string(expires_key), to_string(label.expires)}};
}

DATAFLUX_INLINE std::optional<composite_label> parse_composite_label(
    std::span<const std::pair<std::string, std::string>> metadata) {
  composite_label label;
  std::optional<timestamp> created;
  std::optional<timestamp> expires;
  for (const auto& [key, value] : metadata) {
    if (key == creator_key) label.creator = value;
    if (key == created_key) created = parse_timestamp(value);
    if (key == expires_key) expires = parse_timestamp(value);
  }
  if (!label.creator.starts_with(creator_start) || !created || !expires) {
    return std::nullopt;
  }
  label.created = *created;
  label.expires = *expires;
  if (label.created < timestamp{} || label.expires < label.created) return std::nullopt;
  return label;
}

DATAFLUX_INLINE bool composite_expired(const composite_label& label, timestamp created,
                                       timestamp now, std::optional<duration> older_than) noexcept {
  const duration of_use = older_than ? *older_than : label.expires - label.created;
  return later(created, std::max(of_use, duration{0})) <= now;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
