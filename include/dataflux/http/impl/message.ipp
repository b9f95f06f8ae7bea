#pragma once

#include <dataflux/http/detail/characters.hpp>
#include <dataflux/http/detail/message.hpp>

#include <charconv>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// Fields that decide where a message ends or which server answers are the encoder's alone: a
/// second one from a caller would let two parties disagree about the framing.
inline bool is_encoder_field(std::string_view name) noexcept {
  switch (name.size()) {
    case 4:
      return same_letters(name, "host");
    case 10:
      return same_letters(name, "connection");
    case 14:
      return same_letters(name, "content-length");
    case 17:
      return same_letters(name, "transfer-encoding");
    default:
      return false;
  }
}

inline bool is_field_value(std::string_view value) noexcept {
  const char* const last = value.data() + value.size();
  for (const char* at = find_control(value.data(), last); at != last;
       at = find_control(at + 1, last)) {
    if (*at == '\r' || *at == '\n' || *at == '\0') return false;
  }
  return true;
}

DATAFLUX_INLINE std::string_view to_string(method m) noexcept {
  switch (m) {
    case method::get:
      return "GET";
    case method::head:
      return "HEAD";
    case method::post:
      return "POST";
    case method::put:
      return "PUT";
    case method::del:
      return "DELETE";
    case method::patch:
      return "PATCH";
  }
  return "GET";
}

DATAFLUX_INLINE bool same_letters_of_same_size(std::string_view a, std::string_view b) noexcept {
  return same_letters(a, b);
}

DATAFLUX_INLINE void header_list::add(std::string_view name, std::string_view value) {
  if (!is_token(name) || is_encoder_field(name) || !is_field_value(value)) {
    valid_ = false;
    return;
  }
  if (wire_.empty()) wire_.reserve(512);
  append_all(wire_, {name, ": ", value, "\r\n"});
}

DATAFLUX_INLINE void header_list::add(std::string_view name, std::uint64_t value) {
  char digits[20];
  const auto [end, failure] = std::to_chars(digits, digits + sizeof digits, value);
  static_cast<void>(failure);  // 20 digits hold every 64-bit number
  add(name, std::string_view{digits, static_cast<std::size_t>(end - digits)});
}

DATAFLUX_INLINE void header_list::add(const header_list& others) {
  wire_.append(others.wire_);
  valid_ = valid_ && others.valid_;
}

DATAFLUX_INLINE void header_list::clear() noexcept {
  wire_.clear();
  valid_ = true;
}

DATAFLUX_INLINE std::optional<std::string_view> header_list::find(
    std::string_view name) const noexcept {
  std::string_view rest = wire_;
  while (!rest.empty()) {
    const std::size_t line = rest.find("\r\n");
    const std::size_t colon = rest.find(':');
    if (equals_ignoring_case(rest.substr(0, colon), name)) {
      return rest.substr(colon + 2, line - colon - 2);
    }
    rest.remove_prefix(line + 2);
  }
  return std::nullopt;
}

DATAFLUX_INLINE void request_body::append(bytes_view part) noexcept {
  if (part.empty()) return;
  if (count_ == max_parts) {
    valid_ = false;
    return;
  }
  parts_[count_++] = part;
  size_ += part.size();
}

DATAFLUX_INLINE void request::clear() noexcept {
  method = http::method::get;
  origin.reset();
  target.clear();
  headers.clear();
  body.clear();
}

DATAFLUX_INLINE std::optional<std::string_view> reply_head::find(
    std::string_view name) const noexcept {
  for (const field& f : fields_) {
    if (f.name.size() == name.size() && same_letters(f.name, name)) return f.value;
  }
  return std::nullopt;
}

DATAFLUX_INLINE void reply_head::assign(int status, std::vector<field> fields,
                                        std::optional<std::uint64_t> length) {
  status_ = status;
  fields_ = std::move(fields);
  content_length_ = length;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
