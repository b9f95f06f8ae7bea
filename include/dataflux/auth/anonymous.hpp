#pragma once

#include <dataflux/auth/credentials.hpp>

namespace dataflux::inline DATAFLUX_ABI::auth {

/// No credentials: for public buckets and for emulators. Requests carry no Authorization, and
/// there is never a token to wait for. Cost: one allocation.
credentials_ptr make_anonymous_credentials();

}  // namespace dataflux::inline DATAFLUX_ABI::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/anonymous.ipp>
#endif
