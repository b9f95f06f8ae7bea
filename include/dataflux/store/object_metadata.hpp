#pragma once

#include <dataflux/codec/detail/whole_checksum.hpp>
#include <dataflux/codec/timestamp.hpp>
#include <dataflux/detail/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// Metadata of one generation of an object (protocol.md 1.2). Fields that a reply lacks are empty,
/// zero or nothing.
struct object_metadata {
  std::string bucket{};
  std::string name{};
  /// Stored bytes (the compressed size of a gzip-encoded object).
  std::uint64_t size{0};
  std::int64_t generation{0};
  std::int64_t metageneration{0};
  /// CRC32C of the stored bytes.
  std::optional<std::uint32_t> crc32c{};
  /// Another checksum of them, which the library compares where there is no crc32c.
  std::optional<detail::codec::whole_checksum> other_checksum{};
  /// Base64; empty for composites and multipart uploads, which have none.
  std::string md5_hash{};
  std::string etag{};
  std::string content_type{};
  std::string content_encoding{};
  std::string content_disposition{};
  std::string content_language{};
  std::string cache_control{};
  std::string storage_class{};
  std::string kms_key_name{};
  std::optional<timestamp> created{};
  std::optional<timestamp> updated{};
  std::optional<timestamp> custom_time{};
  /// Number of pieces of a composite object, 0 for others.
  std::int32_t component_count{0};
  /// Custom metadata in the order of the reply.
  std::vector<std::pair<std::string, std::string>> metadata{};
  /// A mark by which gcs::client recognises its own upload after a lost reply. It is the custom
  /// metadata "dataflux-upload", and never shown in `metadata`.
  std::string upload_mark{};
};

/// Members of object_metadata that a stat asks for; a bit set. Others come back empty, zero or
/// nothing, and cost neither bytes of a reply nor memory.
enum class metadata_fields : std::uint32_t {
  all = 0,           ///< everything
  basic = 1U << 0U,  ///< bucket, name, size, generation, crc32c: these come with all others, too
  metageneration = 1U << 1U,
  md5_hash = 1U << 2U,
  etag = 1U << 3U,
  content_type = 1U << 4U,
  content_encoding = 1U << 5U,
  content_disposition = 1U << 6U,
  content_language = 1U << 7U,
  cache_control = 1U << 8U,
  storage_class = 1U << 9U,
  kms_key_name = 1U << 10U,
  created = 1U << 11U,
  updated = 1U << 12U,
  custom_time = 1U << 13U,
  component_count = 1U << 14U,
  metadata = 1U << 15U,  ///< upload_mark, too
};
constexpr metadata_fields operator|(metadata_fields a, metadata_fields b) noexcept {
  return static_cast<metadata_fields>(static_cast<std::uint32_t>(a) |
                                      static_cast<std::uint32_t>(b));
}
/// Whether a stat that asks for `set` gives `field`.
constexpr bool has(metadata_fields set, metadata_fields field) noexcept {
  return set == metadata_fields::all || field == metadata_fields::basic ||
         (static_cast<std::uint32_t>(set) & static_cast<std::uint32_t>(field)) != 0;
}

/// Conditions under which a call takes effect (protocol.md 1.2, 1.3). One that does not hold makes
/// the call fail with errc::failed_precondition (errc::already_exists for a create-only write) and
/// changes nothing.
struct preconditions {
  /// The live generation must be this one; 0 = the object must not exist (create only).
  std::optional<std::int64_t> if_generation_match{};
  std::optional<std::int64_t> if_generation_not_match{};
  std::optional<std::int64_t> if_metageneration_match{};
  std::optional<std::int64_t> if_metageneration_not_match{};

  bool any() const noexcept {
    return if_generation_match || if_generation_not_match || if_metageneration_match ||
           if_metageneration_not_match;
  }
};

/// The attributes of an object that a request makes, besides the bytes (protocol.md 1.2). Texts
/// that are empty are not sent.
struct object_attributes {
  /// Empty = application/octet-stream.
  std::string content_type{};
  /// Keys differ, and have at most 8 KiB with their values. In requests of multipart uploads keys
  /// are lower-case tokens and values printable ASCII: they travel in header fields.
  std::vector<std::pair<std::string, std::string>> metadata{};
  /// Encoding of the given bytes, such as "gzip"; the library does not compress.
  std::string content_encoding{};
  /// How long caches may keep it: "no-store", "private, max-age=60". Empty = an hour, for objects
  /// that everybody may read.
  std::string cache_control{};
  std::string content_disposition{};
  std::string content_language{};
  /// Such as "NEARLINE"; empty = the bucket's.
  std::string storage_class{};
  /// A `timestamp` reaches to the year 2262.
  std::optional<timestamp> custom_time{};
  /// "projects/P/locations/L/keyRings/R/cryptoKeys/K"; empty = the bucket's.
  std::string kms_key_name{};

  /// True if nothing is set. The key does not count: a copy may have another one and still be the
  /// same object.
  bool empty() const noexcept {
    return content_type.empty() && metadata.empty() && content_encoding.empty() &&
           cache_control.empty() && content_disposition.empty() && content_language.empty() &&
           storage_class.empty() && !custom_time;
  }
};

}  // namespace dataflux::inline DATAFLUX_ABI
