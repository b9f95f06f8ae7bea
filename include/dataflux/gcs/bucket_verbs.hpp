#pragma once

#include <dataflux/gcs/requests.hpp>
#include <dataflux/gcs/verb.hpp>
#include <dataflux/result.hpp>

#include <string>
#include <vector>

/// The verbs of the JSON API about a bucket itself (protocol.md 1.8). Their common shape is in
/// gcs/verb.hpp. Members of replies that are malformed are errors (internal); missing ones are not.
namespace dataflux::inline DATAFLUX_ABI::gcs {

/// buckets.get: GET {json}{bucket}.
struct bucket_verb {
  using request = bucket_request;
  using value = bucket_metadata;
  using state = no_state;

  static constexpr verb_info info{"buckets.get", pacing_class::metadata, billing_class::b};

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, {}, 0, false};
  }
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  static result<value> parse(const request& r, const state&, const whole_reply& reply);
};

/// buckets.getStorageLayout: GET {json}{bucket}/storageLayout.
struct storage_layout_verb {
  using request = storage_layout_request;
  using value = storage_layout;
  using state = no_state;

  static constexpr verb_info info{"buckets.storageLayout", pacing_class::metadata,
                                  billing_class::b};

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, {}, 0, false};
  }
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  /// Errors: unimplemented for a zonal bucket (protocol.md 7.2).
  static result<value> parse(const request& r, const state&, const whole_reply& reply);
};

/// buckets.testIamPermissions: GET {json}{bucket}/iam/testPermissions?permissions=..&permissions=..
struct test_permissions_verb {
  using request = test_permissions_request;
  using value = std::vector<std::string>;
  using state = no_state;

  static constexpr verb_info info{"buckets.testIamPermissions", pacing_class::metadata,
                                  billing_class::b};

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, {}, 0, false};
  }
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  /// Those of the request that are granted, in the request's order.
  static result<value> parse(const request& r, const state&, const whole_reply& reply);
};

}  // namespace dataflux::inline DATAFLUX_ABI::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/bucket_verbs.ipp>
#endif
