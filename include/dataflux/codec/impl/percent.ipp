#pragma once

#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/detail/hexadecimal.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

using byte_table = std::array<std::uint8_t, 256>;

/// 1 for a byte that needs an escape, 0 for one that stands for itself.
constexpr byte_table make_escape_table() {
  byte_table table{};
  for (std::size_t c = 0; c < 256; ++c) {
    const bool alphanumeric =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    const bool mark = c == '-' || c == '.' || c == '_' || c == '~';
    table[c] = alphanumeric || mark ? 0 : 1;
  }
  return table;
}
inline constexpr byte_table needs_escape = make_escape_table();

/// The first byte in [at, end) that needs an escape, or end.
inline const char* find_escape(const char* at, const char* end) noexcept {
#if defined(__SSE2__)
  // Signed compares: bytes of 0x80 and above are below all others.
  const auto within = [](__m128i bytes, char least, char most) {
    return ::_mm_and_si128(::_mm_cmpgt_epi8(bytes, ::_mm_set1_epi8(static_cast<char>(least - 1))),
                           ::_mm_cmplt_epi8(bytes, ::_mm_set1_epi8(static_cast<char>(most + 1))));
  };
  for (; end - at >= 16; at += 16) {
    const __m128i bytes = ::_mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i letter = within(::_mm_or_si128(bytes, ::_mm_set1_epi8(0x20)), 'a', 'z');
    const __m128i other =
        ::_mm_or_si128(::_mm_or_si128(within(bytes, '0', '9'), within(bytes, '-', '.')),
                       ::_mm_or_si128(::_mm_cmpeq_epi8(bytes, ::_mm_set1_epi8('_')),
                                      ::_mm_cmpeq_epi8(bytes, ::_mm_set1_epi8('~'))));
    const int plain = ::_mm_movemask_epi8(::_mm_or_si128(letter, other));
    if (plain != 0xFFFF) return at + std::countr_one(static_cast<unsigned>(plain));
  }
#endif
  while (at != end && needs_escape[static_cast<unsigned char>(*at)] == 0) ++at;
  return at;
}

DATAFLUX_INLINE void append_percent(std::string& out, std::string_view text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  if (text.empty()) return;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    const char* const plain = at;
    at = find_escape(at, end);
    out.append(plain, static_cast<std::size_t>(at - plain));
    if (at == end) return;
    const auto byte = static_cast<unsigned char>(*at++);
    const char escape[3] = {'%', digits[byte >> 4], digits[byte & 15]};
    out.append(escape, sizeof escape);
  }
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
    const int high = hex_value(text[i + 1]);
    const int low = hex_value(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

DATAFLUX_INLINE void append_percent_path(std::string& out, std::string_view text) {
  for (;;) {
    const std::size_t slash = text.find('/');
    append_percent(out, text.substr(0, slash));
    if (slash == std::string_view::npos) return;
    out.push_back('/');
    text.remove_prefix(slash + 1);
  }
}

DATAFLUX_INLINE std::optional<std::string> decode_form(std::string_view text) {
  if (text.find('+') == std::string_view::npos) return decode_percent(text);
  std::string spaced{text};
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return decode_percent(spaced);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
