#pragma once

#include <dataflux/codec/xml.hpp>
#include <dataflux/gcs/detail/target.hpp>
#include <dataflux/gcs/error_reply.hpp>
#include <dataflux/gcs/multipart_verbs.hpp>
#include <dataflux/gcs/object_resource.hpp>

#include <vector>

namespace dataflux::inline DATAFLUX_ABI::gcs {

namespace detail {

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

/// The error of a document that is not the expected one: an `<Error>` speaks for itself, whatever
/// the status.
inline error wrong_document(const call_identity& call, const whole_reply& reply, error found) {
  if (codec::parse_xml_error(reply.body)) return parse_error(call, reply.facts, reply.body);
  if (is_web_page(reply.facts, reply.body)) {
    return error{errc::internal,
                 "a web page answered instead of the service: is the endpoint right?"};
  }
  return found;
}

}  // namespace detail

DATAFLUX_INLINE void multipart_initiate_verb::build(const call_context& context, const request& r,
                                                    const state&, http::request& out) {
  detail::begin_xml(context, http::method::post, r, out).raw("uploads");
  out.headers.add("Content-Type", r.content_type.empty()
                                      ? std::string_view{"application/octet-stream"}
                                      : r.content_type);
  std::string name;
  for (const auto& [key, value] : r.metadata) {
    name.assign("x-goog-meta-").append(key);
    out.headers.add(name, value);
  }
}

DATAFLUX_INLINE result<multipart_upload> multipart_initiate_verb::parse(const request& r,
                                                                        const state&,
                                                                        const whole_reply& reply) {
  auto id = codec::parse_initiate_result(reply.body);
  if (!id) return detail::wrong_document(identity(r), reply, std::move(id.error()));
  return multipart_upload{*std::move(id)};
}

DATAFLUX_INLINE result<part_checksum> upload_part_verb::prepare(const request& r, const call_id&) {
  return part_checksum{r.crc32c ? *r.crc32c : codec::crc32c(r.data)};
}

DATAFLUX_INLINE void upload_part_verb::build(const call_context& context, const request& r,
                                             const state& sum, http::request& out) {
  detail::begin_xml(context, http::method::put, r, out)
      .number("partNumber", r.part_number)
      .text("uploadId", r.upload_id);
  char hash[15];
  std::string_view{"crc32c="}.copy(hash, 7);
  codec::encode_crc32c(sum.crc32c).view().copy(hash + 7, 8);
  out.headers.add("x-goog-hash", std::string_view{hash, sizeof hash});
  out.body.append(r.data);
}

DATAFLUX_INLINE result<uploaded_part> upload_part_verb::parse(const request& r, const state& sum,
                                                              const whole_reply& reply) {
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
  detail::begin_xml(context, http::method::post, r, out).text("uploadId", r.upload_id);
  out.headers.add("Content-Type", "application/xml");
  out.body.append(as_bytes(body.document));
}

DATAFLUX_INLINE result<object_metadata> multipart_complete_verb::parse(const request& r,
                                                                       const state& body,
                                                                       const whole_reply& reply) {
  auto document = codec::parse_complete_result(reply.body);
  if (!document) {
    // A repeat is safe: it completes, or finds the upload gone, which on_repeat() sorts out.
    return detail::wrong_document(identity(r), reply,
                                  std::move(document.error().with_retryable(true)));
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
  detail::begin_xml(context, http::method::del, r, out).text("uploadId", r.upload_id);
}

DATAFLUX_INLINE result<void> multipart_abort_verb::parse(const request&, const state&,
                                                         const whole_reply&) {
  return {};
}

DATAFLUX_INLINE codec::crc32c_accumulator combined_parts(
    std::span<const uploaded_part> parts) noexcept {
  codec::crc32c_accumulator whole;
  for (const uploaded_part& part : parts) whole.append({part.crc32c, part.size});
  return whole;
}

}  // namespace dataflux::inline DATAFLUX_ABI::gcs
