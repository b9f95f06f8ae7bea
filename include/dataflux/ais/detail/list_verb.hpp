#pragma once

#include <dataflux/ais/detail/verb.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/requests.hpp>

#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::ais {

/// The document that asks for a page.
struct list_state {
  std::string document{};
};

/// GET with a body. The service knows a prefix and an exclusive beginning, and orders by name
/// (s3-protocol.md 8.2); an end, an inclusive beginning, a delimiter and match_glob are applied
/// here. So with a delimiter a page costs as much as one of all names, but the rest of a folded
/// prefix is skipped.
///
/// A page goes on behind its last name, so that any range can be cut anywhere. The generation of a
/// listed object is 0 unless its version and its checksum are both listed: then it is that of a
/// reply to a read.
struct list_verb {
  using request = list_page_request;
  using value = list_page;
  using state = list_state;

  static constexpr service::verb_info info{"ListObjects", pacing_class::metadata, billing_class::a,
                                           false, codec::json_document::max_size};
  static constexpr service::repeat_rule repeat{info.name, repeat_condition::always};
  static constexpr bool recycled = true;

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, {}, 0, false};
  }
  /// Errors: unimplemented for buckets of others, whose listings take no start_after, and for
  /// versions, include_trailing_delimiter, and match_glob beside a delimiter; invalid_argument for
  /// a page_token of another listing.
  static result<void> check(const call_context& context, const request& r);
  static void prepare(const request& r, const call_id&, state& s);
  static void build(const call_context& context, const request& r, const state& s,
                    http::request& out);
  /// Errors: internal for an entry that is malformed, for names that do not ascend or lack the
  /// prefix asked for, for a page that does not go on.
  static result<value> parse(const request& r, const state&, const whole_reply& reply);
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/ais/impl/list_verb.ipp>
#endif
