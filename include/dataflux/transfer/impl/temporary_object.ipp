#pragma once

#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/detail/hexadecimal.hpp>
#include <dataflux/detail/text.hpp>
#include <dataflux/detail/unique_name.hpp>
#include <dataflux/store/detail/reserved_prefixes.hpp>
#include <dataflux/transfer/detail/temporary_object.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::size_t longest_temporary_name = 480;
inline constexpr std::size_t temporary_digit_count = 16;

DATAFLUX_INLINE std::string temporary_object_name(std::string_view object) {
  std::string name(temporary_objects_prefix);
  append_hex(name, system_entropy::bits());
  name += '-';
  codec::append_percent(name, object);
  if (name.size() > longest_temporary_name) name.resize(longest_temporary_name);
  return name;
}

DATAFLUX_INLINE std::optional<temporary_target> target_of_temporary(std::string_view name) {
  constexpr std::size_t digits = temporary_digit_count;
  const bool whole = name.size() < longest_temporary_name;
  if (!name.starts_with(temporary_objects_prefix)) return std::nullopt;
  name.remove_prefix(temporary_objects_prefix.size());
  if (name.size() <= digits || name[digits] != '-' || !is_hex(name.substr(0, digits))) {
    return std::nullopt;
  }
  name.remove_prefix(digits + 1);
  // It may be cut within an escape, and within a character.
  const auto escape = name.rfind('%');
  if (!whole && escape != std::string_view::npos && name.size() - escape < 3) {
    name = name.substr(0, escape);
  }
  auto object = codec::decode_percent(name);
  if (!object) return std::nullopt;
  if (!whole) object->resize(whole_characters(*object).size());
  if (object->empty() || !codec::is_valid_utf8(*object)) return std::nullopt;
  return temporary_target{*std::move(object), whole};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
