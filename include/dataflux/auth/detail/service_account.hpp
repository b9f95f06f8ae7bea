#pragma once

#include <dataflux/auth/detail/credentials_file.hpp>
#include <dataflux/auth/detail/token_flow.hpp>

#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// Google's token endpoint, used when a file names none.
inline constexpr std::string_view google_token_uri = "https://oauth2.googleapis.com/token";

/// How a service account's key becomes a token (protocol.md 4.2).
struct service_account_options {
  /// OAuth scopes, separated by spaces. Empty: a self-signed token names `audience` instead.
  std::string scopes{storage_scope};
  /// Used only while `scopes` is empty.
  std::string audience{"https://storage.googleapis.com/"};
  /// False (preferred): sign the token here, with no request at all. True: sign an assertion and
  /// exchange it at the file's token_uri; not possible outside the default universe.
  bool exchange{false};
  /// Billed instead of the file's quota_project_id, unless empty.
  std::string quota_project{};
};

/// Reads the JSON of a service account key.
///
/// Required fields: type, client_email, private_key_id, private_key. Optional: project_id,
/// token_uri (default google_token_uri), quota_project_id, universe_domain. `path` is for messages
/// only. The key is loaded and checked here, so that a broken one is found at start-up.
///
/// Errors: invalid_argument naming the path and the field, never its value. What a token_uri may be
/// says credentials_file::endpoint.
result<credentials_ptr> parse_service_account(std::string_view json, std::string path,
                                              const service_account_options& options = {});
/// The same of a file that was read.
result<credentials_ptr> read_service_account(const credentials_file& file,
                                             const service_account_options& options = {});

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/service_account.ipp>
#endif
