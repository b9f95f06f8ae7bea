#pragma once

#include <dataflux/detail/hexadecimal.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

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
