#pragma once

#include <dataflux/detail/config.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

/// Hexadecimal digits. Those that are written are in lower case.
namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::string_view hex_digits{"0123456789abcdef"};

/// Nothing but digits in lower case; no text is, too.
inline bool is_hex(std::string_view text) noexcept {
  return text.find_first_not_of(hex_digits) == std::string_view::npos;
}

/// Of a digit in either case; -1 for anything else.
inline int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

/// Eight digits, zeros in front included; gives what is behind them. All at once: every call of the
/// service has an id of 32.
inline char* write_hex(std::uint32_t value, char* to) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101U;
  // Each digit into a byte of its own, the last one lowest.
  std::uint64_t digits = value;
  digits = (digits | digits << 16U) & 0x0000FFFF0000FFFFU;
  digits = (digits | digits << 8U) & 0x00FF00FF00FF00FFU;
  digits = (digits | digits << 4U) & (ones * 0x0F);
  const std::uint64_t letters = ((digits + ones * 6) >> 4U) & ones;
  std::uint64_t text = digits + ones * '0' + letters * ('a' - '0' - 10);
  if constexpr (std::endian::native == std::endian::little) text = __builtin_bswap64(text);
  std::memcpy(to, &text, sizeof text);
  return to + sizeof text;
}

/// The lowest `digits` digits of `bits`, 16 at most.
inline void append_hex(std::string& out, std::uint64_t bits, std::size_t digits = 16) {
  std::array<char, 16> text{};
  write_hex(static_cast<std::uint32_t>(bits),
            write_hex(static_cast<std::uint32_t>(bits >> 32U), text.data()));
  out.append(std::string_view(text.data(), text.size()).substr(text.size() - digits));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
