#pragma once

#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/detail/plain_json.hpp>
#include <dataflux/detail/hexadecimal.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

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
