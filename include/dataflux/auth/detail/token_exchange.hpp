#pragma once

#include <dataflux/auth/detail/subject_source.hpp>
#include <dataflux/http/detail/url.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

/// Tokens for tokens: at Google's Security Token Service (protocol.md 4.4), and at IAM, as another
/// account (protocol.md 4.6).
namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// What impersonation, and a federated token on its way to it, are asked for.
inline constexpr std::string_view cloud_scope = "https://www.googleapis.com/auth/cloud-platform";

/// An exchange at the STS.
struct exchange_options {
  /// With the certificate that it asks for, where the subject token is one's chain.
  http::url service{};
  std::string audience{};
  std::string subject_token_type{};
  /// Separated by spaces.
  std::string scopes{};
  /// Of an OAuth client, where there is one.
  std::string client_id{};
  std::string client_secret{};
  /// JSON; empty: none.
  std::string options{};
};

/// The token that the STS gives for a subject token, which is asked for anew before each try. One
/// that was refused is not sent again: the flow ends with unauthenticated while the source has no
/// other.
credentials_ptr make_exchanged_tokens(credentials_facts facts, exchange_options options,
                                      subject_source_ptr subject);

/// Acting as a service account.
struct impersonation_options {
  /// "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/ACCOUNT:" and the verb,
  /// "generateAccessToken".
  http::url service{};
  std::string account{};
  /// Who acts for whom: each may act for the next one, the last for the account.
  std::vector<std::string> delegates{};
  std::chrono::seconds life{3600};
  /// Separated by spaces.
  std::string scopes{};
};

/// The account in the address of its service; empty for an address that is none.
std::string account_of(const http::url& service);

/// The token that IAM gives for that of `source`.
credentials_ptr make_impersonated_tokens(credentials_facts facts, impersonation_options options,
                                         credentials_ptr source);

/// Reads {"accessToken", "expireTime"} of IAM. Errors: internal, quoting nothing.
result<access_token> read_impersonated_token(const http_reply& reply, system_time now,
                                             const credentials_facts& facts);

/// "Basic ...".
std::string basic_authorization(std::string_view id, std::string_view secret);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/impersonation.ipp>
#include <dataflux/auth/impl/token_exchange.ipp>
#endif
