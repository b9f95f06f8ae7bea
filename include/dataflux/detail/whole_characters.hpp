#pragma once

#include <dataflux/detail/config.hpp>

#include <cstddef>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: `text`, which is the beginning of some UTF-8, without the character at its end of which
/// only a part is there.
inline std::string_view whole_characters(std::string_view text) noexcept {
  std::size_t bytes = 1;  // of the last character, as far as they are there
  const auto at = [&] { return static_cast<unsigned char>(text[text.size() - bytes]); };
  while (bytes < 4 && bytes < text.size() && (at() & 0xC0U) == 0x80U) ++bytes;
  if (text.empty() || at() < 0xC0) return text;
  const std::size_t whole = at() < 0xE0 ? 2 : at() < 0xF0 ? 3 : 4;
  return bytes < whole ? text.substr(0, text.size() - bytes) : text;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
