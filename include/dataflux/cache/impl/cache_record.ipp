#pragma once

#include <dataflux/cache/detail/cache_record.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/xxhash64.hpp>

#include <array>
#include <cstring>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// "dfc", and the version.
inline constexpr std::uint32_t cache_record_magic = 0x31636664;
inline constexpr std::uint32_t cache_body_verified = 1;
inline constexpr std::uint32_t cache_object_crc_known = 2;
/// The doubts are above it.
inline constexpr std::uint32_t cache_flag_bits = 16;

/// As it lies in a segment. The checksum covers all that is behind it, and the names.
struct cache_head_image {
  std::uint32_t checksum;
  std::uint32_t magic;
  std::uint32_t name_bytes;
  std::uint32_t flags;
  std::int64_t generation;
  std::int64_t metageneration;
  std::uint64_t offset;
  std::uint64_t length;
  std::uint64_t bytes;
  std::uint64_t object_size;
  std::uint32_t crc32c;
  std::uint32_t object_crc32c;
};
static_assert(sizeof(cache_head_image) == cache_head_bytes);

DATAFLUX_INLINE cache_key cache_key::of(std::string_view service, const read_request& request) {
  cache_key key;
  key.assign(service, request);
  return key;
}

DATAFLUX_INLINE void cache_key::assign(std::string_view service, const read_request& request) {
  names.clear();
  names.reserve(service.size() + request.bucket.size() + request.object.size() + 2);
  names.append(service).append(1, '\0').append(request.bucket).append(1, '\0');
  names.append(request.object);
  generation = request.generation;
  offset = request.range.offset();
  length = request.range.length();
}

DATAFLUX_INLINE cache_key cache_key::of_whole() const {
  cache_key key(*this);
  key.offset = 0;
  key.length = byte_range::to_end;
  return key;
}

inline std::uint64_t hash_of(const cache_key& key, std::uint64_t offset,
                             std::uint64_t length) noexcept {
  const std::array<std::uint64_t, 3> numbers{static_cast<std::uint64_t>(key.generation), offset,
                                             length};
  const std::uint64_t of_names = codec::xxhash64(dataflux::as_bytes(std::string_view(key.names)));
  return codec::xxhash64(std::as_bytes(std::span(numbers)), of_names);
}

DATAFLUX_INLINE std::uint64_t cache_key::hash() const noexcept {
  return hash_of(*this, offset, length);
}

/// No read begins there.
DATAFLUX_INLINE std::uint64_t cache_key::doubts_hash() const noexcept {
  return hash_of(*this, byte_range::to_end, 0);
}

DATAFLUX_INLINE std::uint64_t cache_head::record_bytes() const noexcept {
  return (unpadded_bytes() + cache_alignment - 1) / cache_alignment * cache_alignment;
}

DATAFLUX_INLINE bool cache_head::answers(const cache_key& key) const noexcept {
  const bool placed = offset == key.offset && length == key.length;
  return placed && generation == key.generation && name_bytes == key.names.size();
}

DATAFLUX_INLINE read_summary cache_head::summary() const noexcept {
  read_summary s;
  s.bytes = bytes;
  s.crc32c = crc32c;
  s.object_size = object_size;
  s.object_crc32c = object_crc32c;
  s.verified = verified;
  s.generation = generation;
  s.metageneration = metageneration;
  return s;
}

DATAFLUX_INLINE cache_head cache_head_of(const cache_key& key,
                                         const read_summary& summary) noexcept {
  const bool whole = key.offset == 0 && summary.bytes == summary.object_size;
  cache_head head;
  head.name_bytes = static_cast<std::uint32_t>(key.names.size());
  head.generation = key.generation;
  head.metageneration = summary.metageneration;
  head.offset = key.offset;
  head.length = whole ? byte_range::to_end : key.length;
  head.bytes = summary.bytes;
  head.object_size = summary.object_size;
  head.crc32c = summary.crc32c;
  head.object_crc32c = summary.object_crc32c;
  head.verified = summary.verified;
  return head;
}

DATAFLUX_INLINE void encode_cache_head(const cache_head& head, std::string_view names,
                                       bytes_span to) noexcept {
  cache_head_image image{};
  image.magic = cache_record_magic;
  image.name_bytes = head.name_bytes;
  image.flags = (head.verified ? cache_body_verified : 0U) |
                (head.object_crc32c ? cache_object_crc_known : 0U) |
                std::uint32_t{head.doubts} << cache_flag_bits;
  image.generation = head.generation;
  image.metageneration = head.metageneration;
  image.offset = head.offset;
  image.length = head.length;
  image.bytes = head.bytes;
  image.object_size = head.object_size;
  image.crc32c = head.crc32c;
  image.object_crc32c = head.object_crc32c.value_or(0);
  std::memcpy(to.data(), &image, sizeof image);
  std::memcpy(to.data() + sizeof image, names.data(), names.size());
  image.checksum = crc32c(to.subspan(4, sizeof image - 4 + names.size()));
  std::memcpy(to.data(), &image.checksum, sizeof image.checksum);
}

DATAFLUX_INLINE std::optional<cache_head> decode_cache_head(bytes_view from) noexcept {
  cache_head_image image{};
  if (from.size() < sizeof image) return std::nullopt;
  std::memcpy(&image, from.data(), sizeof image);
  if (image.magic != cache_record_magic || image.name_bytes > most_cache_names) return std::nullopt;
  if (image.name_bytes > from.size() - sizeof image) return std::nullopt;
  const std::size_t covered = sizeof image - 4 + image.name_bytes;
  if (crc32c(from.subspan(4, covered)) != image.checksum) return std::nullopt;
  if (image.bytes > byte_range::to_end / 4) return std::nullopt;
  cache_head head;
  head.name_bytes = image.name_bytes;
  head.generation = image.generation;
  head.metageneration = image.metageneration;
  head.offset = image.offset;
  head.length = image.length;
  head.bytes = image.bytes;
  head.object_size = image.object_size;
  head.crc32c = image.crc32c;
  if ((image.flags & cache_object_crc_known) != 0) head.object_crc32c = image.object_crc32c;
  head.verified = (image.flags & cache_body_verified) != 0;
  head.doubts = static_cast<std::uint16_t>(image.flags >> cache_flag_bits);
  return head;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
