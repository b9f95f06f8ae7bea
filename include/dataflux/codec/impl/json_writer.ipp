#pragma once

#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/detail/plain_json.hpp>
#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/codec/impl/utf8.ipp>
#include <dataflux/detail/hexadecimal.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

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

DATAFLUX_INLINE void append_json_string(std::string& out, std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const char* mark = find_json_mark(at, end);
  if (mark == end) {  // nearly always
    const std::size_t before = out.size();
    out.resize(before + text.size() + 2, '"');
    text.copy(out.data() + before + 1, text.size());
    return;
  }
  out += '"';
  for (;; mark = find_json_mark(at, end)) {
    out.append(at, static_cast<std::size_t>(mark - at));
    if (mark == end) break;
    out += '\\';
    if (const char letter = short_escape(*mark); letter != '\0') {
      out += letter;
    } else {
      append_hex(out += "u00", static_cast<unsigned char>(*mark), 2);
    }
    at = mark + 1;
  }
  out += '"';
}

/// The character at `at`, and how many bytes it has; U+FFFD for a byte that begins none.
inline std::pair<std::uint32_t, std::size_t> character_at(std::string_view text, std::size_t at) {
  const auto* const p = reinterpret_cast<const unsigned char*>(text.data()) + at;
  const std::size_t length = utf8_sequence(p, text.size() - at);
  if (length == 0) return {0xFFFD, 1};
  std::uint32_t code = p[0] & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) code = code << 6U | (p[i] & 0x3FU);
  return {code, length};
}

DATAFLUX_INLINE std::string to_ascii_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t at = 0; at < json.size();) {
    if (static_cast<unsigned char>(json[at]) < 0x80) {
      out += json[at++];
      continue;
    }
    const auto [code, length] = character_at(json, at);
    at += length;
    if (code < 0x10000) {
      append_hex(out += "\\u", code, 4);
    } else {  // two of UTF-16
      append_hex(out += "\\u", 0xD800 + ((code - 0x10000) >> 10U), 4);
      append_hex(out += "\\u", 0xDC00 + ((code - 0x10000) & 0x3FFU), 4);
    }
  }
  return out;
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
DATAFLUX_INLINE json_writer& json_writer::natural(std::uint64_t value) {
  separate();
  out_ += std::to_string(value);
  return *this;
}
DATAFLUX_INLINE json_writer& json_writer::number(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  out_.append(text.data(), end);
  return *this;
}
DATAFLUX_INLINE json_writer& json_writer::decimal_string(std::int64_t value) {
  return string(std::to_string(value));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
