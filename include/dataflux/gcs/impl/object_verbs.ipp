#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/json_writer.hpp>
#include <dataflux/gcs/detail/target.hpp>
#include <dataflux/gcs/object_resource.hpp>
#include <dataflux/gcs/object_verbs.hpp>

namespace dataflux::inline DATAFLUX_ABI::gcs {

namespace detail {

/// 32 hexadecimal digits: needs no quotes in Content-Type.
inline std::string boundary_of(const call_id& id) {
  constexpr std::string_view digits{"0123456789abcdef"};
  std::string text;
  for (const std::uint64_t half : id) {
    for (int shift = 60; shift >= 0; shift -= 4) text.push_back(digits[(half >> shift) & 0xfU]);
  }
  return text;
}

inline std::string insert_resource(const insert_request& r, std::string_view content_type,
                                   std::uint32_t crc32c) {
  codec::json_writer json;
  json.begin_object().key("name").string(r.object).key("contentType").string(content_type);
  json.key("crc32c").string(codec::encode_crc32c(crc32c).view());
  if (!r.metadata.empty()) {
    json.key("metadata").begin_object();
    for (const auto& [key, value] : r.metadata) json.key(key).string(value);
    json.end_object();
  }
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
  const std::string boundary = detail::boundary_of(id);
  const std::string_view type =
      r.content_type.empty() ? std::string_view{"application/octet-stream"} : r.content_type;
  insert_body body;
  body.crc32c = codec::crc32c(r.data);
  body.content_type = "multipart/related; boundary=" + boundary;
  body.preamble.append("--").append(boundary);
  body.preamble.append("\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n");
  body.preamble.append(detail::insert_resource(r, type, body.crc32c));
  body.preamble.append("\r\n--").append(boundary);
  body.preamble.append("\r\nContent-Type: ").append(type).append("\r\n\r\n");
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
      .conditions(r.conditions);
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

DATAFLUX_INLINE void remove_verb::build(const call_context& context, const request& r, const state&,
                                        http::request& out) {
  detail::begin(context, http::method::del, out);
  detail::target_writer target{out};
  target.json_path(context.endpoint.json_buckets(), r.bucket, r.object);
  target.generation(r.generation).conditions(r.conditions);
  detail::bill_json(context, target, out);
}

DATAFLUX_INLINE result<void> remove_verb::parse(const request&, const state&, const whole_reply&) {
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::gcs
