#pragma once

#include <dataflux/auth/detail/credentials_file.hpp>
#include <dataflux/auth/detail/environment.hpp>
#include <dataflux/auth/detail/subject_source.hpp>
#include <dataflux/http/detail/url.hpp>

#include <memory>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// What the file says that the source serves.
struct source_purpose {
  const credentials_facts& facts;
  const std::string& audience;
  const std::string& subject_token_type;
  /// The account that is acted for; may be empty.
  const std::string& account;
};

/// Where subject tokens come from, and what a connection to the STS shows.
struct credential_source {
  subject_source_ptr subject{};
  std::shared_ptr<const client_certificate> certificate{};
};

/// Reads the field "credential_source" of an external_account, whose kind its members say
/// (protocol.md 4.4). Errors: those of parse_external_account().
result<credential_source> read_credential_source(const credentials_file& file,
                                                 const source_purpose& purpose,
                                                 const environment& machine);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/credential_source.ipp>
#endif
