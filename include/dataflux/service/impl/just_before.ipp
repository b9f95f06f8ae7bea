#pragma once

#include <dataflux/service/detail/just_before.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// Of the last code point of a text in UTF-8: where it begins, and which it is.
inline std::pair<std::size_t, std::uint32_t> last_code_point(std::string_view text) noexcept {
  std::size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) --at;
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = text.size() - at;
  std::uint32_t point = length == 1 ? lead : lead & (0x7FU >> length);
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    point = point << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  return {at, point};
}

inline void append_code_point(std::string& out, std::uint32_t point) {
  const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xC0U | point >> 6U);
  } else if (point < 0x10000) {
    put(0xE0U | point >> 12U);
    put(0x80U | (point >> 6U & 0x3FU));
  } else {
    put(0xF0U | point >> 18U);
    put(0x80U | (point >> 12U & 0x3FU));
    put(0x80U | (point >> 6U & 0x3FU));
  }
  put(0x80U | (point & 0x3FU));
}

DATAFLUX_INLINE std::string just_before(std::string_view start) {
  if (start.empty()) return {};
  auto [at, point] = last_code_point(start);
  std::string out{start.substr(0, at)};
  if (point == 0) return out;
  point = point == 0xE000 ? 0xD7FF : point - 1;  // no text has what is between
  append_code_point(out, point);
  append_code_point(out, 0x10FFFF);
  return out;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
