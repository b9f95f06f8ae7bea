#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/gcs/detail/error_reply.hpp>
#include <dataflux/gcs/detail/object_reader.hpp>
#include <dataflux/gcs/detail/object_resource.hpp>
#include <dataflux/gcs/detail/object_verbs.hpp>
#include <dataflux/gcs/detail/resource_writer.hpp>
#include <dataflux/gcs/detail/target.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// Behind what `to` has already.
inline void append_insert_resource(const insert_request& r, const insert_body& body,
                                   std::string& to) {
  const object_attributes& a = r.attributes;
  codec::json_writer json{std::move(to)};
  json.begin_object().key("name").string(r.object).key("contentType").string(content_type_of(a));
  json.key("crc32c").string(encode_crc32c(body.crc32c).view());
  append_attributes(json, a, body.mark);
  json.end_object();
  to = std::move(json).take();
}

/// Which members of the resource the reply is to have.
inline void add_fields(target_writer& target, metadata_fields asked) {
  if (asked == metadata_fields::all) return;
  std::string fields;
  for (const object_member& member : object_members) {
    if (!has(asked, member.field)) continue;
    fields.append(fields.empty() ? "fields=" : "%2C").append(member.key);
  }
  target.raw(fields);
}

DATAFLUX_INLINE void stat_verb::build(const call_context& context, const request& r, const state&,
                                      http::request& out) {
  begin(context, http::method::get, out);
  target_writer target{out};
  target.json_path(context.endpoint.json_buckets(), r.bucket, r.object).raw("prettyPrint=false");
  add_fields(target, r.fields);
  target.generation(r.generation).conditions(r.conditions);
  bill_json(context, target, out);
  add_key(context.key, out);  // else the reply has no checksums
}

DATAFLUX_INLINE result<object_metadata> stat_verb::parse(const request& r, const state&,
                                                         const service::whole_reply& reply) {
  auto found = parse_object_resource(reply, r.bucket, r.object, r.fields);
  if (found && r.generation != 0 && found->generation != r.generation) {
    found = error{errc::internal, "asked for generation " + std::to_string(r.generation) +
                                      ", but the reply is about generation " +
                                      std::to_string(found->generation)};
  }
  return found;
}

DATAFLUX_INLINE result<service::looked_object> look_verb::parse(const request& r, const state& none,
                                                                const service::whole_reply& reply) {
  auto found = stat_verb::parse(r, none, reply);
  if (!found) return std::move(found).error();
  return service::looked_object{*std::move(found), service::time_of(reply.facts)};
}

DATAFLUX_INLINE void insert_verb::prepare(const request& r, const call_id& id, state& body) {
  const object_attributes& a = r.attributes;
  const hexadecimal boundary{id};  // needs no quotes in Content-Type
  body.crc32c = crc32c(r.data);
  write_mark(id, a, body.mark);
  body.content_type.assign("multipart/related; boundary=").append(boundary.view());
  body.preamble.assign("--").append(boundary.view());
  body.preamble.append("\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n");
  append_insert_resource(r, body, body.preamble);
  body.preamble.append("\r\n--").append(boundary.view());
  body.preamble.append("\r\nContent-Type: ").append(content_type_of(a)).append("\r\n\r\n");
  body.epilogue.assign("\r\n--").append(boundary.view()).append("--\r\n");
}

DATAFLUX_INLINE void insert_verb::build(const call_context& context, const request& r,
                                        const state& body, http::request& out) {
  begin(context, http::method::post, out);
  target_writer target{out};
  target.json_path(context.endpoint.upload_buckets(), r.bucket)
      .raw("uploadType=multipart")
      .raw("prettyPrint=false")
      .conditions(r.conditions)
      .optional_text("kmsKeyName", r.attributes.kms_key_name);
  bill_json(context, target, out);
  add_key(context.key, out);
  out.headers.add("Content-Type", body.content_type);
  out.body.append(as_bytes(body.preamble));
  out.body.append(r.data);
  out.body.append(as_bytes(body.epilogue));
}

DATAFLUX_INLINE result<object_metadata> insert_verb::parse(const request& r, const state& body,
                                                           const service::whole_reply& reply) {
  auto stored = parse_object_resource(reply, r.bucket, r.object);
  if (stored) {
    auto same = check_stored(*stored, r.data.size(), body.crc32c);
    if (!same) stored = std::move(same).error();
  }
  return stored;
}

DATAFLUX_INLINE bool insert_verb::is_ours(const request& r, const state& body,
                                          const object_metadata& found) {
  return r.conditions.if_generation_match != found.generation &&
         check_stored(found, r.data.size(), body.crc32c) && bears(found, body.mark, r.attributes);
}

DATAFLUX_INLINE void remove_verb::build(const call_context& context, const request& r, const state&,
                                        http::request& out) {
  begin(context, http::method::del, out);
  target_writer target{out};
  target.json_path(context.endpoint.json_buckets(), r.bucket, r.object);
  target.generation(r.generation).conditions(r.conditions);
  bill_json(context, target, out);
}

DATAFLUX_INLINE result<void> remove_verb::parse(const request&, const state&,
                                                const service::whole_reply& reply) {
  return check_document(reply);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs
