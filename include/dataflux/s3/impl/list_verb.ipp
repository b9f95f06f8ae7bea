#pragma once

#include <dataflux/s3/detail/list_verb.hpp>
#include <dataflux/s3/detail/target.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

DATAFLUX_INLINE result<void> list_verb::check(const call_context& context, const request& r) {
  const auto lacks = [](std::string_view what) {
    return error{errc::unimplemented, std::string{what}};
  };
  if (!r.match_glob.empty() && !r.delimiter.empty()) {
    return lacks(
        "match_glob: S3 folds names before anybody could match them; leave out the delimiter");
  }
  if (r.versions) {
    return lacks(
        "versions: on S3 an older version of an object has an id and no generation of its own, by "
        "which it could be read; list and restore it by ListObjectVersions of AWS's own tools");
  }
  if (r.include_trailing_delimiter && !r.delimiter.empty()) {
    return lacks("include_trailing_delimiter: S3's listing does not know it");
  }
  if (auto from = start_of(r); !from) return std::move(from).error();
  return check_place(context, r.bucket);
}

DATAFLUX_INLINE void list_verb::build(const call_context& context, const request& r, const state&,
                                      http::request& out) {
  auto target = begin(context, http::method::get, r.bucket, {}, out);
  const auto from = start_of(r);  // checked before
  target.raw("list-type=2")
      .raw("encoding-type=url")
      .number("max-keys", entries_of(r))
      .optional_text("prefix", r.prefix)
      .optional_text("delimiter", r.delimiter)
      .optional_text("start-after", from ? from->after : std::string{})
      .optional_text("continuation-token", from ? from->token : std::string{});
}

DATAFLUX_INLINE result<list_page> list_verb::parse(const request& r, const state&,
                                                   const whole_reply& reply) {
  return read_list_page(r, reply, identity(r));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
