#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/polynomial.hpp>

#include <isa-l/crc.h>

#include <algorithm>
#include <cstddef>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::codec {

inline constexpr std::uint32_t castagnoli = 0x82F63B78U;

/// x^(2^k). 31 entries are all: x^(2^31) = x again (protocol.md 5.2).
constexpr std::array<std::uint32_t, 31> make_powers() {
  std::array<std::uint32_t, 31> powers{};
  std::uint32_t power = times_x(castagnoli, reflected_one<std::uint32_t>);
  for (std::uint32_t& p : powers) {
    p = power;
    power = multiply_mod(castagnoli, power, power);
  }
  return powers;
}
inline constexpr std::array<std::uint32_t, 31> powers_of_x = make_powers();
static_assert(multiply_mod(castagnoli, powers_of_x[30], powers_of_x[30]) == powers_of_x[0]);

/// crc * x^(8 length): what `length` zero bytes make of a checksum, but for its init and xorout.
inline std::uint32_t shift_crc(std::uint32_t crc, std::uint64_t length) noexcept {
  for (std::size_t k = 3; length != 0; length >>= 1, k = k == 30 ? 0 : k + 1) {
    if ((length & 1U) != 0) crc = multiply_mod(castagnoli, powers_of_x[k], crc);
  }
  return crc;
}

inline constexpr char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
inline constexpr std::uint8_t no_digit = 0xFF;

constexpr std::array<std::uint8_t, 256> make_digit_values() {
  std::array<std::uint8_t, 256> values{};
  for (std::uint8_t& v : values) v = no_digit;
  for (std::uint8_t i = 0; i < 64; ++i) values[static_cast<unsigned char>(base64_digits[i])] = i;
  return values;
}
inline constexpr std::array<std::uint8_t, 256> base64_values = make_digit_values();

/// The checksum spelled by the eight characters at `text`; above 32 bits if there is none. Neither
/// an optional nor a loop: every listed object is here, and g++ makes a store that stalls the next
/// load of the one, a dependency chain of the other.
inline std::uint64_t read_crc32c_text(const char* text) noexcept {
  const auto value = [text](std::size_t i) -> std::uint64_t {
    return base64_values[static_cast<unsigned char>(text[i])];
  };
  const std::uint64_t v0 = value(0), v1 = value(1), v2 = value(2);
  const std::uint64_t v3 = value(3), v4 = value(4), v5 = value(5);
  const std::uint64_t bits = v0 << 30 | v1 << 24 | v2 << 18 | v3 << 12 | v4 << 6 | v5;
  // 36 bits came for 32: the last four must be zero. Only no_digit has its top bits set.
  const bool good =
      (v0 | v1 | v2 | v3 | v4 | v5) < 64 && (bits & 15U) == 0 && text[6] == '=' && text[7] == '=';
  return good ? bits >> 4 : ~std::uint64_t{0};
}

}  // namespace detail::codec

DATAFLUX_INLINE std::uint32_t crc32c_extend(std::uint32_t crc, bytes_view bytes) noexcept {
  // ISA-L leaves init and xorout to its caller, counts in int and takes a pointer to non-const
  // that it only reads.
  constexpr std::size_t piece_limit = std::size_t{1} << 30;
  crc = ~crc;
  while (!bytes.empty()) {
    const bytes_view piece = bytes.first(std::min(bytes.size(), piece_limit));
    const void* data = piece.data();
    crc = ::crc32_iscsi(static_cast<unsigned char*>(const_cast<void*>(data)),
                        static_cast<int>(piece.size()), crc);
    bytes = bytes.subspan(piece.size());
  }
  return ~crc;
}

DATAFLUX_INLINE std::uint32_t crc32c(bytes_view bytes) noexcept { return crc32c_extend(0, bytes); }

DATAFLUX_INLINE std::uint32_t crc32c_combine(std::uint32_t a, std::uint32_t b,
                                             std::uint64_t b_length) noexcept {
  return detail::codec::shift_crc(a, b_length) ^ b;
}

DATAFLUX_INLINE std::uint32_t crc32c_subtract_prefix(std::uint32_t whole, std::uint32_t prefix,
                                                     std::uint64_t b_length) noexcept {
  return whole ^ detail::codec::shift_crc(prefix, b_length);
}

DATAFLUX_INLINE crc32c_text encode_crc32c(std::uint32_t crc) noexcept {
  crc32c_text text{};
  const std::uint64_t bits = std::uint64_t{crc} << 4;
  for (unsigned i = 0; i < 6; ++i)
    text.chars[i] = detail::codec::base64_digits[(bits >> (30 - 6 * i)) & 63];
  text.chars[6] = '=';
  text.chars[7] = '=';
  return text;
}

DATAFLUX_INLINE std::optional<std::uint32_t> decode_crc32c(std::string_view text) noexcept {
  const std::uint64_t crc = text.size() == 8 ? detail::codec::read_crc32c_text(text.data()) : ~0ULL;
  if (crc > 0xFFFFFFFFU) return std::nullopt;
  return static_cast<std::uint32_t>(crc);
}

}  // namespace dataflux::inline DATAFLUX_ABI
