#pragma once

#include <dataflux/http/detail/characters.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// The first byte in [first, last) that is 0x7f or below `Least`, or last. 16 bytes a step, or
/// eight: there a byte below `Least` borrows into its top bit, and so does zero after the xor with
/// 0x7f; only bytes above a true hit can be flagged falsely, so the lowest flag is exact.
template <unsigned char Least>
const char* find_below(const char* first, const char* last) noexcept {
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

DATAFLUX_INLINE const char* find_control(const char* first, const char* last) noexcept {
  return find_below<0x20>(first, last);
}

DATAFLUX_INLINE const char* find_control_or_space(const char* first, const char* last) noexcept {
  return find_below<0x21>(first, last);
}

/// Letters, digits and '-', which is what nearly all names consist of, go 16 bytes a step.
DATAFLUX_INLINE const char* find_non_token(const char* first, const char* last) noexcept {
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

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
