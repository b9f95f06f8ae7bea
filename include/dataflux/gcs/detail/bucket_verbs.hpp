#pragma once

#include <dataflux/gcs/detail/verb.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/bucket_requests.hpp>
#include <dataflux/store/detail/page_bound.hpp>

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

/// The verbs of the JSON API about a bucket itself (protocol.md 1.8). Their common shape is in
/// gcs/detail/verb.hpp. Members of replies that are malformed are errors (internal); missing ones
/// are not.
namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// buckets.get: GET {json}{bucket}.
struct bucket_verb {
  using request = bucket_request;
  using value = bucket_metadata;
  using state = service::no_state;

  static constexpr service::verb_info info{"buckets.get", pacing_class::metadata, billing_class::b};
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::always};

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, {}, 0, false};
  }
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  static result<value> parse(const request& r, const state&, const service::whole_reply& reply);
};

/// buckets.list: GET /storage/v1/b?project=..., one page, projected to what bucket_metadata holds.
struct list_buckets_verb {
  using request = list_buckets_request;
  using value = bucket_page;
  using state = service::no_state;

  /// A thousand buckets with long labels and rules fit, for services that send all the same.
  static constexpr service::verb_info info{"buckets.list", pacing_class::metadata, billing_class::a,
                                           false, std::size_t{16} << 20U};
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::always};

  static service::call_identity identity(const request&) noexcept {
    return {info.name, {}, {}, 0, false};
  }
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  /// Errors: invalid_argument when neither the request nor the client knows a project.
  static result<void> check(const call_context& context, const request& r);
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  /// Errors, besides malformed members: internal for a bucket without the prefix asked for, and for
  /// a page that names itself as the next.
  static result<value> parse(const request& r, const state&, const service::whole_reply& reply);
};

/// What a call for all pages has so far; `next.page_token` is of the page to be asked for.
struct listed_buckets {
  list_buckets_request next{};
  std::vector<bucket_metadata> found{};
  std::unordered_set<std::string> known{};  ///< their names
  detail::page_bound bound{};
};

/// buckets.list, page after page.
struct list_all_buckets_verb {
  using request = list_all_buckets_request;
  using value = std::vector<bucket_metadata>;
  using state = listed_buckets;

  static constexpr service::verb_info info = list_buckets_verb::info;
  static constexpr service::repeat_rule repeat = list_buckets_verb::repeat;

  static service::call_identity identity(const request&) noexcept {
    return {info.name, {}, {}, 0, false};
  }
  static result<state> prepare(const request& r, const call_id&);
  static result<void> check(const call_context& context, const request& r);
  static void build(const call_context& context, const request&, const state& at,
                    http::request& out);
  /// Nothing when there is another page.
  static result<std::optional<value>> parse(const request&, state& at,
                                            const service::whole_reply& reply);
};

/// buckets.getStorageLayout: GET {json}{bucket}/storageLayout.
struct storage_layout_verb {
  using request = storage_layout_request;
  using value = storage_layout;
  using state = service::no_state;

  static constexpr service::verb_info info{"buckets.storageLayout", pacing_class::metadata,
                                           billing_class::b};
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::always};

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, {}, 0, false};
  }
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  /// Errors: unimplemented for a zonal bucket (protocol.md 7.2).
  static result<value> parse(const request& r, const state&, const service::whole_reply& reply);
};

/// buckets.testIamPermissions: GET {json}{bucket}/iam/testPermissions?permissions=..&permissions=..
struct test_permissions_verb {
  using request = test_permissions_request;
  using value = std::vector<std::string>;
  using state = service::no_state;

  static constexpr service::verb_info info{"buckets.testIamPermissions", pacing_class::metadata,
                                           billing_class::b};
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::always};

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, {}, 0, false};
  }
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  /// Those of the request that are granted, in the request's order.
  static result<value> parse(const request& r, const state&, const service::whole_reply& reply);
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/bucket_verbs.ipp>
#endif
