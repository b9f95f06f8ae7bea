#pragma once

#include <dataflux/result.hpp>
#include <dataflux/s3/detail/verb.hpp>
#include <dataflux/store/bucket_requests.hpp>

#include <optional>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// What the first of a bucket's two replies told.
struct bucket_state {
  std::optional<bucket_metadata> found{};
};

/// HEAD of the bucket, which tells its region; then GET ?versioning. A bucket's other settings have
/// requests of their own, which few accounts may make: they stay empty.
struct bucket_verb {
  using request = bucket_request;
  using value = bucket_metadata;
  using state = bucket_state;

  static constexpr service::verb_info info{"HeadBucket", pacing_class::metadata, billing_class::b};
  static constexpr service::repeat_rule repeat{info.name, repeat_condition::always};

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, {}, 0, false};
  }
  static result<void> check(const call_context& context, const request& r);
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state& s,
                    http::request& out);
  static result<std::optional<value>> parse(const request& r, state& s, const whole_reply& reply);
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/bucket_verb.ipp>
#endif
