#pragma once

#include <dataflux/codec/detail/plain_json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// 16 bytes a step, or eight: there the bytes above one that is marked may be marked by its borrow,
/// so that the lowest counts.
DATAFLUX_INLINE const char* find_json_mark(const char* at, const char* end) noexcept {
#if defined(__SSE2__)
  for (; end - at >= 16; at += 16) {
    const __m128i bytes = ::_mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i control = ::_mm_cmpeq_epi8(::_mm_min_epu8(bytes, ::_mm_set1_epi8(0x1f)), bytes);
    const __m128i other = ::_mm_or_si128(::_mm_cmpeq_epi8(bytes, ::_mm_set1_epi8('"')),
                                         ::_mm_cmpeq_epi8(bytes, ::_mm_set1_epi8('\\')));
    const int marks = ::_mm_movemask_epi8(::_mm_or_si128(control, other));
    if (marks != 0) return at + std::countr_zero(static_cast<unsigned>(marks));
  }
#endif
  constexpr std::uint64_t ones = 0x0101010101010101U;
  const auto zeros = [](std::uint64_t bytes) { return (bytes - ones) & ~bytes; };
  for (; end - at >= 8; at += 8) {
    const std::uint64_t text = load_eight(at);
    const std::uint64_t marks = (((text - ones * 0x20) & ~text) | zeros(text ^ (ones * '"')) |
                                 zeros(text ^ (ones * '\\'))) &
                                (ones * 0x80);
    if (marks != 0) return at + std::countr_zero(marks) / 8;
  }
  const auto is_mark = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
  };
  while (at != end && !is_mark(*at)) ++at;
  return at;
}

/// Of 64 bytes.
inline json_block look_at_block(const char* block) noexcept {
  json_block found{0, true};
#if defined(__SSE2__)
  int high = 0;
  for (unsigned k = 0; k < 64; k += 16) {
    const __m128i bytes = ::_mm_loadu_si128(reinterpret_cast<const __m128i*>(block + k));
    const __m128i control = ::_mm_cmpeq_epi8(::_mm_min_epu8(bytes, ::_mm_set1_epi8(0x1f)), bytes);
    const __m128i other = ::_mm_or_si128(::_mm_cmpeq_epi8(bytes, ::_mm_set1_epi8('"')),
                                         ::_mm_cmpeq_epi8(bytes, ::_mm_set1_epi8('\\')));
    const int marks = ::_mm_movemask_epi8(::_mm_or_si128(control, other));
    found.marks |= std::uint64_t{static_cast<unsigned>(marks)} << k;
    high |= ::_mm_movemask_epi8(bytes);
  }
  found.ascii = high == 0;
#else
  constexpr std::uint64_t ones = 0x0101010101010101U;
  constexpr std::uint64_t tops = ones * 0x80;
  // The top bit of each byte that is zero, and of no other.
  const auto zeros = [](std::uint64_t bytes) {
    return ~(((bytes & ~tops) + ~tops) | bytes | ~tops);
  };
  for (unsigned k = 0; k < 64; k += 8) {
    const std::uint64_t bytes = load_eight(block + k);
    const std::uint64_t marks =
        zeros(bytes & (ones * 0xE0)) | zeros(bytes ^ (ones * '"')) | zeros(bytes ^ (ones * '\\'));
    found.marks |= ((marks >> 7U) * 0x0102040810204080U >> 56U) << k;
    found.ascii = found.ascii && (bytes & tops) == 0;
  }
#endif
  return found;
}

DATAFLUX_INLINE json_block look_at_json(const char* at, const char* end) noexcept {
  if (end - at >= json_block::size) return look_at_block(at);
  std::array<char, json_block::size> padded;
  padded.fill(' ');
  std::copy(at, end, padded.begin());
  return look_at_block(padded.data());
}

DATAFLUX_INLINE bool is_plain_integer(std::string_view word) noexcept {
  if (!word.empty() && word.front() == '-') word.remove_prefix(1);
  if (word.empty() || word.size() > 18 || (word.front() == '0' && word.size() > 1)) return false;
  return std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

DATAFLUX_INLINE std::optional<std::int64_t> plain_value::int64() const noexcept {
  if (kind_ != json_kind::string && kind_ != json_kind::number) return std::nullopt;
  if (token_.size() >= 8) {  // so that no byte beyond it is read
    const std::uint64_t count = read_count(token_);
    if (count != no_count) return static_cast<std::int64_t>(count);
  }
  std::int64_t value = 0;
  const char* const end = token_.data() + token_.size();
  const auto [stop, code] = std::from_chars(token_.data(), end, value);
  if (code != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
