#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// A gzip member with these bytes, by igzip.
std::string gzip_of(std::string_view bytes);

/// A zstd frame with these bytes and their checksum. Empty where libzstd is not linked.
std::string zstd_of(std::string_view bytes);

/// Noise with repetitions near and far, the same on every run.
std::string repeating_bytes(std::size_t size);

/// The last bytes of a number, as both formats write it.
inline std::string little_endian(std::uint32_t value, int size) {
  std::string out;
  for (int i = 0; i < size; ++i, value >>= 8) out += static_cast<char>(value & 0xFFU);
  return out;
}
