#pragma once

#include <dataflux/detail/config.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

/// How a shard is stored, by its first bytes: its name may not say so.
namespace dataflux::inline DATAFLUX_ABI::detail::shard {

enum class shard_coding : std::uint8_t {
  unknown,  ///< too few bytes have come
  plain,    ///< none of the others
  gzip,
  zstd,
  unread,  ///< another one, which is not read here
};

/// The first bytes of a compressed file. In one of them, some bits vary.
struct coding_mark {
  std::string_view bytes;
  std::size_t loose_at;
  unsigned loose_mask;  ///< of the bits that do not vary
  shard_coding coding;
  std::string_view name;
};

/// Skippable frames of zstd vary in four bits, bzip2's digit says how large its blocks are.
inline constexpr std::array<coding_mark, 6> coding_marks{{
    {{"\x1f\x8b", 2}, 0, 0xFF, shard_coding::gzip, "gzip"},
    {{"\x28\xb5\x2f\xfd", 4}, 0, 0xFF, shard_coding::zstd, "zstd"},
    {{"\x50\x2a\x4d\x18", 4}, 0, 0xF0, shard_coding::zstd, "zstd"},
    {{"\xfd\x37\x7a\x58\x5a\x00", 6}, 0, 0xFF, shard_coding::unread, "xz"},
    {{"BZh1\x31\x41\x59\x26\x53\x59", 10}, 3, 0, shard_coding::unread, "bzip2"},
    {{"\x04\x22\x4d\x18", 4}, 0, 0xFF, shard_coding::unread, "lz4"},
}};

/// True if `head` and the mark are the same, as far as both go.
constexpr bool agrees(const coding_mark& mark, std::string_view head) noexcept {
  const std::size_t size = std::min(head.size(), mark.bytes.size());
  for (std::size_t i = 0; i < size; ++i) {
    const auto differing = static_cast<unsigned char>(head[i] ^ mark.bytes[i]);
    if ((differing & (i == mark.loose_at ? mark.loose_mask : 0xFFU)) != 0) return false;
  }
  return true;
}

/// The name of the coding whose mark `head` begins with; nothing: none.
constexpr std::optional<std::string_view> coding_of(std::string_view head) noexcept {
  for (const coding_mark& mark : coding_marks) {
    if (head.size() >= mark.bytes.size() && agrees(mark, head)) return mark.name;
  }
  return std::nullopt;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
