#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/time_within.hpp>
#include <dataflux/s3/detail/checksum_fields.hpp>
#include <dataflux/s3/detail/copy_verb.hpp>
#include <dataflux/s3/detail/entity_tag.hpp>
#include <dataflux/s3/detail/error_reply.hpp>
#include <dataflux/s3/detail/target.hpp>
#include <dataflux/service/detail/upload_mark.hpp>

#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

DATAFLUX_INLINE result<void> copy_verb::check(const call_context& context, const request& r) {
  if (auto known = check_attributes(r.attributes); !known) return known;
  if (auto known = check_read_conditions(r.source_conditions); !known) return known;
  if (auto known = check_write_conditions(r.conditions); !known) return known;
  if (auto known = check_copy_source(r.source_bucket); !known) return known;
  if (auto known = check_place(context, r.source_bucket); !known) return known;
  return check_place(context, r.bucket);
}

DATAFLUX_INLINE error too_large_for_one() {
  return std::move(
      error{errc::unimplemented, "the source is too large for one request"}.with_reason(
          std::string{too_large_reason}));
}

DATAFLUX_INLINE std::optional<error> other_keys(const rewrite_request& r) {
  if (!r.source_key && !r.key) return std::nullopt;
  return error{
      errc::unimplemented,
      "this copy is made in parts, since it is large or has a condition, and cannot change "
      "the key: read it by a client of the one key and write it by one of the other"};
}

DATAFLUX_INLINE void copy_verb::build(const call_context& context, const request& r, const state& s,
                                      http::request& out) {
  s.at_once = context.copy_at_once;
  if (!s.source) {
    begin(context, http::method::head, r.source_bucket, r.source, out);
    out.headers.add("x-amz-checksum-mode", "ENABLED");
    add_key(key_of(r.source_key, context.key), out);
    return;
  }
  const held_key* const key = key_of(r.key, context.key);
  const auto wanted = r.conditions.if_generation_match;
  if (lacks_tag(wanted, s.tag)) {
    begin(context, http::method::head, r.bucket, r.object, out);
    add_key(key, out);
    return;
  }
  begin(context, http::method::put, r.bucket, r.object, out);
  add_source_key(key_of(r.source_key, context.key), out);
  add_key(key, out);
  out.headers.add("x-amz-copy-source", copy_source(r.source_bucket, r.source));
  out.headers.add("x-amz-copy-source-if-match", quoted_tag(s.source->etag));
  object_attributes asked = r.attributes;
  if (!r.attributes.empty()) out.headers.add("x-amz-metadata-directive", "REPLACE");
  if (asked.storage_class.empty()) asked.storage_class = s.source->storage_class;
  if (r.attributes.empty()) asked.content_type = s.source->content_type;
  add_attributes(asked, {}, out.headers);
  add_state(wanted, s.tag, out.headers);
}

/// What the copy has besides its bytes: as build() asked for it.
inline object_metadata attributes_of_copy(const rewrite_request& r, const object_metadata& source) {
  object_metadata made = source;
  made.kms_key_name = r.attributes.kms_key_name;
  if (r.attributes.empty()) return made;
  set_attributes(r.attributes, made);
  made.content_type = service::content_type_of(r.attributes);
  if (made.storage_class.empty()) made.storage_class = source.storage_class;
  made.upload_mark.clear();
  return made;
}

/// A copy of which nothing was told has no checksum: that of the source was compared with nothing.
inline result<std::optional<std::uint32_t>> checksum_of_copy(const codec::xml_element& root,
                                                             const object_metadata& source,
                                                             std::int64_t generation) {
  const std::string sum = root.child_text("ChecksumCRC32C").value_or(std::string{});
  const std::string type = root.child_text("ChecksumType").value_or(std::string{});
  checksum_reader reader;
  reader.take("CRC32C", sum);
  reader.type(type);
  const auto told = reader.finish();
  if (!told) return std::move(error{told.error()}.with_generation(generation));
  if (!told->crc32c || *told->crc32c == source.crc32c.value_or(*told->crc32c)) return told->crc32c;
  return std::move(error{errc::data_loss, "the copy was stored with CRC32C " +
                                              std::string{encode_crc32c(*told->crc32c).view()} +
                                              ", but its source has " +
                                              std::string{encode_crc32c(*source.crc32c).view()}}
                       .with_generation(generation));
}

DATAFLUX_INLINE result<std::optional<object_metadata>> copy_verb::parse(const request& r, state& s,
                                                                        const whole_reply& reply) {
  if (!s.source) {
    if (!s.head) return s.head.error();
    auto fits = check_found(s.head->generation, r.source_generation, r.source_conditions);
    if (!fits) return std::move(fits).error();
    if (s.head->generation == 0) return check_found(0, 1, {}).error();
    if (s.head->size > s.at_once) return too_large_for_one();
    s.source = *s.head;
    return std::optional<object_metadata>{};
  }
  if (const auto wanted = r.conditions.if_generation_match; lacks_tag(wanted, s.tag)) {
    if (auto known = s.tag.take(*wanted, reply.facts); !known) return std::move(known).error();
    return std::optional<object_metadata>{};
  }
  const auto document = parse_document(reply, "CopyObjectResult", identity(r));
  if (!document) return document.error();
  object_metadata made = attributes_of_copy(r, *s.source);
  made.bucket = r.bucket;
  made.name = r.object;
  made.etag = document->root().child_text("ETag").value_or(std::string{});
  made.generation = generation_of(made.etag);
  if (made.generation == 0) return untold_write();
  const auto sum = checksum_of_copy(document->root(), *s.source, made.generation);
  if (!sum) return sum.error();
  made.crc32c = *sum;
  made.updated = codec::parse_time_within(document->root().child_text("LastModified").value_or(""));
  made.created = made.updated;
  return std::optional{std::move(made)};
}

DATAFLUX_INLINE bool copy_verb::is_ours(const request&, const state& s,
                                        const object_metadata& found) {
  if (!s.source || found.size != s.source->size) return false;
  if (s.source->crc32c && found.crc32c) return *found.crc32c == *s.source->crc32c;
  return found.generation != 0 && found.generation == s.source->generation;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
