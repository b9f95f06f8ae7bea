#pragma once

#include <dataflux/http/curl_transport.hpp>
#include <dataflux/result.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// Can it be shown? Errors: invalid_argument for half of one, for what cannot be read or is no
/// certificate or key, for a key that needs another password, and for a key of another certificate.
/// They name the file, and show no secret.
///
/// Threads: any. Cost: the files are read, and the key is tried.
result<void> check_certificate(const client_certificate& shown);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/client_certificate.ipp>
#endif
