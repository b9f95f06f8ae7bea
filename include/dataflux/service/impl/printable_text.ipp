#pragma once

#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/detail/text.hpp>
#include <dataflux/http/detail/message.hpp>
#include <dataflux/service/detail/printable_text.hpp>
#include <dataflux/service/detail/text.hpp>

#include <algorithm>
#include <initializer_list>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

inline bool is_word_character(char c) noexcept {
  const char lower = static_cast<char>(c | 0x20);
  return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view{"-._~+/=%"}.find(c) != std::string_view::npos;
}

/// How many bytes of a word may be shown: up to where a token begins by its form (OAuth access
/// tokens, JWTs), none of one that "Bearer" announces, and of an upload session, a signature and a
/// session of AWS only that they are named, since each is a bearer secret.
inline std::size_t shown_part(std::string_view word, std::string_view before) noexcept {
  if (http::equals_ignoring_case(before, "bearer") && word.size() >= 16) return 0;
  std::size_t shown = std::min(word.size(), word.find("ya29."));
  if (const std::size_t jwt = word.find("eyJ"); jwt < shown && word.size() - jwt >= 16) shown = jwt;
  for (const std::string_view name :
       std::initializer_list<std::string_view>{"upload_id=", "Signature=", "Security-Token="}) {
    if (const std::size_t at = word.find(name); at < shown) shown = at + name.size();
  }
  return shown;
}

inline std::string blank_out_tokens(std::string_view text) {
  std::string out;
  std::string_view before;
  while (!text.empty()) {
    std::size_t length = 0;
    while (length < text.size() && is_word_character(text[length])) ++length;
    if (length == 0) {
      out.push_back(text.front());
      text.remove_prefix(1);
      continue;
    }
    const std::string_view word = text.substr(0, length);
    const std::size_t shown = shown_part(word, before);
    out.append(word.substr(0, shown)).append(shown == length ? "" : "[removed]");
    before = word;
    text.remove_prefix(length);
  }
  return out;
}

/// Bytes of the character at the front, 0 when it is broken.
inline std::size_t character_length(std::string_view text) noexcept {
  for (std::size_t length = 1; length <= std::min<std::size_t>(4, text.size()); ++length) {
    if (codec::is_valid_utf8(text.substr(0, length))) return length;
  }
  return 0;
}

inline bool is_control_character(std::string_view character) noexcept {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return detail::length_of_break(character) != 0;
}

DATAFLUX_INLINE std::string printable_text(std::string_view text, std::size_t limit) {
  // Tokens first: one that is cut in two would not be known by its form.
  const std::string safe = blank_out_tokens(trim(text).substr(0, 4 * limit));
  std::string_view rest = safe;
  std::string out;
  while (!rest.empty()) {
    const std::size_t length = character_length(rest);
    std::string_view shown = rest.substr(0, std::max<std::size_t>(length, 1));
    rest.remove_prefix(shown.size());
    if (length == 0) shown = "?";
    if (is_control_character(shown)) shown = " ";
    if (shown == " " && out.ends_with(' ')) continue;
    if (out.size() + shown.size() > limit) {
      out.resize(std::min(out.size(), limit - std::min<std::size_t>(limit, 3)));
      out.resize(detail::whole_characters(out).size());
      return limit < 3 ? out : out.append("...");
    }
    out.append(shown);
  }
  return out;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
