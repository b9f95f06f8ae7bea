#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/auth/detail/credentials_file.hpp>
#include <dataflux/auth/detail/environment.hpp>
#include <dataflux/auth/detail/token_exchange.hpp>
#include <dataflux/result.hpp>

#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// What the kinds need beside their file.
struct federation_options {
  /// Separated by spaces.
  std::string scopes{};
  /// Billed instead of the file's, unless empty.
  std::string quota_project{};
};

/// Reads a file of type external_account (protocol.md 4.4): a workload or a person that another
/// provider knows.
///
/// Required fields: audience, subject_token_type, credential_source, which says where subject
/// tokens come from: `file`, `url`, `executable`, `environment_id` "aws1", or `certificate`.
/// Optional: token_url, service_account_impersonation_url with
/// service_account_impersonation.token_lifetime_seconds, client_id with client_secret,
/// workforce_pool_user_project, quota_project_id, universe_domain.
///
/// Errors: invalid_argument naming the path and the field, never its value;
/// failed_precondition for a program while GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES is not 1;
/// those of reading the configuration of certificates.
///
/// Lifetime: `machine` outlives the credentials, which read files and run programs by it.
result<credentials_ptr> parse_external_account(const credentials_file& file,
                                               const federation_options& options,
                                               const environment& machine);

/// Reads the account to act for: the field "service_account_impersonation_url", which must be
/// there, and service_account_impersonation.token_lifetime_seconds.
result<impersonation_options> read_impersonation(const credentials_file& file);

/// Reads a file of type external_account_authorized_user (protocol.md 4.5): the login of a person
/// of a workforce pool. Required fields: refresh_token, token_url, client_id, client_secret. The
/// reply may bring the next refresh token, which replaces the file's in memory.
///
/// Errors: invalid_argument as above.
result<credentials_ptr> parse_external_user(const credentials_file& file,
                                            const federation_options& options);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/credential_source.ipp>
#include <dataflux/auth/impl/external_account.ipp>
#include <dataflux/auth/impl/external_user.ipp>
#endif
