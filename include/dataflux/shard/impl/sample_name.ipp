#pragma once

#include <dataflux/detail/text.hpp>
#include <dataflux/shard/detail/sample_name.hpp>

#include <algorithm>
#include <cstddef>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// webdataset drops these by two rules. The first: no slash, and "__" at both ends, which may be
/// the same two. The second is the pattern "__[^/]*__($|/)" at the front, where `$` is also before
/// a line break that ends the name.
inline bool is_hidden(std::string_view name) noexcept {
  constexpr std::string_view mark{"__"};
  const std::size_t slash = name.find('/');
  std::string_view first = name.substr(0, slash);
  if (!first.starts_with(mark)) return false;
  const bool alone = slash == std::string_view::npos;
  if (alone && first.ends_with(mark)) return true;
  if (alone && first.ends_with('\n')) first.remove_suffix(1);
  return first.size() >= 2 * mark.size() && first.ends_with(mark);
}

/// True if the pattern "(.*/|)[^.]+" matches all of `head`, what is before the dot. `.*` passes no
/// line break.
inline bool is_key(std::string_view head) noexcept {
  if (head.empty()) return false;
  // At least one character is behind the slash.
  const std::string_view line = head.substr(0, std::min(head.size() - 1, head.find('\n')));
  const std::size_t slash = line.rfind('/');
  return head.find('.', slash == std::string_view::npos ? 0 : slash + 1) == std::string_view::npos;
}

DATAFLUX_INLINE sample_name split_name(std::string_view name) noexcept {
  if (is_hidden(name)) return {{}, {}, membership::hidden};
  const std::size_t slash = name.rfind('/');
  const std::size_t dot = name.find('.', slash == std::string_view::npos ? 0 : slash + 1);
  if (dot == std::string_view::npos || !is_key(name.substr(0, dot))) {
    return {{}, {}, membership::no_field};
  }
  return {name.substr(0, dot), name.substr(dot + 1), membership::sample};
}

DATAFLUX_INLINE std::string_view lower_field(std::string_view field, std::string& memory) {
  bool changes = false;
  for (const char c : field) {
    if (static_cast<unsigned char>(c) >= 0x80) return field;
    changes = changes || to_lower(c) != c;
  }
  if (!changes) return field;
  memory.assign(field);
  for (char& c : memory) c = to_lower(c);
  return memory;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
