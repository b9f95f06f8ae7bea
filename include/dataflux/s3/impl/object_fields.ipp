#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/http/detail/characters.hpp>
#include <dataflux/http/detail/http_date.hpp>
#include <dataflux/s3/detail/checksum_fields.hpp>
#include <dataflux/s3/detail/entity_tag.hpp>
#include <dataflux/s3/detail/object_fields.hpp>
#include <dataflux/service/detail/text.hpp>
#include <dataflux/service/detail/upload_mark.hpp>
#include <dataflux/store/detail/attributes.hpp>
#include <dataflux/store/detail/validate.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

inline constexpr std::string_view metadata_start{"x-amz-meta-"};

DATAFLUX_INLINE result<void> check_attributes(const object_attributes& a) {
  if (a.custom_time) {
    return error{errc::unimplemented, "S3 keeps no custom_time: use custom metadata"};
  }
  std::size_t bytes = 0;
  for (const auto& [key, value] : a.metadata) bytes += key.size() + value.size();
  if (bytes > metadata_limit) {
    return error{errc::invalid_argument,
                 "custom metadata of " + std::to_string(bytes) + " bytes: at most 2048 on S3"};
  }
  return detail::validate_header_metadata(a);
}

DATAFLUX_INLINE void add_attributes(const object_attributes& a, std::string_view mark,
                                    http::header_list& headers) {
  const auto add = [&headers](std::string_view name, std::string_view value) {
    if (!value.empty()) headers.add(name, value);
  };
  add("Content-Type", service::content_type_of(a));
  add("Content-Encoding", a.content_encoding);
  add("Cache-Control", a.cache_control);
  add("Content-Disposition", a.content_disposition);
  add("Content-Language", a.content_language);
  add("x-amz-storage-class", a.storage_class);
  if (!a.kms_key_name.empty()) {
    add("x-amz-server-side-encryption", "aws:kms");
    add("x-amz-server-side-encryption-aws-kms-key-id", a.kms_key_name);
  }
  std::string name;
  for (const auto& [key, value] : a.metadata) {
    headers.add(name.assign(metadata_start).append(key), value);
  }
  add(name.assign(metadata_start).append(upload_mark_key), mark);
}

/// One field; those that are texts of the metadata by their names.
inline void take_object_field(const http::reply_head::field& field, object_metadata& out) {
  struct known {
    std::string_view name;
    std::string object_metadata::*slot;
  };
  static constexpr known table[] = {
      {"content-type", &object_metadata::content_type},
      {"content-encoding", &object_metadata::content_encoding},
      {"content-disposition", &object_metadata::content_disposition},
      {"content-language", &object_metadata::content_language},
      {"cache-control", &object_metadata::cache_control},
      {"x-amz-storage-class", &object_metadata::storage_class},
      {"x-amz-server-side-encryption-aws-kms-key-id", &object_metadata::kms_key_name},
  };
  for (const known& k : table) {
    if (!http::equals_ignoring_case(field.name, k.name)) continue;
    service::set_header_text(out.*k.slot, field.value);
    return;
  }
  if (http::equals_ignoring_case(field.name, "etag")) {
    out.etag = service::tag_in(field.value);
  } else if (http::equals_ignoring_case(field.name, "last-modified")) {
    out.updated = http::parse_http_date(field.value);
  } else if (service::starts_with_ignoring_case(field.name, metadata_start)) {
    std::string key;
    std::string value;
    service::set_header_text(key, field.name.substr(metadata_start.size()));
    service::set_header_text(value, field.value);
    for (char& c : key) c = http::to_lower(c);
    if (key == upload_mark_key) {
      out.upload_mark = std::move(value);
    } else {
      out.metadata.emplace_back(std::move(key), std::move(value));
    }
  }
}

DATAFLUX_INLINE result<object_metadata> read_object_head(const http::reply_head& head,
                                                         std::string_view bucket,
                                                         std::string_view object) {
  object_metadata out;
  out.bucket = bucket;
  out.name = object;
  for (const auto& field : head.fields()) take_object_field(field, out);
  // An object is never changed: what is there was made when it was last modified.
  out.created = out.updated;
  out.generation = generation_of(out.etag);
  if (out.storage_class.empty()) out.storage_class = "STANDARD";
  auto sums = checksums_of(head);
  if (!sums) return std::move(sums).error();
  out.crc32c = sums->crc32c;
  out.other_checksum = sums->other;
  const auto size = http::parse_decimal(head.find("content-length").value_or(""));
  const bool none_has_sum = size == 0U && out.crc32c.value_or(0) != 0;
  if (!size || *size > greatest_object || none_has_sum) {
    return error{errc::internal,
                 none_has_sum ? "the reply says that the object has no bytes, and a CRC32C of some"
                              : "the reply to HEAD lacks a size that an object can have: something "
                                "between here and the service may have dropped Content-Length"};
  }
  out.size = *size;
  return out;
}

DATAFLUX_INLINE result<void> check_write_conditions(const preconditions& c) {
  if (c.if_generation_not_match || c.if_metageneration_match || c.if_metageneration_not_match) {
    return error{errc::unimplemented, "conditions: a write to S3 knows if_generation_match alone"};
  }
  return {};
}

DATAFLUX_INLINE result<void> known_tag::take(std::int64_t wanted, const reply_facts& facts) {
  if (facts.generation == 0) return check_found(0, wanted, {});
  if (facts.generation != wanted) {
    return std::move(error{errc::failed_precondition,
                           "a condition of the call does not hold: the object is not what was "
                           "expected"}
                         .with_http_status(412));
  }
  of = wanted;
  etag = quoted_tag(facts.etag);
  return {};
}

DATAFLUX_INLINE void add_state(std::optional<std::int64_t> state, const known_tag& tag,
                               http::header_list& headers) {
  if (!state) return;
  *state == 0 ? headers.add("If-None-Match", "*") : headers.add("If-Match", tag.etag);
}

DATAFLUX_INLINE bool same_content(const object_metadata& found, std::uint64_t size,
                                  std::uint32_t crc32c) noexcept {
  return found.size == size && found.crc32c.value_or(crc32c) == crc32c;
}

DATAFLUX_INLINE error untold_write() {
  return {errc::internal,
          "the reply to a write has no ETag, so that nobody can tell what was stored"};
}

DATAFLUX_INLINE result<object_metadata> stored_object(const reply_facts& facts,
                                                      std::string_view bucket,
                                                      std::string_view object, std::uint64_t size,
                                                      std::uint32_t crc32c) {
  if (facts.generation == 0) return untold_write();
  if (!facts.crc32c) {
    return std::move(error{facts.crc32c.error()}.with_generation(facts.generation));
  }
  object_metadata stored;
  stored.bucket = bucket;
  stored.name = object;
  stored.size = size;
  stored.generation = facts.generation;
  stored.etag = facts.etag;
  stored.crc32c = *facts.crc32c;
  if (same_content(stored, size, crc32c)) return stored;
  return std::move(error{errc::data_loss,
                         "stored with CRC32C " + std::string{encode_crc32c(*stored.crc32c).view()} +
                             ", but sent with " + std::string{encode_crc32c(crc32c).view()}}
                       .with_generation(stored.generation));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
