#pragma once

#include <dataflux/codec/rfc3339.hpp>
#include <dataflux/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// Time stamps as the service gives them: UTC, up to nanoseconds.
using timestamp = codec::timestamp;

/// What a store knows of one generation of one object (protocol.md 1.2). Fields that a reply did
/// not carry are empty, zero or nothing.
struct object_metadata {
  std::string bucket{};
  std::string name{};
  /// Stored bytes (the compressed size of a gzip-encoded object).
  std::uint64_t size{0};
  std::int64_t generation{0};
  std::int64_t metageneration{0};
  /// CRC32C of the stored bytes.
  std::optional<std::uint32_t> crc32c{};
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
  /// What gcs::client wrote to know its own upload again when a reply is lost; kept among the
  /// object's custom metadata as "dataflux-upload", and never shown in `metadata`.
  std::string upload_mark{};
};

}  // namespace dataflux::inline DATAFLUX_ABI
