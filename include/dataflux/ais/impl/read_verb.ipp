#pragma once

#include <dataflux/ais/detail/object_state.hpp>
#include <dataflux/ais/detail/read_verb.hpp>
#include <dataflux/ais/detail/target.hpp>
#include <dataflux/service/detail/found_state.hpp>
#include <dataflux/service/detail/ranged_reply.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::ais {

DATAFLUX_INLINE result<void> read_verb::check(const call_context&, const request& r) {
  if (r.decode_gzip) {
    return error{errc::unimplemented, "decode_gzip: AIStore gives bytes as they are stored"};
  }
  if (auto known = service::check_read_conditions(r.conditions); !known) return known;
  return check_name(r.object);
}

DATAFLUX_INLINE void read_verb::build(const call_context& context, const request& r,
                                      const state& from, http::request& out) {
  auto target = begin(context, http::method::get, r.bucket, r.object, out);
  if (!r.member.empty()) target.text("archpath", r.member);
  service::add_range(from.range, out.headers);
}

/// All that a reply of a member may say. What it says of a state besides would be the archive's.
inline result<service::read_head> member_head(const http::reply_head& head) {
  if (head.status() != 200) {
    return std::move(service::broken_head("a reply of status " + std::to_string(head.status()) +
                                          " to the read of a member")
                         .with_http_status(head.status()));
  }
  service::read_head out;
  out.content_type = head.find("content-type").value_or(std::string_view{});
  out.transcoded = true;
  out.length = head.content_length().value_or(byte_range::to_end);
  out.object_size = out.length == byte_range::to_end ? 0 : out.length;
  return out;
}

inline result<service::read_head> object_head(const read_request& r, const read_verb::state& asked,
                                              const http::reply_head& head) {
  service::read_head out;
  service::span_fields span;
  span.content_range = head.find("content-range");
  out.content_type = head.find("content-type").value_or(std::string_view{});
  if (head.status() == 200 || head.status() == 206) {
    const object_state told = object_state::of(head);
    out.generation = told.generation();
    // Conditions were satisfied by the first reply.
    const preconditions none;
    auto found =
        service::check_found(out.generation, asked.generation, asked.resumed ? none : r.conditions);
    if (!found) return std::move(found).error();
    auto sum = checksum_of(told);
    if (!sum) return std::move(sum).error();
    out.crc32c = sum->crc32c;
    out.other = sum->other;
  }
  return service::read_span(asked, head, span, out);
}

DATAFLUX_INLINE result<service::read_head> read_verb::parse_head(const request& r,
                                                                 const state& asked,
                                                                 const http::reply_head& head) {
  auto read = r.member.empty() ? object_head(r, asked, head) : member_head(head);
  if (read && read->object_size > greatest_object) {
    return service::broken_head("the reply announces " + std::to_string(read->object_size) +
                                " bytes, more than any object has");
  }
  return read;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais
