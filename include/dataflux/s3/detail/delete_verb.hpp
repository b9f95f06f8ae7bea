#pragma once

#include <dataflux/result.hpp>
#include <dataflux/s3/detail/verb.hpp>
#include <dataflux/store/remove_many_request.hpp>

#include <cstdint>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// A list of names as a document, and its checksum.
struct delete_state {
  std::string document{};
  std::uint32_t crc32c{0};
};

/// POST ?delete with the names and ETags (s3-protocol.md 3.4); the reply of 200 names those that
/// stay. Sent again as it is: what is gone counts as removed.
struct delete_verb {
  using request = remove_many_request;
  using value = request::value;
  using state = delete_state;

  static constexpr service::verb_info info{"DeleteObjects", pacing_class::write,
                                           billing_class::free, true, std::size_t{4} << 20U};
  static constexpr service::repeat_rule repeat{info.name, repeat_condition::always};
  static constexpr bool damage_is_repeated = true;

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, {}, 0, false};
  }
  /// Errors: unimplemented for a name with a character that XML cannot carry.
  static result<void> check(const call_context& context, const request& r);
  static result<state> prepare(const request& r, const call_id&);
  static void build(const call_context& context, const request& r, const state& s,
                    http::request& out);
  /// Errors: as parse_document(); internal for an object that was not asked about.
  static result<value> parse(const request& r, const state&, const whole_reply& reply);
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/delete_verb.ipp>
#endif
