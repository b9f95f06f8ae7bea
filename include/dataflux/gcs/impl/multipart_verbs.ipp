#pragma once

#include <dataflux/codec/detail/xml.hpp>
#include <dataflux/gcs/detail/error_reply.hpp>
#include <dataflux/gcs/detail/multipart_verbs.hpp>
#include <dataflux/gcs/detail/object_resource.hpp>
#include <dataflux/gcs/detail/resource_writer.hpp>
#include <dataflux/gcs/detail/target.hpp>
#include <dataflux/service/detail/broken_page.hpp>
#include <dataflux/store/detail/attributes.hpp>
#include <dataflux/store/detail/validate.hpp>

#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// Method, path and payer of every call about one object of the XML API.
template <class Request>
target_writer begin_xml(const call_context& context, http::method method, const Request& r,
                        http::request& out) {
  begin(context, method, out);
  bill_xml(context, out);
  target_writer target{out};
  target.xml_path(context.endpoint.xml_buckets(), r.bucket, r.object);
  return target;
}

/// The error of a document that is not the expected one: what it is says more than what it lacks.
inline error wrong_document(const service::call_identity& call, const service::whole_reply& reply,
                            error found) {
  auto fit = check_document(reply, call);
  return fit ? std::move(found) : std::move(fit).error();
}

inline constexpr std::uint32_t greatest_xml_page = 1000;

DATAFLUX_INLINE result<std::string> multipart_initiate_verb::prepare(const request& r,
                                                                     const call_id& id) {
  return mark_of(id, r.attributes);
}

DATAFLUX_INLINE void multipart_initiate_verb::build(const call_context& context, const request& r,
                                                    const state& mark, http::request& out) {
  begin_xml(context, http::method::post, r, out).raw("uploads");
  const object_attributes& a = r.attributes;
  const auto add = [&out](std::string_view name, std::string_view value) {
    if (!value.empty()) out.headers.add(name, value);
  };
  add("Content-Type", content_type_of(a));
  add("Content-Encoding", a.content_encoding);
  add("Cache-Control", a.cache_control);
  add("Content-Disposition", a.content_disposition);
  add("Content-Language", a.content_language);
  add("x-goog-storage-class", a.storage_class);
  if (a.custom_time) add("x-goog-custom-time", to_string(*a.custom_time));
  add("x-goog-encryption-kms-key-name", a.kms_key_name);
  add_key(context.key, out);
  std::string name;
  for (const auto& [key, value] : a.metadata) {
    name.assign("x-goog-meta-").append(key);
    out.headers.add(name, value);
  }
  add(name.assign("x-goog-meta-").append(upload_mark_key), mark);
}

DATAFLUX_INLINE result<multipart_upload> multipart_initiate_verb::parse(
    const request& r, const state& mark, const service::whole_reply& reply) {
  auto id = codec::parse_initiate_result(reply.body);
  if (!id) return wrong_document(identity(r), reply, std::move(id.error()));
  if (auto good = validate_upload_id(*id); !good) {
    return error{errc::internal,
                 "InitiateMultipartUploadResult: " + std::string{good.error().message()}};
  }
  return multipart_upload{*std::move(id), mark};
}

DATAFLUX_INLINE result<part_checksum> upload_part_verb::prepare(const request& r, const call_id&) {
  return part_checksum{r.crc32c ? *r.crc32c : crc32c(r.data)};
}

DATAFLUX_INLINE void upload_part_verb::build(const call_context& context, const request& r,
                                             const state& sum, http::request& out) {
  begin_xml(context, http::method::put, r, out)
      .number("partNumber", r.part_number)
      .text("uploadId", r.upload_id);
  add_key(context.key, out);
  char hash[15];
  std::string_view{"crc32c="}.copy(hash, 7);
  encode_crc32c(sum.crc32c).view().copy(hash + 7, 8);
  out.headers.add("x-goog-hash", std::string_view{hash, sizeof hash});
  out.body.append(r.data);
}

DATAFLUX_INLINE result<uploaded_part> upload_part_verb::parse(const request& r, const state& sum,
                                                              const service::whole_reply& reply) {
  if (auto fit = check_document(reply); !fit) return std::move(fit).error();
  if (reply.facts.etag.empty()) {
    return error{errc::internal,
                 "the reply to a part has no ETag: the server does not know multipart uploads, and "
                 "may have stored the part in place of the object"};
  }
  if (!reply.facts.crc32c) return reply.facts.crc32c.error();
  const auto stored = *reply.facts.crc32c;
  if (stored && *stored != sum.crc32c) {
    return error{errc::data_loss, "part " + std::to_string(r.part_number) +
                                      " was stored with another CRC32C than it was sent with"};
  }
  return uploaded_part{r.part_number, r.data.size(), sum.crc32c, reply.facts.etag};
}

DATAFLUX_INLINE result<complete_body> multipart_complete_verb::prepare(const request& r,
                                                                       const call_id&) {
  if (r.conditions.any()) {
    return error{errc::unimplemented,
                 "a multipart upload of Google's takes no conditions: complete it under a "
                 "temporary name, and move the object"};
  }
  std::vector<codec::completed_part> parts;
  parts.reserve(r.parts.size());
  for (const uploaded_part& part : r.parts) {
    parts.push_back({static_cast<std::int32_t>(part.part_number), part.etag});
  }
  auto document = codec::write_complete_request(parts);
  if (!document) return document.error();
  return complete_body{*std::move(document), combined_parts(r.parts)};
}

DATAFLUX_INLINE void multipart_complete_verb::build(const call_context& context, const request& r,
                                                    const state& body, http::request& out) {
  begin_xml(context, http::method::post, r, out).text("uploadId", r.upload_id);
  out.headers.add("Content-Type", "application/xml");
  out.body.append(as_bytes(body.document));
}

DATAFLUX_INLINE result<object_metadata> multipart_complete_verb::parse(
    const request& r, const state& body, const service::whole_reply& reply) {
  auto document = codec::parse_complete_result(reply.body);
  if (!document) {
    // A repeat is safe: it completes, or finds the upload gone, which on_repeat() sorts out.
    return wrong_document(identity(r), reply, std::move(document.error().with_retryable(true)));
  }
  if (!reply.facts.crc32c) {
    return std::move(error{reply.facts.crc32c.error()}.with_generation(reply.facts.generation));
  }
  object_metadata stored;
  stored.bucket = r.bucket;
  stored.name = r.object;
  stored.size = body.whole.length();
  stored.generation = reply.facts.generation;
  stored.metageneration = reply.facts.metageneration;
  stored.crc32c = *reply.facts.crc32c;
  stored.etag = std::move(document->etag);
  if (stored.crc32c) {
    auto same = check_stored(stored, body.whole.length(), body.whole.crc());
    if (!same) return same.error();
  }
  return stored;
}

DATAFLUX_INLINE void multipart_abort_verb::build(const call_context& context, const request& r,
                                                 const state&, http::request& out) {
  begin_xml(context, http::method::del, r, out).text("uploadId", r.upload_id);
}

DATAFLUX_INLINE result<void> multipart_abort_verb::parse(const request&, const state&,
                                                         const service::whole_reply& reply) {
  return check_document(reply);
}

DATAFLUX_INLINE bool multipart_complete_verb::is_ours(const request& r, const state& body,
                                                      const object_metadata& found) {
  return check_stored(found, body.whole.length(), body.whole.crc()) &&
         (r.mark.empty() || found.upload_mark == r.mark);
}

DATAFLUX_INLINE void list_parts_verb::build(const call_context& context, const request& r,
                                            const state&, http::request& out) {
  auto target = begin_xml(context, http::method::get, r, out);
  target.text("uploadId", r.upload_id)
      .number("max-parts", r.max_results == 0 ? greatest_xml_page : r.max_results);
  if (r.marker != 0) target.number("part-number-marker", r.marker);
}

DATAFLUX_INLINE result<part_page> list_parts_verb::parse(const request& r, const state&,
                                                         const service::whole_reply& reply) {
  auto listed = codec::parse_list_parts_result(reply.body);
  if (!listed) {
    return wrong_document(identity(r), reply, std::move(listed.error().with_retryable(true)));
  }
  return service::read_part_page(*std::move(listed), r.marker);
}

DATAFLUX_INLINE void list_uploads_verb::build(const call_context& context, const request& r,
                                              const state&, http::request& out) {
  begin(context, http::method::get, out);
  bill_xml(context, out);
  target_writer target{out};
  target.bucket_path(context.endpoint.xml_buckets(), r.bucket)
      .raw("uploads")
      .number("max-uploads", r.max_results == 0 ? greatest_xml_page : r.max_results)
      .optional_text("prefix", r.prefix)
      .optional_text("key-marker", r.object_marker)
      .optional_text("upload-id-marker", r.upload_marker);
}

DATAFLUX_INLINE result<upload_page> list_uploads_verb::parse(const request& r, const state&,
                                                             const service::whole_reply& reply) {
  auto listed = codec::parse_list_uploads_result(reply.body);
  if (!listed) {
    return wrong_document(identity(r), reply, std::move(listed.error().with_retryable(true)));
  }
  upload_page page;
  for (codec::listed_upload& upload : listed->uploads) {
    if (!upload.key.starts_with(r.prefix)) {
      return service::broken_page("the upload", upload.key, "lacks the prefix asked for");
    }
    page.uploads.push_back({std::move(upload.key), std::move(upload.upload_id),
                            std::move(upload.storage_class), upload.initiated});
  }
  if (!listed->truncated) return page;
  return service::with_next(std::move(page), r, std::move(listed->next_key_marker),
                            std::move(listed->next_upload_id_marker));
}

DATAFLUX_INLINE crc32c_accumulator combined_parts(std::span<const uploaded_part> parts) noexcept {
  crc32c_accumulator whole;
  for (const uploaded_part& part : parts) whole.append({part.crc32c, part.size});
  return whole;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs
