#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/json_writer.hpp>
#include <dataflux/gcs/detail/resource_writer.hpp>
#include <dataflux/gcs/detail/target.hpp>
#include <dataflux/gcs/error_reply.hpp>
#include <dataflux/gcs/object_resource.hpp>
#include <dataflux/gcs/object_verbs.hpp>

namespace dataflux::inline DATAFLUX_ABI::gcs {

namespace detail {

inline std::string insert_resource(const insert_request& r, const insert_body& body) {
  const attributes_view a = attributes_of(r);
  codec::json_writer json;
  json.begin_object().key("name").string(r.object).key("contentType").string(content_type_of(a));
  json.key("crc32c").string(codec::encode_crc32c(body.crc32c).view());
  append_attributes(json, a, body.mark);
  json.end_object();
  return std::move(json).take();
}

}  // namespace detail

DATAFLUX_INLINE void stat_verb::build(const call_context& context, const request& r, const state&,
                                      http::request& out) {
  detail::begin(context, http::method::get, out);
  detail::target_writer target{out};
  target.json_path(context.endpoint.json_buckets(), r.bucket, r.object).raw("prettyPrint=false");
  target.generation(r.generation).conditions(r.conditions);
  detail::bill_json(context, target, out);
}

DATAFLUX_INLINE result<object_metadata> stat_verb::parse(const request& r, const state&,
                                                         const whole_reply& reply) {
  auto found = parse_object_resource(reply, r.bucket, r.object);
  if (found && r.generation != 0 && found->generation != r.generation) {
    return error{errc::internal, "asked for generation " + std::to_string(r.generation) +
                                     ", but the reply is about generation " +
                                     std::to_string(found->generation)};
  }
  return found;
}

DATAFLUX_INLINE result<insert_body> insert_verb::prepare(const request& r, const call_id& id) {
  const attributes_view a = attributes_of(r);
  const std::string boundary = detail::hexadecimal(id);  // needs no quotes in Content-Type
  insert_body body;
  body.crc32c = codec::crc32c(r.data);
  body.mark = detail::mark_of(id, a);
  body.content_type = "multipart/related; boundary=" + boundary;
  body.preamble.append("--").append(boundary);
  body.preamble.append("\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n");
  body.preamble.append(detail::insert_resource(r, body));
  body.preamble.append("\r\n--").append(boundary);
  body.preamble.append("\r\nContent-Type: ").append(detail::content_type_of(a)).append("\r\n\r\n");
  body.epilogue.append("\r\n--").append(boundary).append("--\r\n");
  return body;
}

DATAFLUX_INLINE void insert_verb::build(const call_context& context, const request& r,
                                        const state& body, http::request& out) {
  detail::begin(context, http::method::post, out);
  detail::target_writer target{out};
  target.json_path(context.endpoint.upload_buckets(), r.bucket)
      .raw("uploadType=multipart")
      .raw("prettyPrint=false")
      .conditions(r.conditions)
      .optional_text("kmsKeyName", r.kms_key_name);
  detail::bill_json(context, target, out);
  out.headers.add("Content-Type", body.content_type);
  out.body.append(as_bytes(body.preamble));
  out.body.append(r.data);
  out.body.append(as_bytes(body.epilogue));
}

DATAFLUX_INLINE result<object_metadata> insert_verb::parse(const request& r, const state& body,
                                                           const whole_reply& reply) {
  auto stored = parse_object_resource(reply, r.bucket, r.object);
  if (!stored) return stored;
  if (auto same = check_stored(*stored, r.data.size(), body.crc32c); !same) return same.error();
  return stored;
}

DATAFLUX_INLINE bool insert_verb::is_ours(const request& r, const state& body,
                                          const object_metadata& found) {
  return r.conditions.if_generation_match != found.generation &&
         check_stored(found, r.data.size(), body.crc32c) &&
         detail::bears(found, body.mark, attributes_of(r));
}

DATAFLUX_INLINE void remove_verb::build(const call_context& context, const request& r, const state&,
                                        http::request& out) {
  detail::begin(context, http::method::del, out);
  detail::target_writer target{out};
  target.json_path(context.endpoint.json_buckets(), r.bucket, r.object);
  target.generation(r.generation).conditions(r.conditions);
  detail::bill_json(context, target, out);
}

DATAFLUX_INLINE result<void> remove_verb::parse(const request&, const state&,
                                                const whole_reply& reply) {
  return check_document(reply);
}

}  // namespace dataflux::inline DATAFLUX_ABI::gcs
