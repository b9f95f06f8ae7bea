#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/gcs/detail/verb.hpp>
#include <dataflux/result.hpp>
#include <dataflux/service/detail/read_head.hpp>
#include <dataflux/store/requests.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

using service::read_cursor;
using service::read_head;

/// objects.get with alt=media: bytes as stored, or as decode_gzip has them (protocol.md 1.2). The
/// body goes to the caller's sink, hence parse_head() instead of parse().
struct read_verb {
  using request = read_request;
  using value = read_summary;
  using state = service::read_cursor;

  static constexpr service::verb_info info{"objects.media", pacing_class::read, billing_class::b,
                                           false, 0};
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::always};

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, r.generation, false};
  }
  static result<state> prepare(const request& r, const call_id&) {
    return state{r.range, r.generation, false};
  }

  /// GET {json}{bucket}/o/{object}?alt=media[&generation=..][&if..=..][&userProject=..], a Range
  /// field unless all is asked for, and `Accept-Encoding: gzip`, which keeps gzip-stored objects as
  /// they are stored, unless decode_gzip. Writes no temporaries: no allocation once `out` has
  /// grown.
  static void build(const call_context& context, const request& r, const state& from,
                    http::request& out);

  /// Reads a head of status 200, 206 or 416 and holds it against what was asked.
  ///
  /// 416 for a range that begins at the object's end or in an empty object is success with no bytes
  /// (length 0, discard_body): the service has no other way to say so. 200 for a range is accepted
  /// when the range is the whole object, or Content-Range says that it is what was asked for.
  ///
  /// Errors: out_of_range for a range that begins beyond the end; internal for a head that
  /// contradicts itself or the question (other bytes, another generation, a Content-Range that is
  /// missing or malformed, a length that is not the range's); internal with the raw status for any
  /// other status: give those to parse_error(). No allocation but for errors.
  static result<service::read_head> parse_head(const state& asked, const http::reply_head& head);
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/read_verb.ipp>
#endif
