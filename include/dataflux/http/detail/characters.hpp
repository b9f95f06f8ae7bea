#pragma once

#include <dataflux/config.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// Private: the character classes of RFC 9110, a fast scan for control characters, numbers.
namespace dataflux::inline DATAFLUX_ABI::http::detail {

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
constexpr char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

/// The first byte in [first, last) that is 0x7f or below `Least`, or last. 16 bytes a step, or
/// eight: there a byte below `Least` borrows into its top bit, and so does zero after the xor with
/// 0x7f; only bytes above a true hit can be flagged falsely, so the lowest flag is exact.
template <unsigned char Least>
inline const char* find_below(const char* first, const char* last) noexcept {
  static_assert(Least > 0 && Least < 0x80);
#if defined(__SSE2__)
  while (last - first >= 16) {
    const __m128i bytes = ::_mm_loadu_si128(reinterpret_cast<const __m128i*>(first));
    const __m128i low = ::_mm_cmpeq_epi8(::_mm_min_epu8(bytes, ::_mm_set1_epi8(Least - 1)), bytes);
    const __m128i del = ::_mm_cmpeq_epi8(bytes, ::_mm_set1_epi8(0x7f));
    const int hits = ::_mm_movemask_epi8(::_mm_or_si128(low, del));
    if (hits != 0) return first + std::countr_zero(static_cast<unsigned>(hits));
    first += 16;
  }
#endif
  if constexpr (std::endian::native == std::endian::little) {
    constexpr std::uint64_t ones = 0x0101010101010101U;
    constexpr std::uint64_t tops = 0x8080808080808080U;
    while (last - first >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, first, sizeof word);
      const std::uint64_t del = word ^ (ones * 0x7f);
      const std::uint64_t low = (word - ones * Least) & ~word;
      const std::uint64_t hits = (low | ((del - ones) & ~del)) & tops;
      if (hits != 0) return first + (std::countr_zero(hits) >> 3);
      first += 8;
    }
  }
  while (first != last && static_cast<unsigned char>(*first) >= Least && *first != 0x7f) ++first;
  return first;
}
inline const char* find_control(const char* first, const char* last) noexcept {
  return find_below<0x20>(first, last);
}

/// The first byte in [first, last) that no token has, or last. Letters, digits and '-', which is
/// what nearly all names consist of, go 16 bytes a step.
inline const char* find_non_token(const char* first, const char* last) noexcept {
#if defined(__SSE2__)
  // Signed compares: bytes of 0x80 and above are below all others.
  const auto within = [](__m128i bytes, char least, char most) {
    return ::_mm_and_si128(::_mm_cmpgt_epi8(bytes, ::_mm_set1_epi8(static_cast<char>(least - 1))),
                           ::_mm_cmplt_epi8(bytes, ::_mm_set1_epi8(static_cast<char>(most + 1))));
  };
  while (last - first >= 16) {
    const __m128i bytes = ::_mm_loadu_si128(reinterpret_cast<const __m128i*>(first));
    const __m128i letter = within(::_mm_or_si128(bytes, ::_mm_set1_epi8(0x20)), 'a', 'z');
    const __m128i other =
        ::_mm_or_si128(within(bytes, '0', '9'), ::_mm_cmpeq_epi8(bytes, ::_mm_set1_epi8('-')));
    const int plain = ::_mm_movemask_epi8(::_mm_or_si128(letter, other));
    first += std::countr_one(static_cast<unsigned>(plain));
    if (plain == 0xFFFF) continue;
    if (!is_token_character(*first)) return first;
    ++first;
  }
#endif
  while (first != last && is_token_character(*first)) ++first;
  return first;
}
inline bool is_token(std::string_view text) noexcept {
  const char* const last = text.data() + text.size();
  return !text.empty() && find_non_token(text.data(), last) == last;
}

constexpr std::string_view trim_blanks(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Eight characters, the capitals among them in lower case.
inline std::uint64_t lower_word(const char* text) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101U;
  constexpr std::uint64_t tops = 0x8080808080808080U;
  std::uint64_t word = 0;
  std::memcpy(&word, text, sizeof word);
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
  if (size < 8) {
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

/// Decimal digits only: no sign, no blanks, no overflow.
inline std::optional<std::uint64_t> parse_decimal(std::string_view text) noexcept {
  std::uint64_t number = 0;
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  const char* const last = text.data() + text.size();
  const auto [end, failure] = std::from_chars(text.data(), last, number);
  if (failure != std::errc{} || end != last) return std::nullopt;
  return number;
}

}  // namespace dataflux::inline DATAFLUX_ABI::http::detail
