#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/s3/detail/error_reply.hpp>
#include <dataflux/s3/detail/object_verbs.hpp>
#include <dataflux/s3/detail/target.hpp>
#include <dataflux/service/detail/upload_mark.hpp>
#include <dataflux/store/detail/attributes.hpp>

#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// The state that a removal is about; nothing = whatever is there.
inline std::optional<std::int64_t> wanted_state(const remove_request& r) noexcept {
  return r.generation != 0 ? std::optional{r.generation} : r.conditions.if_generation_match;
}

inline void add_crc32c(std::uint32_t crc, http::header_list& headers) {
  headers.add("x-amz-checksum-crc32c", encode_crc32c(crc).view());
}

DATAFLUX_INLINE result<void> stat_verb::check(const call_context& context, const request& r) {
  if (auto known = check_read_conditions(r.conditions); !known) return known;
  return check_place(context, r.bucket);
}

DATAFLUX_INLINE void stat_verb::build(const call_context& context, const request& r, const state&,
                                      http::request& out) {
  begin(context, http::method::head, r.bucket, r.object, out);
  out.headers.add("x-amz-checksum-mode", "ENABLED");
  add_key(context.key, out);
}

DATAFLUX_INLINE void stat_verb::read_head(const http::request&, const http::reply_head& head,
                                          state& into) {
  into.found = read_object_head(head, {}, {});
}

DATAFLUX_INLINE result<object_metadata> stat_verb::parse(const request& r, const state& read,
                                                         const whole_reply& reply) {
  if (!reply.facts.stranger.empty()) return parse_error(identity(r), reply.facts, reply.body);
  auto found = read.found;
  if (!found) return found;
  if (found->etag.empty() && !found->updated) {
    return error{errc::internal,
                 "the reply has neither ETag nor Last-Modified: it is of no object, but of "
                 "something between here and the service"};
  }
  if (auto fits = check_found(found->generation, r.generation, r.conditions); !fits) {
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

DATAFLUX_INLINE result<void> insert_verb::check(const call_context& context, const request& r) {
  if (r.data.size() > greatest_at_once) {
    return error{errc::invalid_argument, "object size in bytes " + std::to_string(r.data.size()) +
                                             ": at most 5368709120 (5 GiB) in one request"};
  }
  if (auto known = check_attributes(r.attributes); !known) return known;
  if (auto known = check_write_conditions(r.conditions); !known) return known;
  return check_place(context, r.bucket);
}

DATAFLUX_INLINE result<insert_state> insert_verb::prepare(const request& r, const call_id& id) {
  insert_state s{.crc32c = crc32c(r.data)};
  service::write_mark(id, r.attributes, metadata_limit, s.mark);
  return s;
}

DATAFLUX_INLINE void insert_verb::build(const call_context& context, const request& r,
                                        const state& s, http::request& out) {
  const auto wanted = r.conditions.if_generation_match;
  if (lacks_tag(wanted, s.tag)) {
    begin(context, http::method::head, r.bucket, r.object, out);
    add_key(context.key, out);
    return;
  }
  begin(context, http::method::put, r.bucket, r.object, out);
  add_attributes(r.attributes, s.mark, out.headers);
  add_key(context.key, out);
  add_crc32c(s.crc32c, out.headers);
  add_state(wanted, s.tag, out.headers);
  out.body.append(r.data);
}

DATAFLUX_INLINE result<std::optional<object_metadata>> insert_verb::parse(
    const request& r, state& s, const whole_reply& reply) {
  if (auto fit = check_document(reply, identity(r)); !fit) return std::move(fit).error();
  if (const auto wanted = r.conditions.if_generation_match; lacks_tag(wanted, s.tag)) {
    if (auto known = s.tag.take(*wanted, reply.facts); !known) return std::move(known).error();
    return std::optional<object_metadata>{};
  }
  auto stored = stored_object(reply.facts, r.bucket, r.object, r.data.size(), s.crc32c);
  if (!stored) return std::move(stored).error();
  return std::optional{*std::move(stored)};
}

DATAFLUX_INLINE bool insert_verb::is_ours(const request& r, const state& s,
                                          const object_metadata& found) {
  return same_content(found, r.data.size(), s.crc32c) &&
         service::bears(found, s.mark, r.attributes);
}

DATAFLUX_INLINE result<void> remove_verb::check(const call_context& context, const request& r) {
  if (auto known = check_write_conditions(r.conditions); !known) return known;
  if (r.conditions.if_generation_match == 0) {
    return error{errc::invalid_argument,
                 "conditions: what must not be there cannot be removed (if_generation_match 0)"};
  }
  return check_place(context, r.bucket);
}

DATAFLUX_INLINE void remove_verb::build(const call_context& context, const request& r,
                                        const state& tag, http::request& out) {
  const auto wanted = wanted_state(r);
  const bool asks = lacks_tag(wanted, tag);
  begin(context, asks ? http::method::head : http::method::del, r.bucket, r.object, out);
  asks ? add_key(context.key, out) : add_state(wanted, tag, out.headers);
}

DATAFLUX_INLINE result<std::optional<no_state>> remove_verb::parse(const request& r, state& tag,
                                                                   const whole_reply& reply) {
  if (auto fit = check_document(reply, identity(r)); !fit) return std::move(fit).error();
  const auto wanted = wanted_state(r);
  if (!lacks_tag(wanted, tag)) return std::optional{no_state{}};
  if (r.generation != 0) {
    if (auto there = check_found(reply.facts.generation, r.generation, r.conditions); !there) {
      return std::move(there).error();
    }
  }
  if (auto known = tag.take(*wanted, reply.facts); !known) return std::move(known).error();
  return std::optional<no_state>{};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
