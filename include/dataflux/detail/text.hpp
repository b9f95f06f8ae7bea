#pragma once

#include <dataflux/detail/config.hpp>
#include <dataflux/detail/hexadecimal.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Of ASCII alone, whatever the locale; any other byte is itself.
constexpr char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

/// `text`, which is the beginning of some UTF-8, without the character at its end of which
/// only a part is there.
inline std::string_view whole_characters(std::string_view text) noexcept {
  std::size_t bytes = 1;  // of the last character, as far as they are there
  const auto at = [&] { return static_cast<unsigned char>(text[text.size() - bytes]); };
  while (bytes < 4 && bytes < text.size() && (at() & 0xC0U) == 0x80U) ++bytes;
  if (text.empty() || at() < 0xC0) return text;
  const std::size_t whole = at() < 0xE0 ? 2 : at() < 0xF0 ? 3 : 4;
  return bytes < whole ? text.substr(0, text.size() - bytes) : text;
}

/// How many bytes at the front of `text` are a character of UTF-8 that may end a line: U+0080 to
/// U+009F, of which NEL is one, and the separators U+2028 and U+2029. 0 for any other.
inline std::size_t length_of_break(std::string_view text) noexcept {
  const auto at = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  if (text.size() >= 2 && at(0) == 0xc2 && at(1) >= 0x80 && at(1) < 0xa0) return 2;
  if (text.size() < 3 || at(0) != 0xe2 || at(1) != 0x80) return 0;
  return at(2) == 0xa8 || at(2) == 0xa9 ? 3 : 0;
}

/// Appends `text` with control characters and breaks of lines as \xHH of each byte: names come from
/// users and servers, and none must break a line of a log in two.
inline void append_escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    std::size_t escaped = first < 0x20 || first == 0x7f ? 1 : length_of_break(text);
    if (escaped == 0) out += text.front();
    text.remove_prefix(escaped == 0 ? 1 : 0);
    for (; escaped > 0; --escaped, text.remove_prefix(1)) {
      append_hex(out += "\\x", static_cast<unsigned char>(text.front()), 2);
    }
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
