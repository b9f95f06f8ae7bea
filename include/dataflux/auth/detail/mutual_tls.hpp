#pragma once

#include <dataflux/auth/detail/environment.hpp>
#include <dataflux/http/curl_transport.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// Mutual TLS as Google's own libraries have it (AIP-4114): which certificate a client shows, and
/// whether it goes to the endpoints that ask for one.
namespace dataflux::inline DATAFLUX_ABI::detail::auth {

struct mutual_tls {
  /// Empty: none is shown.
  client_certificate certificate{};
  /// storage.mtls.googleapis.com and its like, where the caller names no endpoint.
  bool endpoints{false};
};

/// The certificate is `given`. Else, if GOOGLE_API_USE_CLIENT_CERTIFICATE is "true", or is not set
/// while GOOGLE_API_CERTIFICATE_CONFIG names a file with a workload:
/// 1. the workload's (workload_certificate.hpp);
/// 2. what the program gives that ~/.secureConnect/context_aware_metadata.json names by
///    "cert_provider_command": a certificate, a key, and a passphrase where the key is encrypted;
/// 3. none.
/// GOOGLE_API_USE_MTLS_ENDPOINT says "always", "never" or "auto", which is its default: the
/// endpoints of mutual TLS where there is a certificate.
///
/// Errors: invalid_argument for another value of a variable, for a broken file, and for what the
/// program gives that is no certificate and key; those of run_program(), with the file that names
/// the program; failed_precondition where that is missing.
///
/// Lifetime: `machine` is used during this call only. Threads: any. Cost: reads variables; files,
/// and 30 s at most for the program, where they ask for a certificate. Blocks meanwhile.
result<mutual_tls> find_mutual_tls(const environment& machine, const client_certificate& given);

/// Takes a provider's output apart. Errors: invalid_argument, without what it says.
result<client_certificate> read_provided_certificate(std::string_view output);

/// The host that asks for a certificate in place of one that serves tokens
/// ("oauth2.googleapis.com", "sts.googleapis.com", "iamcredentials.googleapis.com"); empty for any
/// other host.
std::string mutual_tls_host(std::string_view host);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/mutual_tls.ipp>
#endif
