#pragma once

#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/http/detail/message.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

/// Small readers of header fields and bodies.
namespace dataflux::inline DATAFLUX_ABI::detail::service {

inline std::string_view trim(std::string_view text) noexcept {
  constexpr std::string_view blanks{" \t\r\n"};
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

inline bool starts_with_ignoring_case(std::string_view text, std::string_view start) noexcept {
  return http::equals_ignoring_case(text.substr(0, start.size()), start);
}

/// npos when there is none. For texts of a few KiB at most.
inline std::size_t find_ignoring_case(std::string_view text, std::string_view wanted) noexcept {
  for (std::size_t i = 0; i + wanted.size() <= text.size(); ++i) {
    if (starts_with_ignoring_case(text.substr(i), wanted)) return i;
  }
  return std::string_view::npos;
}

/// A header field's value as UTF-8. What is none is read as ISO 8859-1, as HTTP once had it, so
/// that no byte is lost. Uses the memory of `out` again.
inline void set_header_text(std::string& out, std::string_view value) {
  if (codec::is_valid_utf8(value)) {
    out = value;
    return;
  }
  out.clear();
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) out.push_back(static_cast<char>(0xC0U | byte >> 6U));
    out.push_back(static_cast<char>(byte < 0x80 ? byte : 0x80U | (byte & 0x3FU)));
  }
}

/// An ETag that is no UTF-8 counts as none: it could not be said again.
inline std::string_view tag_in(std::string_view value) noexcept {
  return codec::is_valid_utf8(value) ? value : std::string_view{};
}

/// "https://host" of "https://user:password@host/path?secret".
inline std::string_view origin_in(std::string& url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) return {};
  const std::size_t start = scheme + 3;
  url.erase(std::min(url.find_first_of("/?#", start), url.size()));
  if (const std::size_t user = url.rfind('@'); user != std::string::npos && user >= start) {
    url.erase(start, user + 1 - start);
  }
  return url;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
