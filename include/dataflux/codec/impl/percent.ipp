#pragma once

#include <dataflux/codec/percent.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::codec {

namespace detail {

using byte_table = std::array<std::uint8_t, 256>;

/// 1 for a byte that needs an escape, 0 for one that stands for itself.
constexpr byte_table make_escape_table(bool keep_slash) {
  byte_table table{};
  for (std::size_t c = 0; c < 256; ++c) {
    const bool alphanumeric =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    const bool mark = c == '-' || c == '.' || c == '_' || c == '~' || (keep_slash && c == '/');
    table[c] = alphanumeric || mark ? 0 : 1;
  }
  return table;
}
inline constexpr byte_table escape_in_segment = make_escape_table(false);
inline constexpr byte_table escape_in_path = make_escape_table(true);

inline void append_percent_by(const byte_table& escape, std::string& out, std::string_view text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::size_t escapes = 0;
  for (const char c : text) escapes += escape[static_cast<unsigned char>(c)];
  if (escapes == 0) {
    out.append(text);
    return;
  }
  const std::size_t at = out.size();
  out.resize(at + text.size() + 2 * escapes);
  char* to = out.data() + at;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (escape[byte] == 0) {
      *to++ = c;
    } else {
      to[0] = '%';
      to[1] = digits[byte >> 4];
      to[2] = digits[byte & 15];
      to += 3;
    }
  }
}

inline int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace detail

DATAFLUX_INLINE void append_percent(std::string& out, std::string_view text) {
  detail::append_percent_by(detail::escape_in_segment, out, text);
}

DATAFLUX_INLINE void append_percent_path(std::string& out, std::string_view text) {
  detail::append_percent_by(detail::escape_in_path, out, text);
}

DATAFLUX_INLINE std::string encode_percent(std::string_view text) {
  std::string out;
  append_percent(out, text);
  return out;
}

DATAFLUX_INLINE std::optional<std::string> decode_percent(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const int high = detail::hex_value(text[i + 1]);
    const int low = detail::hex_value(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace dataflux::inline DATAFLUX_ABI::codec
