#pragma once

#include <dataflux/codec/json_writer.hpp>

#include <cstddef>

namespace dataflux::inline DATAFLUX_ABI::codec {

namespace detail {

/// The letter after '\' in the short escape of `c`, 0 where there is none.
inline char short_escape(char c) noexcept {
  switch (c) {
    case '"':
      return '"';
    case '\\':
      return '\\';
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return '\0';
  }
}

}  // namespace detail

DATAFLUX_INLINE void append_json_string(std::string& out, std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  out += '"';
  std::size_t plain = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
    out.append(text.substr(plain, i - plain));
    plain = i + 1;
    out += '\\';
    if (const char letter = detail::short_escape(text[i]); letter != '\0') {
      out += letter;
    } else {
      out += "u00";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  out.append(text.substr(plain));
  out += '"';
}

DATAFLUX_INLINE void json_writer::separate() {
  if (comma_) out_ += ',';
  comma_ = true;
}

DATAFLUX_INLINE json_writer& json_writer::begin_object() {
  separate();
  out_ += '{';
  comma_ = false;
  return *this;
}
DATAFLUX_INLINE json_writer& json_writer::end_object() {
  out_ += '}';
  comma_ = true;
  return *this;
}
DATAFLUX_INLINE json_writer& json_writer::begin_array() {
  separate();
  out_ += '[';
  comma_ = false;
  return *this;
}
DATAFLUX_INLINE json_writer& json_writer::end_array() {
  out_ += ']';
  comma_ = true;
  return *this;
}
DATAFLUX_INLINE json_writer& json_writer::key(std::string_view name) {
  separate();
  append_json_string(out_, name);
  out_ += ':';
  comma_ = false;
  return *this;
}
DATAFLUX_INLINE json_writer& json_writer::string(std::string_view text) {
  separate();
  append_json_string(out_, text);
  return *this;
}
DATAFLUX_INLINE json_writer& json_writer::null() {
  separate();
  out_ += "null";
  return *this;
}
DATAFLUX_INLINE json_writer& json_writer::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
  return *this;
}
DATAFLUX_INLINE json_writer& json_writer::integer(std::int64_t value) {
  separate();
  out_ += std::to_string(value);
  return *this;
}
DATAFLUX_INLINE json_writer& json_writer::decimal_string(std::int64_t value) {
  return string(std::to_string(value));
}

}  // namespace dataflux::inline DATAFLUX_ABI::codec
