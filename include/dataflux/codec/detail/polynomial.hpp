#pragma once

#include <dataflux/detail/config.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// Of polynomials over GF(2) as a checksum holds them: reflected, x^0 in the top bit. Word: of as
/// many bits as the degree of the modulus, which is without its highest power.
template <class Word>
inline constexpr Word reflected_one = Word{1} << (sizeof(Word) * 8 - 1);

template <class Word>
constexpr Word times_x(Word modulus, Word a) noexcept {
  return (a >> 1U) ^ ((a & 1U) != 0 ? modulus : Word{0});
}

template <class Word>
constexpr Word multiply_mod(Word modulus, Word a, Word b) noexcept {
  Word product = 0;
  for (Word bit = reflected_one<Word>; bit != 0; bit >>= 1U) {
    if ((a & bit) != 0) product ^= b;
    b = times_x(modulus, b);
  }
  return product;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
