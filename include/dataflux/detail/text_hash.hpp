#pragma once

#include <dataflux/detail/config.hpp>

#include <cstdint>
#include <string_view>

/// Hashes of texts that are the same in each process, on each machine and in each version: some are
/// in files. Not for tables that a hostile text may fill.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// FNV-1a, 64 bits. `seed` gives other ones.
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t seed = 0) noexcept {
  std::uint64_t h = seed ^ 0xCBF29CE484222325U;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return h;
}

/// The same, with digits that are well mixed: by the finish of MurmurHash3.
constexpr std::uint64_t mixed_hash(std::string_view text, std::uint64_t seed = 0) noexcept {
  std::uint64_t h = fnv1a(text, seed);
  h = (h ^ (h >> 33U)) * 0xFF51AFD7ED558CCDU;
  h = (h ^ (h >> 33U)) * 0xC4CEB9FE1A85EC53U;
  return h ^ (h >> 33U);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
