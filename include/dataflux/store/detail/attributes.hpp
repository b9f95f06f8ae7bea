#pragma once

#include <dataflux/store/object_metadata.hpp>

#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The custom metadata key of object_metadata::upload_mark; no request may use it.
inline constexpr std::string_view upload_mark_key{"dataflux-upload"};

/// What a write gives its object besides bytes and name, as it is kept.
inline void set_attributes(const object_attributes& given, object_metadata& out) {
  out.content_type = given.content_type;
  out.metadata = given.metadata;
  out.content_encoding = given.content_encoding;
  out.cache_control = given.cache_control;
  out.content_disposition = given.content_disposition;
  out.content_language = given.content_language;
  out.storage_class = given.storage_class;
  out.custom_time = given.custom_time;
  out.kms_key_name = given.kms_key_name;
}

/// What a stat that asks for `asked` gives of an object.
inline object_metadata only_fields(metadata_fields asked, object_metadata m) {
  const auto keep = [asked](metadata_fields field, auto&... members) {
    if (!has(asked, field)) ((members = {}), ...);
  };
  keep(metadata_fields::metageneration, m.metageneration);
  keep(metadata_fields::md5_hash, m.md5_hash);
  keep(metadata_fields::etag, m.etag);
  keep(metadata_fields::content_type, m.content_type);
  keep(metadata_fields::content_encoding, m.content_encoding);
  keep(metadata_fields::content_disposition, m.content_disposition);
  keep(metadata_fields::content_language, m.content_language);
  keep(metadata_fields::cache_control, m.cache_control);
  keep(metadata_fields::storage_class, m.storage_class);
  keep(metadata_fields::kms_key_name, m.kms_key_name);
  keep(metadata_fields::created, m.created);
  keep(metadata_fields::updated, m.updated);
  keep(metadata_fields::custom_time, m.custom_time);
  keep(metadata_fields::component_count, m.component_count);
  keep(metadata_fields::metadata, m.metadata, m.upload_mark);
  return m;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
