#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/gcs/detail/verb.hpp>
#include <dataflux/http/detail/message.hpp>
#include <dataflux/result.hpp>

#include <memory>
#include <string>

/// What a signature needs of others, where no key is at hand (protocol.md 1.15).
namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

struct sign_blob_request {
  using value = std::string;

  std::string account{};  ///< the service account's e-mail address
  std::string payload{};
  call_limits limits{};
};

/// The caller has looked at it.
inline result<void> validate(const sign_blob_request&) { return {}; }

struct signed_body {
  std::string document{};
};

/// iam.signBlob: POST {iam}/v1/projects/-/serviceAccounts/{account}:signBlob, with the client's
/// token. Gives the bytes of the signature, RS256 by a key of Google's.
struct sign_blob_verb {
  using request = sign_blob_request;
  using value = std::string;
  using state = signed_body;

  static constexpr service::verb_info info{"iam.signBlob", pacing_class::metadata,
                                           billing_class::free};
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::always};

  static service::call_identity identity(const request&) noexcept {
    return {info.name, {}, {}, 0, false};
  }
  static result<state> prepare(const request& r, const call_id&);
  static void build(const call_context& context, const request& r, const state& made,
                    http::request& out);
  /// Errors: internal for a reply without a signature.
  static result<value> parse(const request& r, const state&, const service::whole_reply& reply);
};

struct machine_account_request {
  using value = std::string;

  std::shared_ptr<const http::origin> server{};
  std::string alias{};
  call_limits limits{};
};

inline result<void> validate(const machine_account_request&) { return {}; }

struct machine_facts {
  bool is_google{false};
};

/// metadata.email: GET /computeMetadata/v1/instance/service-accounts/{alias}/email of the metadata
/// server (protocol.md 4.8), which gets no token.
struct machine_account_verb {
  using request = machine_account_request;
  using value = std::string;
  using state = machine_facts;

  static constexpr service::verb_info info{"metadata.email", pacing_class::metadata,
                                           billing_class::free};
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::always};

  static service::call_identity identity(const request&) noexcept {
    return {info.name, {}, {}, 0, false};
  }
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  static void read_head(const http::request& sent, const http::reply_head& head, state& seen);
  /// Errors: internal for what is no metadata server, or an answer that is no address.
  static result<value> parse(const request& r, const state& seen,
                             const service::whole_reply& reply);
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/sign_verbs.ipp>
#endif
