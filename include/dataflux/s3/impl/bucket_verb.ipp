#pragma once

#include <dataflux/s3/detail/bucket_verb.hpp>
#include <dataflux/s3/detail/error_reply.hpp>
#include <dataflux/s3/detail/target.hpp>

#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

DATAFLUX_INLINE result<void> bucket_verb::check(const call_context& context, const request& r) {
  return check_place(context, r.bucket);
}

DATAFLUX_INLINE void bucket_verb::build(const call_context& context, const request& r,
                                        const state& s, http::request& out) {
  auto target = begin(context, s.found ? http::method::get : http::method::head, r.bucket, {}, out);
  if (s.found) target.raw("versioning=");
}

DATAFLUX_INLINE result<std::optional<bucket_metadata>> bucket_verb::parse(
    const request& r, state& s, const whole_reply& reply) {
  if (!s.found) {
    if (auto fit = check_document(reply, identity(r)); !fit) return std::move(fit).error();
    s.found.emplace();
    s.found->name = r.bucket;
    s.found->location = reply.facts.region;
    s.found->location_type = "region";
    return std::optional<bucket_metadata>{};
  }
  // The other one is moto's. AWS's own clients look at no name of the root.
  const auto document =
      parse_document(reply, "VersioningConfiguration", identity(r), "GetBucketVersioningResponse");
  if (!document) return document.error();
  s.found->versioning = document->root().child_text("Status") == "Enabled";
  return s.found;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
