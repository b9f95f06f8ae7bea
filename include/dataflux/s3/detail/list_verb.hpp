#pragma once

#include <dataflux/codec/detail/xml.hpp>
#include <dataflux/result.hpp>
#include <dataflux/s3/detail/list_page.hpp>
#include <dataflux/s3/detail/verb.hpp>
#include <dataflux/store/requests.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// ListObjectsV2. Listed objects have no CRC32C, since the service tells none; their generation is
/// their ETag's, 0 where the server gives none.
struct list_verb {
  using request = list_page_request;
  using value = list_page;
  using state = service::no_state;

  /// 1,000 entries with names of 1,024 bytes, each byte escaped as %xx, fit; so do many more of
  /// usual ones, since some servers send all that they have.
  static constexpr service::verb_info info{"ListObjectsV2", pacing_class::metadata,
                                           billing_class::a, false, codec::xml_document::max_size};
  static constexpr service::repeat_rule repeat{info.name, repeat_condition::always};
  static constexpr bool recycled = true;

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, {}, 0, false};
  }
  /// Names are matched with match_glob here: S3 lists them all.
  /// Errors: unimplemented for versions and include_trailing_delimiter, and for match_glob beside a
  /// delimiter; as start_of().
  static result<void> check(const call_context& context, const request& r);
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  static result<value> parse(const request& r, const state&, const whole_reply& reply);
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/list_verb.ipp>
#endif
