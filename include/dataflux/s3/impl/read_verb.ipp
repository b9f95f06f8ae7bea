#pragma once

#include <dataflux/s3/detail/checksum_fields.hpp>
#include <dataflux/s3/detail/entity_tag.hpp>
#include <dataflux/s3/detail/object_fields.hpp>
#include <dataflux/s3/detail/read_verb.hpp>
#include <dataflux/s3/detail/target.hpp>
#include <dataflux/service/detail/ranged_reply.hpp>

#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

DATAFLUX_INLINE result<void> read_verb::check(const call_context& context, const request& r) {
  if (r.decode_gzip) {
    return error{errc::unimplemented, "decode_gzip: S3 gives bytes as they are stored"};
  }
  if (auto known = check_read_conditions(r.conditions); !known) return known;
  return check_place(context, r.bucket);
}

DATAFLUX_INLINE void read_verb::build(const call_context& context, const request& r,
                                      const state& from, http::request& out) {
  begin(context, http::method::get, r.bucket, r.object, out);
  add_key(context.key, out);
  service::add_range(from.range, out.headers);
  if (from.range.is_all()) out.headers.add("x-amz-checksum-mode", "ENABLED");
  if (!from.etag.empty()) out.headers.add("If-Match", quoted_tag(from.etag));
}

DATAFLUX_INLINE result<service::read_head> read_verb::parse_head(const request& r,
                                                                 const state& asked,
                                                                 const http::reply_head& head) {
  service::read_head out;
  service::span_fields span;
  for (const auto& field : head.fields()) {
    const auto is = [&](std::string_view name) {
      return http::equals_ignoring_case(field.name, name);
    };
    if (is("etag")) out.etag = service::tag_in(field.value);
    if (is("content-range")) span.content_range = field.value;
    if (is("content-type")) out.content_type = field.value;
  }
  if (head.status() == 200 || head.status() == 206) {
    out.generation = generation_of(out.etag);
    // Conditions were satisfied by the first reply.
    const preconditions none;
    auto found = check_found(out.generation, asked.generation, asked.resumed ? none : r.conditions);
    if (!found) return std::move(found).error();
    auto sums = checksums_of(head);
    if (!sums) return std::move(sums).error();
    out.crc32c = sums->crc32c;
    out.other = sums->other;
  }
  auto read = service::read_span(asked, head, span, out);
  if (read && read->object_size > greatest_object) {
    return service::broken_head("the reply announces " + std::to_string(read->object_size) +
                                " bytes, more than any object has");
  }
  return read;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
