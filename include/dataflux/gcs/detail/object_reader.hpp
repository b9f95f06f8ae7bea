#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/plain_json.hpp>
#include <dataflux/codec/timestamp.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// Takes an object resource (protocol.md 1.2) into object_metadata, member by member.
namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

using object_text = std::string object_metadata::*;
using object_size = std::uint64_t object_metadata::*;
using object_number = std::int64_t object_metadata::*;
using object_count = std::int32_t object_metadata::*;
using object_time = std::optional<timestamp> object_metadata::*;
using object_checksum = std::optional<std::uint32_t> object_metadata::*;
using object_pairs = std::vector<std::pair<std::string, std::string>> object_metadata::*;

/// How the service calls a member of object_metadata, and which field asks for it.
struct object_member {
  std::string_view key;
  metadata_fields field;
  std::variant<object_text, object_size, object_number, object_count, object_time, object_checksum,
               object_pairs>
      into;
};
inline constexpr std::array<object_member, 20> object_members{
    {{"name", metadata_fields::basic, &object_metadata::name},
     {"generation", metadata_fields::basic, &object_metadata::generation},
     {"size", metadata_fields::basic, &object_metadata::size},
     {"bucket", metadata_fields::basic, &object_metadata::bucket},
     {"crc32c", metadata_fields::basic, &object_metadata::crc32c},
     {"metageneration", metadata_fields::metageneration, &object_metadata::metageneration},
     {"md5Hash", metadata_fields::md5_hash, &object_metadata::md5_hash},
     {"etag", metadata_fields::etag, &object_metadata::etag},
     {"contentType", metadata_fields::content_type, &object_metadata::content_type},
     {"contentEncoding", metadata_fields::content_encoding, &object_metadata::content_encoding},
     {"contentDisposition", metadata_fields::content_disposition,
      &object_metadata::content_disposition},
     {"contentLanguage", metadata_fields::content_language, &object_metadata::content_language},
     {"cacheControl", metadata_fields::cache_control, &object_metadata::cache_control},
     {"storageClass", metadata_fields::storage_class, &object_metadata::storage_class},
     {"kmsKeyName", metadata_fields::kms_key_name, &object_metadata::kms_key_name},
     {"timeCreated", metadata_fields::created, &object_metadata::created},
     {"updated", metadata_fields::updated, &object_metadata::updated},
     {"customTime", metadata_fields::custom_time, &object_metadata::custom_time},
     {"componentCount", metadata_fields::component_count, &object_metadata::component_count},
     {"metadata", metadata_fields::metadata, &object_metadata::metadata}}};

/// Reads one resource; remembers the first member that is not what it must be. Members that were
/// not asked for are passed over. null is as good as absent.
class object_reader {
 public:
  object_reader(object_metadata& out, metadata_fields asked) noexcept : out_(out), asked_(asked) {}

  /// A resource written plainly, with nothing behind it. False, and anything in the metadata, for
  /// one that is not, or that says something twice.
  bool read(std::string_view text);
  /// Any other. Of members that are repeated the first counts.
  void read(codec::json_value resource);

  /// The key of a member at fault; empty when there is none.
  std::string_view fault() const noexcept;

 private:
  /// Index of a key in object_members; their number for any other, and for what is not asked for.
  std::size_t find(std::string_view key) const noexcept;
  /// The first of that key; marks it as seen.
  bool is_new(std::size_t member) noexcept;
  template <class Value>
  void take(const object_member& member, const Value& value);
  template <class Value>
  void take_entry(std::string_view key, const Value& value);
  void check(bool good, std::string_view key) noexcept {
    if (!good && fault_.empty()) fault_ = key;
  }

  object_metadata& out_;
  metadata_fields asked_;
  std::uint32_t seen_{0};
  std::uint32_t present_{0};  ///< and not null
  std::string_view fault_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/object_reader.ipp>
#endif
