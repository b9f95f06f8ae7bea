#pragma once

#include <dataflux/codec/detail/base64.hpp>
#include <dataflux/codec/detail/xml.hpp>
#include <dataflux/s3/detail/entity_tag.hpp>
#include <dataflux/s3/detail/error_reply.hpp>
#include <dataflux/s3/detail/multipart_verbs.hpp>
#include <dataflux/s3/detail/target.hpp>
#include <dataflux/service/detail/upload_mark.hpp>
#include <dataflux/store/detail/validate.hpp>

#include <array>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

DATAFLUX_INLINE result<void> multipart_initiate_verb::check(const call_context& context,
                                                            const request& r) {
  if (auto known = check_attributes(r.attributes); !known) return known;
  return check_place(context, r.bucket);
}

DATAFLUX_INLINE result<std::string> multipart_initiate_verb::prepare(const request& r,
                                                                     const call_id& id) {
  std::string mark;
  service::write_mark(id, r.attributes, metadata_limit, mark);
  return mark;
}

DATAFLUX_INLINE void multipart_initiate_verb::build(const call_context& context, const request& r,
                                                    const state& mark, http::request& out) {
  begin(context, http::method::post, r.bucket, r.object, out).raw("uploads=");
  add_attributes(r.attributes, mark, out.headers);
  add_key(context.key, out);
  if (context.uploads == upload_checksum::none) return;
  out.headers.add("x-amz-checksum-algorithm", "CRC32C");
  out.headers.add("x-amz-checksum-type",
                  context.uploads == upload_checksum::full_object ? "FULL_OBJECT" : "COMPOSITE");
}

DATAFLUX_INLINE result<multipart_upload> multipart_initiate_verb::parse(const request& r,
                                                                        const state& mark,
                                                                        const whole_reply& reply) {
  const auto document = parse_document(reply, "InitiateMultipartUploadResult", identity(r));
  if (!document) return document.error();
  auto id = document->root().child_text("UploadId").value_or(std::string{});
  if (auto good = validate_upload_id(id); !good) {
    return error{errc::internal,
                 "InitiateMultipartUploadResult: " + std::string{good.error().message()}};
  }
  return multipart_upload{std::move(id), mark};
}

DATAFLUX_INLINE result<void> upload_part_verb::check(const call_context& context,
                                                     const request& r) {
  return check_place(context, r.bucket);
}

DATAFLUX_INLINE result<part_checksum> upload_part_verb::prepare(const request& r, const call_id&) {
  return part_checksum{r.crc32c ? *r.crc32c : crc32c(r.data)};
}

DATAFLUX_INLINE void upload_part_verb::build(const call_context& context, const request& r,
                                             const state& sum, http::request& out) {
  begin(context, http::method::put, r.bucket, r.object, out)
      .number("partNumber", r.part_number)
      .text("uploadId", r.upload_id);
  add_key(context.key, out);
  out.headers.add("x-amz-checksum-crc32c", encode_crc32c(sum.crc32c).view());
  out.body.append(r.data);
}

DATAFLUX_INLINE result<uploaded_part> upload_part_verb::parse(const request& r, const state& sum,
                                                              const whole_reply& reply) {
  if (auto fit = check_document(reply, identity(r)); !fit) return std::move(fit).error();
  if (reply.facts.generation == 0) {
    return error{errc::internal,
                 "the reply to a part has no ETag: the server does not know multipart uploads, and "
                 "may have stored the part in place of the object"};
  }
  if (!reply.facts.crc32c) return reply.facts.crc32c.error();
  if (const auto stored = *reply.facts.crc32c; stored && *stored != sum.crc32c) {
    return error{errc::data_loss, "part " + std::to_string(r.part_number) +
                                      " was stored with another CRC32C than it was sent with"};
  }
  return uploaded_part{r.part_number, r.data.size(), sum.crc32c, reply.facts.etag};
}

/// The checksum of the parts' checksums, as S3 writes it.
inline std::string composite_of(const std::vector<uploaded_part>& parts) {
  std::uint32_t crc = 0;
  for (const uploaded_part& part : parts) {
    std::array<std::byte, 4> big_endian{};
    for (unsigned i = 0; i < 4; ++i) {
      big_endian[i] = static_cast<std::byte>(part.crc32c >> (24 - 8 * i) & 0xFFU);
    }
    crc = crc32c_extend(crc, big_endian);
  }
  return std::string{encode_crc32c(crc).view()} + "-" + std::to_string(parts.size());
}

DATAFLUX_INLINE result<void> multipart_complete_verb::check(const call_context& context,
                                                            const request& r) {
  if (auto known = check_write_conditions(r.conditions); !known) return known;
  return check_place(context, r.bucket);
}

DATAFLUX_INLINE result<complete_state> multipart_complete_verb::prepare(const request& r,
                                                                        const call_id&) {
  std::vector<codec::completed_part> parts;
  parts.reserve(r.parts.size());
  complete_state s;
  for (const uploaded_part& part : r.parts) {
    parts.push_back({static_cast<std::int32_t>(part.part_number), part.etag, part.crc32c});
    s.whole.append({part.crc32c, part.size});
  }
  auto document = codec::write_complete_request(parts);
  if (!document) return document.error();
  s.document = *std::move(document);
  for (codec::completed_part& part : parts) part.crc32c.reset();
  auto bare = codec::write_complete_request(parts);
  if (!bare) return bare.error();
  s.bare = *std::move(bare);
  s.composite = composite_of(r.parts);
  return s;
}

DATAFLUX_INLINE void multipart_complete_verb::build(const call_context& context, const request& r,
                                                    const state& s, http::request& out) {
  const auto wanted = r.conditions.if_generation_match;
  if (lacks_tag(wanted, s.tag)) {
    begin(context, http::method::head, r.bucket, r.object, out);
    add_key(context.key, out);
    return;
  }
  begin(context, http::method::post, r.bucket, r.object, out).text("uploadId", r.upload_id);
  out.headers.add("Content-Type", "application/xml");
  out.headers.add("x-amz-mp-object-size", s.whole.length());
  if (context.uploads == upload_checksum::full_object) {
    out.headers.add("x-amz-checksum-crc32c", encode_crc32c(s.whole.crc()).view());
    out.headers.add("x-amz-checksum-type", "FULL_OBJECT");
  }
  add_state(wanted, s.tag, out.headers);
  out.body.append(as_bytes(context.uploads == upload_checksum::none ? s.bare : s.document));
}

/// Holds what the server says of the checksum against the parts'. True: it is that of all bytes.
inline result<bool> compare_checksum(const codec::complete_result& told, const complete_state& s) {
  if (told.crc32c.empty()) return false;
  const bool composite =
      told.crc32c.find('-') != std::string::npos || told.checksum_type == "COMPOSITE";
  const std::string_view ours =
      composite ? std::string_view{s.composite}.substr(0, told.crc32c.size()) : std::string_view{};
  const bool same =
      composite ? told.crc32c == ours : told.crc32c == encode_crc32c(s.whole.crc()).view();
  if (same) return !composite;
  return std::move(error{errc::data_loss, "the object was stored with another checksum (" +
                                              told.crc32c + ") than its parts have"}
                       .with_generation(generation_of(told.etag)));
}

DATAFLUX_INLINE result<std::optional<object_metadata>> multipart_complete_verb::parse(
    const request& r, state& s, const whole_reply& reply) {
  if (const auto wanted = r.conditions.if_generation_match; lacks_tag(wanted, s.tag)) {
    if (auto known = s.tag.take(*wanted, reply.facts); !known) return std::move(known).error();
    return std::optional<object_metadata>{};
  }
  const auto document = parse_document(reply, "CompleteMultipartUploadResult", identity(r));
  if (!document) return document.error();
  const auto told = codec::read_complete_result(document->root());
  if (generation_of(told.etag) == 0) return untold_write();
  const auto whole = compare_checksum(told, s);
  if (!whole) return whole.error();
  object_metadata stored;
  stored.bucket = r.bucket;
  stored.name = r.object;
  stored.size = s.whole.length();
  stored.etag = told.etag;
  stored.generation = generation_of(told.etag);
  if (*whole) stored.crc32c = s.whole.crc();
  return std::optional{std::move(stored)};
}

DATAFLUX_INLINE bool multipart_complete_verb::is_ours(const request& r, const state& s,
                                                      const object_metadata& found) {
  return same_content(found, s.whole.length(), s.whole.crc()) &&
         (r.mark.empty() || found.upload_mark == r.mark);
}

DATAFLUX_INLINE result<void> multipart_abort_verb::check(const call_context& context,
                                                         const request& r) {
  return check_place(context, r.bucket);
}

DATAFLUX_INLINE void multipart_abort_verb::build(const call_context& context, const request& r,
                                                 const state&, http::request& out) {
  begin(context, http::method::del, r.bucket, r.object, out).text("uploadId", r.upload_id);
}

DATAFLUX_INLINE result<void> multipart_abort_verb::parse(const request& r, const state&,
                                                         const whole_reply& reply) {
  return check_document(reply, identity(r));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
