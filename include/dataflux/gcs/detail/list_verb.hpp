#pragma once

#include <dataflux/gcs/detail/verb.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/requests.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// objects.list: one page of names (protocol.md 1.1), projected to the four fields that a listing
/// keeps and the extra columns asked for, uncompressed: reading them costs less than inflating
/// them.
struct list_verb {
  using request = list_page_request;
  using value = list_page;
  using state = service::no_state;

  /// 1,000 items with names of 1,024 bytes, each byte escaped as `\u00xx`, fit.
  static constexpr service::verb_info info{"objects.list", pacing_class::metadata, billing_class::a,
                                           false, std::size_t{16} << 20U};
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::always};
  static constexpr bool recycled = true;

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, {}, 0, false};
  }
  static result<state> prepare(const request&, const call_id&) { return state{}; }

  /// GET {json}{bucket}/o?prettyPrint=false&fields=..., maxResults always given.
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);

  /// One pass into columns. Beyond what codec::parse_object_list() refuses, these break a listing's
  /// contract and are errors (internal), because a coordinator that splits key ranges would lose or
  /// repeat names without notice: names or prefixes that do not strictly ascend (with versions:
  /// names and, within one, generations), or are outside of prefix, start_offset or end_offset;
  /// prefixes without a delimiter asked for; a next page token equal to this page's (the listing
  /// would never end). A malformed md5Hash or metadata is one, too; a time that cannot be read is
  /// none. Malformed JSON is retryable(), a whole item that lacks a member is not.
  static result<value> parse(const request& r, const state&, const service::whole_reply& reply);
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/list_verb.ipp>
#endif
