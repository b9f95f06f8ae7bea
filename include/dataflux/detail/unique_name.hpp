#pragma once

#include <dataflux/detail/hexadecimal.hpp>
#include <dataflux/detail/system_entropy.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// The random part of names that must not meet others.
namespace dataflux::inline DATAFLUX_ABI {

/// Of the system, so that two processes do not draw the same.
inline std::uint64_t random_bits() noexcept { return detail::system_entropy::bits(); }

/// `prefix` and 16 hexadecimal digits that tell `key`, however long that is (FNV-1a): the same in
/// each process.
inline std::string hashed_name(std::string_view prefix, std::string_view key) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  std::string name(prefix);
  append_hex(name, hash);
  return name;
}

}  // namespace dataflux::inline DATAFLUX_ABI
