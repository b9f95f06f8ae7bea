#pragma once

#include <dataflux/ais/detail/verb.hpp>
#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>
#include <dataflux/service/detail/read_head.hpp>
#include <dataflux/store/requests.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::ais {

/// GET. The body goes to the caller's sink, hence parse_head() instead of parse().
///
/// The service pins no read: each reply's version and checksum are held against those asked for, or
/// those of the first reply, before a byte goes to the sink. A whole object is compared by xxhash2
/// or crc32c; one with a checksum of another kind is not verified.
///
/// A member of an archive (archpath) comes without any of these, perhaps of unknown length, and
/// never in part.
struct read_verb {
  using request = read_request;
  using value = read_summary;
  using state = service::read_cursor;

  static constexpr service::verb_info info{"GetObject", pacing_class::read, billing_class::b, false,
                                           0};
  static constexpr service::repeat_rule repeat{info.name, repeat_condition::always};

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, r.generation, false};
  }
  /// Errors: unimplemented for decode_gzip and metagenerations; as check_name().
  static result<void> check(const call_context& context, const request& r);
  static void build(const call_context& context, const request& r, const state& from,
                    http::request& out);
  /// Reads a head of status 200, 206 or 416 and holds it against what was asked. Errors: as
  /// service::read_span() and service::check_found(). No allocation but for errors, and a text.
  static result<service::read_head> parse_head(const request& r, const state& asked,
                                               const http::reply_head& head);
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/ais/impl/read_verb.ipp>
#endif
