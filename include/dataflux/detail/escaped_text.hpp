#pragma once

#include <dataflux/detail/hexadecimal.hpp>

#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Appends `text` with control characters as \xHH: names come from users and servers, and none must
/// break a line of a log in two.
inline void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      append_hex(out += "\\x", byte, 2);
    } else {
      out += c;
    }
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
