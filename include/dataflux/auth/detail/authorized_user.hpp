#pragma once

#include <dataflux/auth/detail/credentials_file.hpp>
#include <dataflux/auth/detail/token_flow.hpp>

#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// Reads the JSON that `gcloud auth application-default login` writes (protocol.md 4.3): a refresh
/// token of a person, exchanged for an access token at the token endpoint.
///
/// Required fields: type, client_id, client_secret, refresh_token. Optional: quota_project_id,
/// token_uri (credentials_file::endpoint), universe_domain, which can only be the default. `path`
/// is for messages only; `quota_project` is billed instead of the file's, unless
/// empty. The token has the scopes that were granted at login.
///
/// Errors: invalid_argument naming the path and the field, never its value.
result<credentials_ptr> parse_authorized_user(std::string_view json, std::string path,
                                              std::string quota_project = {});
/// The same of a file that was read.
result<credentials_ptr> read_authorized_user(const credentials_file& file,
                                             std::string quota_project = {});

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/authorized_user.ipp>
#endif
