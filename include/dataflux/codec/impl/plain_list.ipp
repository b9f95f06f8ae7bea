#pragma once

#include <dataflux/codec/detail/decimal.hpp>
#include <dataflux/codec/detail/object_list.hpp>
#include <dataflux/codec/detail/plain_json.hpp>
#include <dataflux/codec/detail/plain_list.hpp>
#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/codec/impl/crc32c.ipp>  // has the text form's inline reader

#include <cstdint>

/// Functions give false where the page is not plain.
namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// The padding of the page is behind the text: see read_count().
[[gnu::always_inline]] inline bool take_member(plain_text& in, std::string_view& key,
                                               std::string_view& value) noexcept {
  return in.take() == '"' && in.take_string(key) && in.take() == ':' && in.take() == '"' &&
         in.take_string(value);
}

[[gnu::always_inline]] inline bool take_item(plain_text& in, object_list_item& item) noexcept {
  item.crc32c.reset();
  unsigned seen = 0;
  for (;;) {
    std::string_view key;
    std::string_view value;
    if (!take_member(in, key, value)) return false;
    unsigned bit = 0;
    if (is_key(key.data(), "name")) {
      bit = 1;
      item.name = value;
    } else if (is_key(key.data(), "size")) {
      bit = 2;
      item.size = read_count(value);
      if (item.size == no_count) return false;
    } else if (is_key(key.data(), "generation")) {
      bit = 4;
      const std::uint64_t generation = read_count(value);
      if (generation == no_count) return false;
      item.generation = static_cast<std::int64_t>(generation);
    } else if (is_key(key.data(), "crc32c")) {
      bit = 8;
      const std::uint64_t crc = value.size() == 8 ? read_crc32c_text(value.data()) : no_count;
      if (crc > 0xFFFFFFFFU) return false;
      item.crc32c = static_cast<std::uint32_t>(crc);
    }
    if ((seen & bit) != 0) return false;
    seen |= bit;
    const char next = in.take();
    if (next == ',') continue;
    return next == '}' && (seen & 7U) == 7 && !item.name.empty();
  }
}

[[gnu::always_inline]] inline bool take_items(plain_text& in, object_list_visitor& visitor,
                                              object_list_end& end) {
  if (in.take() != '[') return false;
  object_list_item item;
  for (;;) {
    if (in.take() != '{' || !take_item(in, item)) return false;
    ++end.objects;
    visitor.on_object(item);
    const char next = in.take();
    if (next != ',') return next == ']';
  }
}

[[gnu::always_inline]] inline bool take_prefixes(plain_text& in, object_list_visitor& visitor,
                                                 object_list_end& end) {
  if (in.take() != '[') return false;
  for (;;) {
    std::string_view prefix;
    if (in.take() != '"' || !in.take_string(prefix) || prefix.empty()) return false;
    ++end.prefixes;
    visitor.on_prefix(prefix);
    const char next = in.take();
    if (next != ',') return next == ']';
  }
}

DATAFLUX_INLINE bool read_plain_list(std::string_view page, object_list_visitor& visitor,
                                     object_list_end& end) {
  plain_text in{page};
  if (in.take() != '{') return false;
  unsigned seen = 0;
  for (;;) {
    std::string_view key;
    if (in.take() != '"' || !in.take_string(key) || in.take() != ':') return false;
    const unsigned bit = key == "items"           ? 1
                         : key == "prefixes"      ? 2
                         : key == "nextPageToken" ? 4
                                                  : 0;
    if ((seen & bit) != 0) return false;
    seen |= bit;
    std::string_view text;
    const bool good = bit == 1   ? take_items(in, visitor, end)
                      : bit == 2 ? take_prefixes(in, visitor, end)
                                 : in.take() == '"' && in.take_string(text);
    if (!good) return false;
    if (bit == 4) end.next_page_token = text;
    const char next = in.take();
    if (next == ',') continue;
    if (next != '}' || in.rest().find_first_not_of(" \t\r\n") != std::string_view::npos) {
      return false;
    }
    return in.ascii() || is_valid_utf8(page);
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
