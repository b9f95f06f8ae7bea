#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>
#include <dataflux/s3/detail/verb.hpp>
#include <dataflux/service/detail/read_head.hpp>
#include <dataflux/store/requests.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// GET: bytes as they are stored. The body goes to the caller's sink, hence parse_head() instead of
/// parse().
///
/// A read is pinned to one state of the object by its ETag: each reply's is held against the one
/// asked for before a byte goes to the sink, and a continuation asks by If-Match, too. The whole
/// object is compared with its CRC32C, else with its CRC64NVME or CRC32; where it has but a
/// checksum of its parts' checksums, or none, the read is not verified.
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
  /// Errors: unimplemented for decode_gzip, which the service does not do.
  static result<void> check(const call_context& context, const request& r);
  static void build(const call_context& context, const request& r, const state& from,
                    http::request& out);
  /// Reads a head of status 200, 206 or 416 and holds it against what was asked. Errors: as
  /// service::read_span() and check_found(). No allocation but for errors, and a digest's.
  static result<service::read_head> parse_head(const request& r, const state& asked,
                                               const http::reply_head& head);
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/read_verb.ipp>
#endif
