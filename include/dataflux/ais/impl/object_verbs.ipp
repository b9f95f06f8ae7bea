#pragma once

#include <dataflux/ais/detail/error_reply.hpp>
#include <dataflux/ais/detail/object_verbs.hpp>
#include <dataflux/ais/detail/target.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/xxhash64.hpp>
#include <dataflux/http/detail/characters.hpp>
#include <dataflux/http/detail/http_date.hpp>
#include <dataflux/service/detail/found_state.hpp>
#include <dataflux/service/detail/reply_words.hpp>
#include <dataflux/store/detail/attributes.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::ais {

DATAFLUX_INLINE result<void> check_etl(std::string_view name) {
  const std::size_t query = name.find('?');
  if (query == std::string_view::npos) return {};
  const std::string_view asked = name.substr(query);
  const bool there =
      asked.starts_with("?etl_name=") || asked.find("&etl_name=") != std::string_view::npos;
  if (!there) return {};
  return error{errc::unimplemented,
               "etl_name: AIStore's ETL is not supported; objects come as they are stored"};
}

DATAFLUX_INLINE result<void> check_name(std::string_view object) {
  if (auto known = check_etl(object); !known) return known;
  const bool cleaned = object.starts_with('/') || object.find("//") != std::string_view::npos;
  if (cleaned) {
    return error{errc::invalid_argument,
                 "object name: AIStore makes one slash of several, and drops the first one"};
  }
  const bool controls = std::any_of(object.begin(), object.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (!controls) return {};
  return error{errc::invalid_argument,
               "object name: a control character does not pass AIStore's redirects"};
}

/// A reply of success that is another service's, or a web page.
inline result<void> check_reply(const whole_reply& reply, const call_identity& call) {
  if (reply.facts.stranger.empty() && !service::is_web_page(reply.facts, reply.body)) return {};
  return parse_error(call, reply.facts, reply.body);
}

DATAFLUX_INLINE result<void> stat_verb::check(const call_context&, const request& r) {
  if (auto known = service::check_read_conditions(r.conditions); !known) return known;
  return check_name(r.object);
}

DATAFLUX_INLINE void stat_verb::build(const call_context& context, const request& r, const state&,
                                      http::request& out) {
  begin(context, http::method::head, r.bucket, r.object, out);
}

/// Whether it says anything that only AIStore says; a bucket may have neither versions nor
/// checksums.
inline bool is_of_object(const http::reply_head& head) {
  constexpr std::string_view own{"ais-"};
  const auto& fields = head.fields();
  return std::any_of(fields.begin(), fields.end(), [&](const http::reply_head::field& f) {
    return http::equals_ignoring_case(std::string_view{f.name}.substr(0, own.size()), own);
  });
}

DATAFLUX_INLINE void stat_verb::read_head(const http::request&, const http::reply_head& head,
                                          state& into) {
  const object_state told = object_state::of(head);
  const auto sum = checksum_of(told);
  if (!sum) {
    into.found = sum.error();
    return;
  }
  const auto size = http::parse_decimal(head.find("content-length").value_or(""));
  if (!size || *size > greatest_object || !is_of_object(head)) {
    into.found =
        error{errc::internal, not_the_service("the reply lacks an object's size, or has no "
                                              "field of AIStore's")};
    return;
  }
  object_metadata out;
  out.size = *size;
  out.generation = told.lasting_generation();
  out.etag = told.text();
  out.crc32c = sum->crc32c;
  service::set_header_text(out.content_type, head.find("content-type").value_or(""));
  if (const auto modified = head.find("last-modified")) {
    out.updated = http::parse_http_date(*modified);
    out.created = out.updated;
  }
  into.found = std::move(out);
}

DATAFLUX_INLINE result<object_metadata> stat_verb::parse(const request& r, const state& read,
                                                         const whole_reply& reply) {
  if (auto fits = check_reply(reply, identity(r)); !fits) return std::move(fits).error();
  auto found = read.found;
  if (!found) return found;
  if (auto fits = service::check_found(found->generation, r.generation, r.conditions); !fits) {
    return std::move(fits).error();
  }
  found->bucket = r.bucket;
  found->name = r.object;
  return detail::only_fields(r.fields, *std::move(found));
}

DATAFLUX_INLINE result<service::looked_object> look_verb::parse(const request& r, const state& read,
                                                                const whole_reply& reply) {
  auto found = stat_verb::parse(r, read, reply);
  if (!found) return std::move(found).error();
  return service::looked_object{*std::move(found), service::time_of(reply.facts)};
}

DATAFLUX_INLINE result<void> insert_verb::check(const call_context&, const request& r) {
  if (r.conditions.any()) return error{errc::unimplemented, std::string{no_conditions}};
  if (!r.attributes.empty() || !r.attributes.kms_key_name.empty()) {
    return error{errc::unimplemented,
                 "AIStore keeps bytes alone: no content type, custom metadata or other attributes"};
  }
  return check_name(r.object);
}

DATAFLUX_INLINE result<insert_state> insert_verb::prepare(const request& r, const call_id&) {
  insert_state s;
  s.crc32c = crc32c(r.data);
  s.xxhash = codec::xxhash64(r.data);
  return s;
}

DATAFLUX_INLINE void insert_verb::build(const call_context& context, const request& r,
                                        const state& s, http::request& out) {
  begin(context, http::method::put, r.bucket, r.object, out);
  out.headers.add("ais-checksum-type", "xxhash2");
  out.headers.add("ais-checksum-value", xxhash2_text(s.xxhash));
  out.body.append(r.data);
}

DATAFLUX_INLINE void insert_verb::read_head(const http::request&, const http::reply_head& head,
                                            state& into) {
  // One that is malformed compares nothing: the bytes are stored all the same.
  auto told = checksum_of(object_state::of(head));
  into.stored = told ? *std::move(told) : told_checksum{};
}

DATAFLUX_INLINE result<object_metadata> insert_verb::parse(const request& r, const state& s,
                                                           const whole_reply& reply) {
  if (auto fits = check_reply(reply, identity(r)); !fits) return std::move(fits).error();
  object_metadata stored;
  stored.bucket = r.bucket;
  stored.name = r.object;
  stored.size = r.data.size();
  stored.generation = reply.facts.generation;
  stored.etag = reply.facts.etag;
  const told_checksum& told = s.stored;
  if (!told.crc32c && !told.other) return stored;
  if (told.crc32c ? *told.crc32c == s.crc32c : told.other->value == s.xxhash) {
    stored.crc32c = s.crc32c;
    return stored;
  }
  return std::move(
      error{errc::data_loss, "what was stored has another checksum than what was sent: remove it"}
          .with_http_status(reply.facts.status));
}

DATAFLUX_INLINE bool insert_verb::is_ours(const request& r, const state& s,
                                          const object_metadata& found) {
  if (found.size != r.data.size()) return false;
  return found.crc32c ? *found.crc32c == s.crc32c
                      : found.etag.ends_with(":" + xxhash2_text(s.xxhash));
}

DATAFLUX_INLINE result<void> remove_verb::check(const call_context&, const request& r) {
  if (r.generation != 0 || r.conditions.any()) {
    return error{errc::unimplemented,
                 "AIStore removes whatever is there, and cannot be told which state is meant: give "
                 "neither a generation nor conditions"};
  }
  return check_name(r.object);
}

DATAFLUX_INLINE void remove_verb::build(const call_context& context, const request& r, const state&,
                                        http::request& out) {
  begin(context, http::method::del, r.bucket, r.object, out);
}

DATAFLUX_INLINE result<void> remove_verb::parse(const request& r, const state&,
                                                const whole_reply& reply) {
  return check_reply(reply, identity(r));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais
