#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/store/requests.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// What one read brought, as bytes of a segment: a head of 72 bytes, the names, the bytes of the
/// body, and zeros up to a multiple of 64. Integers are copies of memory: on a machine of the other
/// order, and for another version, the head is none, and so is a torn one, by its checksum.
namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::size_t cache_head_bytes = 72;
inline constexpr std::size_t cache_alignment = 64;
/// Service, bucket and object; longer ones are not kept.
inline constexpr std::size_t most_cache_names = 2048;

/// What a read asks for. A body that is the whole object has offset 0 and length
/// byte_range::to_end.
struct cache_key {
  std::string names{};  ///< service, bucket and object, a zero byte between them
  std::int64_t generation{0};
  std::uint64_t offset{0};
  std::uint64_t length{byte_range::to_end};

  static cache_key of(std::string_view service, const read_request& request);
  /// The same, by the memory that it has.
  void assign(std::string_view service, const read_request& request);
  bool whole() const noexcept { return offset == 0 && length == byte_range::to_end; }
  /// Of the same object and generation.
  cache_key of_whole() const;
  bool same_object(const cache_key& other) const noexcept {
    return generation == other.generation && names == other.names;
  }
  std::uint64_t hash() const noexcept;
  /// By it the index has how often the object was found to be damaged.
  std::uint64_t doubts_hash() const noexcept;
};

/// The head of a record.
struct cache_head {
  std::uint32_t name_bytes{0};
  std::int64_t generation{0};
  std::int64_t metageneration{0};
  std::uint64_t offset{0};  ///< asked for, as is the length
  std::uint64_t length{0};
  std::uint64_t bytes{0};  ///< of the body
  std::uint64_t object_size{0};
  std::uint32_t crc32c{0};  ///< of the body
  std::optional<std::uint32_t> object_crc32c{};
  bool verified{false};  ///< read_summary::verified
  /// How often the object had been found to be damaged when the body was kept. If it is another
  /// number now, what is not verified counts as damaged.
  std::uint16_t doubts{0};

  std::uint64_t bytes_before_body() const noexcept { return cache_head_bytes + name_bytes; }
  std::uint64_t unpadded_bytes() const noexcept { return bytes_before_body() + bytes; }
  /// With its padding.
  std::uint64_t record_bytes() const noexcept;
  bool answers(const cache_key& key) const noexcept;
  read_summary summary() const noexcept;
};

/// What the read of `key` brought.
cache_head cache_head_of(const cache_key& key, const read_summary& summary) noexcept;

/// Writes head and names: bytes_before_body().
void encode_cache_head(const cache_head& head, std::string_view names, bytes_span to) noexcept;

/// `from`: the head, and behind it the names, which may be cut off where others than those of the
/// key are meant. Nothing for what is no head of this version. A head is returned only where its
/// checksum and that of its names is right.
std::optional<cache_head> decode_cache_head(bytes_view from) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/cache/impl/cache_record.ipp>
#endif
