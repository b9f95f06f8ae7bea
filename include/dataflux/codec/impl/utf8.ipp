#pragma once

#include <dataflux/codec/detail/decimal.hpp>
#include <dataflux/codec/detail/utf8.hpp>

#include <cstddef>
#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// The length of the well-formed sequence of two to four bytes at `p`, 0 if there is none.
/// Unicode's table 3-7: only the second byte's range depends on the first.
inline std::size_t utf8_sequence(const unsigned char* p, std::size_t left) noexcept {
  const unsigned char lead = p[0];
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  }
  if (length == 0 || left < length || p[1] < low || p[1] > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((p[i] & 0xC0) != 0x80) return 0;
  }
  return length;
}

DATAFLUX_INLINE bool is_valid_utf8(std::string_view text) noexcept {
  const auto* p = static_cast<const unsigned char*>(static_cast<const void*>(text.data()));
  std::size_t left = text.size();
  const auto eight = [&](std::size_t at) {
    return load_eight(text.data() + (text.size() - left) + at);
  };
  constexpr std::uint64_t tops = 0x8080808080808080U;
  while (left > 0) {
    if (left >= 32 && ((eight(0) | eight(8) | eight(16) | eight(24)) & tops) == 0) {
      p += 32;
      left -= 32;
      continue;
    }
    if (left >= 8 && (eight(0) & tops) == 0) {
      p += 8;
      left -= 8;
      continue;
    }
    const std::size_t length = *p < 0x80 ? 1 : utf8_sequence(p, left);
    if (length == 0) return false;
    p += length;
    left -= length;
  }
  return true;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
