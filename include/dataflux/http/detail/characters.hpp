#pragma once

#include <dataflux/detail/config.hpp>
#include <dataflux/detail/text.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

/// The character classes of RFC 9110, a fast scan for control characters, numbers.
namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// tchar of RFC 9110 5.6.2: what a field name consists of.
inline constexpr std::array<bool, 256> token_characters = [] {
  std::array<bool, 256> table{};
  for (int c = 0; c < 256; ++c) {
    const auto letter = static_cast<unsigned>(c | 0x20) - 'a';
    const auto digit = static_cast<unsigned>(c) - '0';
    table[static_cast<std::size_t>(c)] = letter < 26 || digit < 10;
  }
  for (const char c : std::string_view{"!#$%&'*+-.^_`|~"}) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}();

constexpr bool is_token_character(char c) noexcept {
  return token_characters[static_cast<unsigned char>(c)];
}
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }
/// CTL of RFC 5234: 0x00-0x1f and 0x7f.
constexpr bool is_control(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}
using detail::to_lower;

/// The first control character in [first, last), or last.
const char* find_control(const char* first, const char* last) noexcept;
/// The first control character or space in [first, last), or last.
const char* find_control_or_space(const char* first, const char* last) noexcept;
/// The first byte in [first, last) that no token has, or last.
const char* find_non_token(const char* first, const char* last) noexcept;

inline bool is_token(std::string_view text) noexcept {
  const char* const last = text.data() + text.size();
  return !text.empty() && find_non_token(text.data(), last) == last;
}

constexpr std::string_view trim_blanks(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Eight characters or fewer, the capitals among them in lower case.
template <std::size_t Count = 8>
std::uint64_t lower_word(const char* text) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101U;
  constexpr std::uint64_t tops = 0x8080808080808080U;
  std::uint64_t word = 0;
  std::memcpy(&word, text, Count);
  // The top bit of each byte says: at least 'A', beyond 'Z'. Bytes above 0x7f are no letters.
  const std::uint64_t low = word & ~tops;
  const std::uint64_t from_a = low + ones * (0x80 - 'A');
  const std::uint64_t beyond_z = low + ones * (0x7f - 'Z');
  return word | ((from_a & ~beyond_z & ~word & tops) >> 2U);
}

/// ASCII case-insensitive equality. Every field of every reply is compared with the names that
/// matter: eight characters a step, the last step overlapping the one before.
inline bool same_letters(std::string_view a, std::string_view b) noexcept {
  const std::size_t size = a.size();
  if (size != b.size()) return false;
  if (size < 8 && size >= 4) {
    return lower_word<4>(a.data()) == lower_word<4>(b.data()) &&
           lower_word<4>(a.data() + size - 4) == lower_word<4>(b.data() + size - 4);
  }
  if (size < 4) {
    for (std::size_t i = 0; i < size; ++i) {
      if (to_lower(a[i]) != to_lower(b[i])) return false;
    }
    return true;
  }
  if (lower_word(a.data() + size - 8) != lower_word(b.data() + size - 8)) return false;
  for (std::size_t i = 0; i + 8 < size; i += 8) {
    if (lower_word(a.data() + i) != lower_word(b.data() + i)) return false;
  }
  return true;
}

/// One step for all pieces: a request's head consists of many short ones.
inline void append_all(std::string& out, std::initializer_list<std::string_view> pieces) {
  const std::size_t before = out.size();
  std::size_t size = before;
  for (const std::string_view piece : pieces) size += piece.size();
  out.resize(size);
  char* at = out.data() + before;
  for (const std::string_view piece : pieces) at += piece.copy(at, piece.size());
}

/// Decimal digits only: no sign, no blanks, no overflow.
template <class Integer = std::uint64_t>
std::optional<Integer> parse_decimal(std::string_view text) noexcept {
  Integer number{};
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  const char* const last = text.data() + text.size();
  const auto [end, failure] = std::from_chars(text.data(), last, number);
  if (failure != std::errc{} || end != last) return std::nullopt;
  return number;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/characters.ipp>
#endif
