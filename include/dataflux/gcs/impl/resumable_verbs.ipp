#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/gcs/detail/error_reply.hpp>
#include <dataflux/gcs/detail/object_resource.hpp>
#include <dataflux/gcs/detail/resource_writer.hpp>
#include <dataflux/gcs/detail/resumable_verbs.hpp>
#include <dataflux/gcs/detail/target.hpp>
#include <dataflux/http/detail/characters.hpp>
#include <dataflux/service/detail/text.hpp>

#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// To where the session is. At the endpoint's own origin it shares the endpoint's connections.
inline void begin_session(const call_context& context, http::method method,
                          const std::shared_ptr<const http::origin>& origin,
                          const std::string& target, http::request& out) {
  begin(context, method, out);
  out.target = target;
  if (origin->is_where(*context.endpoint.origin())) {  // which knows how it is reached
    bill_xml(context, out);  // a session's URL takes no further parameters
  } else {
    out.origin = origin;
  }
}

/// The URL alone entitles, so that it is as secret as a token.
inline result<void> check_secrecy(const call_context& context, bool session_has_tls) {
  if (session_has_tls || !context.endpoint.origin()->tls) return {};
  return error{errc::invalid_argument,
               "the session's URL is plain HTTP, which would show it to the network, and the "
               "client's endpoint is not"};
}

/// "bytes=0-N" of a reply of 308: N + 1 bytes are kept. No such field: none are.
inline std::optional<std::uint64_t> kept_bytes(const http::reply_head& head) {
  const auto range = head.find("range");
  if (!range) return 0;
  constexpr std::string_view start{"bytes=0-"};
  if (!service::starts_with_ignoring_case(*range, start)) return std::nullopt;
  const auto last = http::parse_decimal(range->substr(start.size()));
  if (!last || *last >= greatest_object_size) return std::nullopt;
  return *last + 1;
}

/// "bytes A-B/T", "bytes A-B/*", "bytes */T" where no byte is left to send.
inline std::string sent_range(std::uint64_t from, std::uint64_t end, bool last) {
  std::string text{"bytes "};
  if (from == end) {
    text += '*';
  } else {
    append_number(text, from);
    text += '-';
    append_number(text, end - 1);
  }
  text += '/';
  if (last) {
    append_number(text, end);
  } else {
    text += '*';
  }
  return text;
}

inline error chunk_stands_still(std::string message) {
  return std::move(error{errc::unavailable, std::move(message)}.with_retryable(true));
}

DATAFLUX_INLINE result<session_start> resumable_start_verb::prepare(const request& r,
                                                                    const call_id& id) {
  const object_attributes& a = r.attributes;
  session_start start;
  start.mark = mark_of(id, a);
  codec::json_writer json;
  json.begin_object().key("name").string(r.object);
  json.key("contentType").string(content_type_of(a));
  append_attributes(json, a, start.mark);
  json.end_object();
  start.document = std::move(json).take();
  return start;
}

DATAFLUX_INLINE void resumable_start_verb::build(const call_context& context, const request& r,
                                                 const state& body, http::request& out) {
  begin(context, http::method::post, out);
  target_writer target{out};
  target.json_path(context.endpoint.upload_buckets(), r.bucket)
      .raw("uploadType=resumable")
      .text("name", r.object)
      .raw("prettyPrint=false")
      .conditions(r.conditions)
      .optional_text("kmsKeyName", r.attributes.kms_key_name);
  bill_json(context, target, out);
  add_key(context.key, out);
  out.headers.add("Content-Type", "application/json; charset=UTF-8");
  out.headers.add("X-Upload-Content-Type", content_type_of(r.attributes));
  if (r.size) out.headers.add("X-Upload-Content-Length", *r.size);
  out.body.append(as_bytes(body.document));
}

DATAFLUX_INLINE void resumable_start_verb::read_head(const http::request& sent,
                                                     const http::reply_head& head, state& into) {
  into.asked = sent.origin;
  into.location = head.find("location").value_or(std::string_view{});
}

DATAFLUX_INLINE result<resumable_session> resumable_start_verb::parse(
    const request& r, const state& body, const service::whole_reply& reply) {
  auto session = resumable_session::from_url(body.location, r.bucket, r.object);
  if (!session) {
    if (auto fit = check_document(reply); !fit) return std::move(fit).error();
    return error{errc::internal,
                 not_the_service("the reply names no usable Location of the upload session")};
  }
  auto facts = *session->facts_;
  if (body.asked && body.asked->tls && !facts.origin->tls) {
    return error{errc::internal, "the reply's Location of the upload session is without TLS"};
  }
  if (body.asked && facts.origin->is_where(*body.asked)) facts.origin = body.asked;
  facts.mark = body.mark;
  session->facts_ = std::make_shared<const resumable_session::facts>(std::move(facts));
  return session;
}

DATAFLUX_INLINE result<void> resumable_chunk_verb::check(const call_context& context,
                                                         const request& r) {
  return check_secrecy(context, r.session.facts_->origin->tls);
}

DATAFLUX_INLINE void resumable_chunk_verb::build(const call_context& context, const request& r,
                                                 const state& at, http::request& out) {
  const auto& session = *r.session.facts_;
  begin_session(context, http::method::put, session.origin, session.target, out);
  const std::uint64_t end = r.offset + r.data.size();
  if (at.asks) {
    out.headers.add("Content-Range", "bytes */*");
    return;
  }
  // A session may be at another host, which is no place for the key.
  if (out.origin == context.endpoint.origin()) add_key(context.key, out);
  out.headers.add("Content-Range", sent_range(at.from, end, r.last));
  if (r.crc32c) {
    const std::string hash = std::string{"crc32c="}.append(encode_crc32c(*r.crc32c).view());
    out.headers.add("x-goog-hash", hash);
  }
  out.body.append(r.data.subspan(static_cast<std::size_t>(at.from - r.offset)));
}

DATAFLUX_INLINE void resumable_chunk_verb::read_head(const http::request&,
                                                     const http::reply_head& head, state& into) {
  into.kept = head.status() == 308 ? kept_bytes(head) : std::nullopt;
}

DATAFLUX_INLINE result<std::optional<resumable_progress>> resumable_chunk_verb::parse(
    const request& r, state& at, const service::whole_reply& reply) {
  const bool asked = std::exchange(at.asks, false);
  const std::uint64_t end = r.offset + r.data.size();
  at.advanced = false;
  if (reply.facts.status != 308) {
    auto object = parse_object_resource(reply, r.session.bucket(), r.session.object());
    if (!object) return object.error();
    const bool whole = r.last && object->size == end;
    if (!r.last || !whole) {
      return error{r.last ? errc::data_loss : errc::failed_precondition,
                   "the upload has ended already, with " + std::to_string(object->size) +
                       " bytes, while this chunk is to end at " + std::to_string(end)};
    }
    if (r.crc32c) {
      if (auto same = check_stored(*object, end, *r.crc32c); !same) return same.error();
    }
    return std::optional{resolved(*std::move(object))};
  }
  if (!at.kept) return chunk_stands_still("a reply of 308 with a malformed Range");
  const std::uint64_t kept = *at.kept;
  if (kept < r.offset) {
    return error{errc::data_loss, "the upload session keeps " + std::to_string(kept) +
                                      " bytes only, fewer than the " + std::to_string(r.offset) +
                                      " before this chunk: ask its status and go on from there"};
  }
  if (kept > end) {
    return error{errc::invalid_argument, "the upload session keeps " + std::to_string(kept) +
                                             " bytes, more than this chunk's end at " +
                                             std::to_string(end) + ": another writer uses it"};
  }
  if (kept == end && !r.last) return std::optional{resumable_progress{kept, std::nullopt}};
  at.advanced = kept > at.from;
  const bool stands_still = !asked && !at.advanced;
  at.from = kept;
  if (stands_still) {
    return chunk_stands_still("the upload session took no byte of what was sent");
  }
  return std::optional<resumable_progress>{};
}

DATAFLUX_INLINE bool resumable_chunk_verb::is_ours(const request& r, const state&,
                                                   const object_metadata& found) {
  const std::string& mark = r.session.facts_->mark;
  return r.last && !mark.empty() && found.upload_mark == mark &&
         found.size == r.offset + r.data.size() && (!r.crc32c || found.crc32c == r.crc32c);
}

DATAFLUX_INLINE result<void> resumable_status_verb::check(const call_context& context,
                                                          const request& r) {
  return check_secrecy(context, r.session.facts_->origin->tls);
}

DATAFLUX_INLINE void resumable_status_verb::build(const call_context& context, const request& r,
                                                  const state&, http::request& out) {
  const auto& session = *r.session.facts_;
  begin_session(context, http::method::put, session.origin, session.target, out);
  out.headers.add("Content-Range", "bytes */*");
}

DATAFLUX_INLINE result<resumable_progress> resumable_status_verb::parse(
    const request& r, const state& at, const service::whole_reply& reply) {
  if (reply.facts.status == 308) {
    if (!at.kept) return chunk_stands_still("a reply of 308 with a malformed Range");
    return resumable_progress{*at.kept, std::nullopt};
  }
  auto object = parse_object_resource(reply, r.session.bucket(), r.session.object());
  if (!object) return object.error();
  return resumable_chunk_verb::resolved(*std::move(object));
}

DATAFLUX_INLINE result<void> resumable_cancel_verb::check(const call_context& context,
                                                          const request& r) {
  return check_secrecy(context, r.session.facts_->origin->tls);
}

DATAFLUX_INLINE void resumable_cancel_verb::build(const call_context& context, const request& r,
                                                  const state&, http::request& out) {
  const auto& session = *r.session.facts_;
  begin_session(context, http::method::del, session.origin, session.target, out);
}

DATAFLUX_INLINE result<void> resumable_cancel_verb::parse(const request&, const state&,
                                                          const service::whole_reply& reply) {
  if (reply.facts.ok()) return check_document(reply);
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs
