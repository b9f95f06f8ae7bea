#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/gcs/detail/change_verbs.hpp>
#include <dataflux/gcs/detail/object_resource.hpp>
#include <dataflux/gcs/detail/resource_reader.hpp>
#include <dataflux/gcs/detail/resource_writer.hpp>
#include <dataflux/gcs/detail/target.hpp>
#include <dataflux/store/detail/validate.hpp>

#include <algorithm>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// `body` stays where it is until the exchange is over.
inline void send_json(const std::string& body, http::request& out) {
  out.headers.add("Content-Type", "application/json; charset=UTF-8");
  out.body.append(as_bytes(body));
}

inline void patch_text(codec::json_writer& json, std::string_view key,
                       const std::optional<std::string>& text) {
  if (!text) return;
  json.key(key);
  text->empty() ? json.null() : json.string(*text);
}

inline bool has(const object_metadata& found, const std::string& key,
                const std::optional<std::string>& value) {
  const auto at = std::find_if(found.metadata.begin(), found.metadata.end(),
                               [&](const auto& entry) { return entry.first == key; });
  return at == found.metadata.end() ? !value : value == at->second;
}

DATAFLUX_INLINE result<marked_document> compose_verb::prepare(const request& r, const call_id& id) {
  for (const compose_source& each : r.sources) {
    if (auto good = validate_one_line(each.object); !good) return std::move(good).error();
  }
  const object_attributes& a = r.attributes;
  marked_document body;
  body.mark = mark_of(id, a);
  codec::json_writer json;
  json.begin_object().key("destination").begin_object();
  json.key("contentType").string(content_type_of(a));
  append_attributes(json, a, body.mark);
  json.end_object().key("sourceObjects").begin_array();
  for (const compose_source& source : r.sources) {
    json.begin_object().key("name").string(source.object);
    if (source.generation != 0) json.key("generation").decimal_string(source.generation);
    json.end_object();
  }
  json.end_array().end_object();
  body.text = std::move(json).take();
  return body;
}

DATAFLUX_INLINE void compose_verb::build(const call_context& context, const request& r,
                                         const state& body, http::request& out) {
  begin(context, http::method::post, out);
  target_writer target{out};
  target.json_path(context.endpoint.json_buckets(), r.bucket, r.object)
      .segment("compose")
      .raw("prettyPrint=false")
      .conditions(r.conditions)
      .optional_text("kmsKeyName", r.attributes.kms_key_name);
  bill_json(context, target, out);
  add_key(context.key, out);
  send_json(body.text, out);
}

DATAFLUX_INLINE result<object_metadata> compose_verb::parse(const request& r, const state&,
                                                            const service::whole_reply& reply) {
  auto made = parse_object_resource(reply, r.bucket, r.object);
  if (!made || !r.crc32c) return made;
  if (auto same = check_stored(*made, made->size, *r.crc32c); !same) return same.error();
  return made;
}

DATAFLUX_INLINE bool compose_verb::is_ours(const request& r, const state& body,
                                           const object_metadata& found) {
  if (r.conditions.if_generation_match == found.generation) return false;
  if (r.crc32c && found.crc32c != r.crc32c) return false;
  if (body.mark.empty() && !r.crc32c) return false;
  return bears(found, body.mark, r.attributes);
}

DATAFLUX_INLINE bool compose_verb::adds_up(const request& r) noexcept {
  return std::any_of(r.sources.begin(), r.sources.end(), [&r](const compose_source& source) {
    return source.object == r.object && source.generation == 0;
  });
}

DATAFLUX_INLINE void move_verb::build(const call_context& context, const request& r, const state&,
                                      http::request& out) {
  begin(context, http::method::post, out);
  target_writer target{out};
  target.json_path(context.endpoint.json_buckets(), r.bucket, r.source)
      .segment("moveTo/o")
      .segment_of(r.object)
      .raw("prettyPrint=false")
      .source_conditions(r.source_conditions)
      .conditions(r.conditions);
  bill_json(context, target, out);
}

DATAFLUX_INLINE result<object_metadata> move_verb::parse(const request& r, const state&,
                                                         const service::whole_reply& reply) {
  return parse_object_resource(reply, r.bucket, r.object);
}

DATAFLUX_INLINE bool move_verb::is_ours(const request& r, const state&,
                                        const object_metadata& found,
                                        const result<object_metadata>& source) {
  if (!source_is_gone(r, source)) return false;
  if (r.conditions.if_generation_match == found.generation) return false;
  if (r.crc32c) return found.crc32c == r.crc32c;
  const auto& pinned = r.source_conditions.if_generation_match;
  return pinned && found.generation > *pinned;
}

DATAFLUX_INLINE result<rewrite_progress> rewrite_verb::prepare(const request& r, const call_id&) {
  const object_attributes& a = r.attributes;
  rewrite_progress at;
  if (a.empty()) return at;
  codec::json_writer json;
  json.begin_object();
  append_optional(json, "contentType", a.content_type);
  append_attributes(json, a, {});
  json.end_object();
  at.document = std::move(json).take();
  return at;
}

DATAFLUX_INLINE void rewrite_verb::build(const call_context& context, const request& r,
                                         const state& at, http::request& out) {
  begin(context, http::method::post, out);
  target_writer target{out};
  target.json_path(context.endpoint.json_buckets(), r.source_bucket, r.source)
      .segment("rewriteTo/b")
      .segment_of(r.bucket)
      .segment("o")
      .segment_of(r.object)
      .raw("prettyPrint=false");
  if (r.source_generation != 0) target.number("sourceGeneration", r.source_generation);
  target.source_conditions(r.source_conditions)
      .conditions(r.conditions)
      .optional_text("destinationKmsKeyName", r.attributes.kms_key_name);
  if (r.max_bytes_per_request != 0) {
    target.number("maxBytesRewrittenPerCall", static_cast<std::int64_t>(r.max_bytes_per_request));
  }
  target.optional_text("rewriteToken", at.token);
  bill_json(context, target, out);
  add_source_key(key_of(r.source_key, context.key), out);
  add_key(key_of(r.key, context.key), out);
  if (!at.document.empty()) send_json(at.document, out);
}

DATAFLUX_INLINE result<std::optional<object_metadata>> rewrite_verb::parse(
    const request& r, state& at, const service::whole_reply& reply) {
  const auto document = parse_json_reply(reply);
  if (!document) return document.error();
  const codec::json_value root = document->root();
  // Left out, `done` is false and no byte was copied.
  const codec::json_value ended = root.find("done");
  const auto done = ended.boolean();
  if (!done && !left_out(ended)) {
    return error{errc::internal, "the reply to a rewrite has no valid member 'done'"};
  }
  if (done.value_or(false)) {
    auto made = parse_object_resource(root.find("resource"), r.bucket, r.object);
    if (!made) return made.error();
    return std::optional{*std::move(made)};
  }
  const auto token = root.find("rewriteToken").text();
  const codec::json_value bytes = root.find("totalBytesRewritten");
  const auto copied = left_out(bytes) ? std::optional<std::uint64_t>(0) : bytes.uint64();
  if (!token || token->empty() || !copied) {
    return error{errc::internal, "the reply to a rewrite has no token to go on with"};
  }
  if (!at.token.empty() && *copied <= at.copied) {
    return std::move(error{errc::unavailable, "the rewrite does not advance beyond " +
                                                  std::to_string(at.copied) + " bytes"}
                         .with_retryable(true));
  }
  at.token = *token;
  at.copied = *copied;
  return std::optional<object_metadata>{};
}

DATAFLUX_INLINE bool rewrite_verb::is_ours(const request& r, const state&,
                                           const object_metadata& found,
                                           const result<object_metadata>& source) {
  if (!source || r.conditions.if_generation_match == found.generation) return false;
  return found.generation > source->generation && found.size == source->size && source->crc32c &&
         found.crc32c == source->crc32c;
}

DATAFLUX_INLINE result<std::string> patch_verb::prepare(const request& r, const call_id&) {
  codec::json_writer json;
  json.begin_object();
  patch_text(json, "contentType", r.content_type);
  patch_text(json, "contentEncoding", r.content_encoding);
  patch_text(json, "contentDisposition", r.content_disposition);
  patch_text(json, "contentLanguage", r.content_language);
  patch_text(json, "cacheControl", r.cache_control);
  append_time(json, "customTime", r.custom_time);
  if (!r.metadata.empty()) {
    json.key("metadata").begin_object();
    for (const auto& [key, value] : r.metadata) {
      json.key(key);
      value ? json.string(*value) : json.null();
    }
    json.end_object();
  }
  json.end_object();
  return std::move(json).take();
}

DATAFLUX_INLINE void patch_verb::build(const call_context& context, const request& r,
                                       const state& body, http::request& out) {
  begin(context, http::method::patch, out);
  target_writer target{out};
  target.json_path(context.endpoint.json_buckets(), r.bucket, r.object)
      .raw("prettyPrint=false")
      .raw("projection=noAcl")
      .generation(r.generation)
      .conditions(r.conditions);
  bill_json(context, target, out);
  send_json(body, out);
}

DATAFLUX_INLINE result<object_metadata> patch_verb::parse(const request& r, const state&,
                                                          const service::whole_reply& reply) {
  return parse_object_resource(reply, r.bucket, r.object);
}

DATAFLUX_INLINE bool patch_verb::is_ours(const request& r, const state&,
                                         const object_metadata& found) {
  if (r.generation != 0 && found.generation != r.generation) return false;
  const auto& before = r.conditions.if_metageneration_match;
  if (before && found.metageneration <= *before) return false;
  const auto same = [](const std::optional<std::string>& wanted, const std::string& now) {
    return !wanted || *wanted == now;
  };
  return same(r.content_type, found.content_type) &&
         same(r.content_encoding, found.content_encoding) &&
         same(r.content_disposition, found.content_disposition) &&
         same(r.content_language, found.content_language) &&
         same(r.cache_control, found.cache_control) &&
         (!r.custom_time || r.custom_time == found.custom_time) &&
         std::all_of(r.metadata.begin(), r.metadata.end(),
                     [&](const auto& entry) { return has(found, entry.first, entry.second); });
}

/// One that is not there is for the service to tell.
DATAFLUX_INLINE bool patch_verb::pin(request& r, const object_metadata* object,
                                     const object_metadata*) {
  if (object == nullptr) return false;
  r.conditions.if_metageneration_match = object->metageneration;
  if (r.generation == 0) r.conditions.if_generation_match = object->generation;
  return true;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs
