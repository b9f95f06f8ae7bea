#pragma once

#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/gcs/detail/object_reader.hpp>
#include <dataflux/store/detail/attributes.hpp>
#include <dataflux/store/resumable.hpp>

#include <limits>
#include <type_traits>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

static_assert(object_members.size() <= 32);

/// Where a key is looked for: one place each.
constexpr std::size_t place_of(std::string_view key) noexcept {
  const auto first = static_cast<unsigned char>(key.front());
  const auto last = static_cast<unsigned char>(key.back());
  return (key.size() * 4 + first + last * std::size_t{3}) % 64;
}
/// An index of object_members, or their number.
inline constexpr std::array<std::uint8_t, 64> object_places = [] {
  std::array<std::uint8_t, 64> places{};
  for (std::uint8_t& place : places) place = object_members.size();
  for (std::size_t k = 0; k < object_members.size(); ++k) {
    places[place_of(object_members[k].key)] = static_cast<std::uint8_t>(k);
  }
  return places;
}();
static_assert(
    [] {
      for (std::size_t k = 0; k < object_members.size(); ++k) {
        if (object_places[place_of(object_members[k].key)] != k) return false;
      }
      return true;
    }(),
    "two keys have one place: choose other factors");

/// Without a call: each of the twenty keys of a resource is compared.
inline bool is_key(std::string_view known, std::string_view key) noexcept {
  const std::size_t size = key.size();
  if (known.size() != size) return false;
  if (size < 8) return known == key;
  const auto same = [&](std::size_t at) {
    return codec::load_eight(known.data() + at) == codec::load_eight(key.data() + at);
  };
  for (std::size_t at = 0; at + 8 < size; at += 8) {
    if (!same(at)) return false;
  }
  return same(size - 8);
}

DATAFLUX_INLINE std::size_t object_reader::find(std::string_view key) const noexcept {
  if (key.empty()) return object_members.size();
  const std::size_t member = object_places[place_of(key)];
  if (member == object_members.size() || !is_key(object_members[member].key, key)) {
    return object_members.size();
  }
  return has(asked_, object_members[member].field) ? member : object_members.size();
}

DATAFLUX_INLINE bool object_reader::is_new(std::size_t member) noexcept {
  const std::uint32_t bit = 1U << member;
  if ((seen_ & bit) != 0) return false;
  seen_ |= bit;
  return true;
}

template <class Value>
void object_reader::take(const object_member& member, const Value& value) {
  if (value.kind() == codec::json_kind::null) return;
  present_ |= 1U << static_cast<std::size_t>(&member - object_members.data());
  const auto into = [&](auto place) {
    auto& out = out_.*place;
    using target = std::remove_reference_t<decltype(out)>;
    if constexpr (std::is_same_v<target, std::string>) {
      const auto text = value.text();
      if (text) out = *text;
      return text.has_value();
    } else if constexpr (std::is_integral_v<target>) {
      const auto number = value.int64();
      const bool fits = number && *number >= 0 &&
                        static_cast<std::uint64_t>(*number) <=
                            static_cast<std::uint64_t>(std::numeric_limits<target>::max());
      if (fits) out = static_cast<target>(*number);
      // A reply that says more is nobody's, and no memory is asked for by it.
      if constexpr (std::is_same_v<target, std::uint64_t>) {
        return fits && out <= greatest_object_size;
      }
      return fits;
    } else if constexpr (std::is_same_v<target, std::optional<timestamp>>) {
      out = parse_timestamp(value.text().value_or(std::string_view{}));
      return out.has_value();
    } else if constexpr (std::is_same_v<target, std::optional<std::uint32_t>>) {
      out = decode_crc32c(value.text().value_or(std::string_view{}));
      return out.has_value();
    } else {
      return value.kind() == codec::json_kind::object;  // its entries come one by one
    }
  };
  check(std::visit(into, member.into), member.key);
}

/// Of the custom metadata.
template <class Value>
void object_reader::take_entry(std::string_view key, const Value& value) {
  const auto text = value.text();
  check(text.has_value(), "metadata");
  if (key == upload_mark_key) {
    out_.upload_mark = text.value_or(std::string_view{});
  } else {
    out_.metadata.emplace_back(key, text.value_or(std::string_view{}));
  }
}

DATAFLUX_INLINE bool object_reader::read(std::string_view text) {
  codec::plain_reader in{text};
  std::size_t member = object_members.size();  // the last one of the resource itself
  while (in.next()) {
    const codec::plain_value value = in.value();  // a copy, or the reader would be in memory
    if (in.parent().empty()) {
      member = find(in.key());
      if (member == object_members.size()) continue;
      if (!is_new(member)) return false;
      take(object_members[member], value);
    } else if (member != object_members.size()) {
      if (object_members[member].field != metadata_fields::metadata) return false;
      take_entry(in.key(), value);
    }
  }
  if (!in.complete() || in.rest().find_first_not_of(" \t\r\n") != std::string_view::npos) {
    return false;
  }
  return in.ascii() || codec::is_valid_utf8(text);
}

DATAFLUX_INLINE void object_reader::read(codec::json_value resource) {
  for (const codec::json_member& each : resource.members()) {
    const std::size_t member = find(each.key);
    if (member == object_members.size() || !is_new(member)) continue;
    take(object_members[member], each.value);
    if (object_members[member].field != metadata_fields::metadata) continue;
    for (const codec::json_member& entry : each.value.members()) {
      take_entry(entry.key, entry.value);
    }
  }
}

DATAFLUX_INLINE std::string_view object_reader::fault() const noexcept {
  constexpr std::size_t required = 2;  // name, generation
  for (std::size_t k = 0; k < required; ++k) {
    if ((present_ & (1U << k)) == 0) return object_members[k].key;
  }
  // Left out it is 0, if the checksum is that of no bytes.
  const bool sized = (present_ & (1U << required)) != 0;
  if (!sized && out_.crc32c != 0U) return object_members[required].key;
  return fault_;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs
