#pragma once

#include <dataflux/detail/config.hpp>

#include <bit>
#include <cstdint>
#include <cstring>

namespace dataflux::inline DATAFLUX_ABI::codec {

/// Eight digits in lower case, zeros in front included; gives what is behind them. All at once:
/// every call of the service has an id of 32.
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

}  // namespace dataflux::inline DATAFLUX_ABI::codec
