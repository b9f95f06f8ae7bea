#pragma once

#include <dataflux/detail/config.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

/// Decimal digits eight at a time. A page of a listing has three such numbers for each object.
namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// What the readers of integers give for anything that is not one.
inline constexpr std::uint64_t no_count = ~std::uint64_t{0};

/// Eight bytes of text, the first of them lowest, as the number they spell.
inline std::uint64_t read_eight_digits(std::uint64_t digits) noexcept {
  // A digit keeps the high half of '0', with and without 6 on top.
  if (((digits & 0xF0F0F0F0F0F0F0F0U) |
       (((digits + 0x0606060606060606U) & 0xF0F0F0F0F0F0F0F0U) >> 4)) != 0x3333333333333333U) {
    return no_count;
  }
  digits -= 0x3030303030303030U;
  digits = digits * 10 + (digits >> 8);
  return (((digits & 0x000000FF000000FFU) * 0x000F424000000064U) +
          (((digits >> 16) & 0x000000FF000000FFU) * 0x0000271000000001U)) >>
         32;
}

inline std::uint64_t load_eight(const char* p) noexcept {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, p, sizeof bytes);
  if constexpr (std::endian::native == std::endian::big) bytes = __builtin_bswap64(bytes);
  return bytes;
}

/// Decimal digits as 0 .. 2^63 - 1, else no_count. Nineteen digits cannot overflow 64 bits. May
/// read past the text into the page or its padding, but uses nothing of it.
inline std::uint64_t read_count(std::string_view text) noexcept {
  if (text.empty() || text.size() > 19) return no_count;
  // The odd digits first, moved up behind zeros, then eights.
  const std::size_t odd = (text.size() - 1) % 8 + 1;
  std::uint64_t first = load_eight(text.data());
  if (odd < 8) first = first << (64 - 8 * odd) | std::uint64_t{0x3030303030303030U} >> (8 * odd);
  std::uint64_t value = read_eight_digits(first);
  if (value == no_count) return no_count;
  for (std::size_t at = odd; at < text.size(); at += 8) {
    const std::uint64_t eight = read_eight_digits(load_eight(text.data() + at));
    if (eight == no_count) return no_count;
    value = value * 100'000'000 + eight;
  }
  return value <= std::uint64_t{std::numeric_limits<std::int64_t>::max()} ? value : no_count;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
