#pragma once

#include <dataflux/bytes.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// XXH64, which AIStore's indexes have of themselves. On a little-endian machine.
inline std::uint64_t xxhash64(bytes_view bytes, std::uint64_t seed) noexcept {
  constexpr std::uint64_t p1 = 0x9E3779B185EBCA87;
  constexpr std::uint64_t p2 = 0xC2B2AE3D27D4EB4F;
  constexpr std::uint64_t p3 = 0x165667B19E3779F9;
  constexpr std::uint64_t p4 = 0x85EBCA77C2B2AE63;
  constexpr std::uint64_t p5 = 0x27D4EB2F165667C5;
  const auto load = [](const std::byte* from, auto value) {
    std::memcpy(&value, from, sizeof value);
    return value;
  };
  const auto round = [](std::uint64_t sum, std::uint64_t lane) {
    return std::rotl(sum + lane * p2, 31) * p1;
  };
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  std::uint64_t hash = seed + p5;
  if (bytes.size() >= 32) {
    std::uint64_t sums[4] = {seed + p1 + p2, seed + p2, seed, seed - p1};
    for (; end - at >= 32; at += 32) {
      for (std::size_t i = 0; i < 4; ++i) {
        sums[i] = round(sums[i], load(at + 8 * i, std::uint64_t{}));
      }
    }
    hash = std::rotl(sums[0], 1) + std::rotl(sums[1], 7) + std::rotl(sums[2], 12) +
           std::rotl(sums[3], 18);
    for (const std::uint64_t sum : sums) hash = (hash ^ round(0, sum)) * p1 + p4;
  }
  hash += bytes.size();
  for (; end - at >= 8; at += 8) {
    hash = std::rotl(hash ^ round(0, load(at, std::uint64_t{})), 27) * p1 + p4;
  }
  for (; end - at >= 4; at += 4) {
    hash = std::rotl(hash ^ load(at, std::uint32_t{}) * p1, 23) * p2 + p3;
  }
  for (; at != end; ++at) {
    hash = std::rotl(hash ^ static_cast<std::uint64_t>(*at) * p5, 11) * p1;
  }
  hash = (hash ^ hash >> 33U) * p2;
  hash = (hash ^ hash >> 29U) * p3;
  return hash ^ hash >> 32U;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
