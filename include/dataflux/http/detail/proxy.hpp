#pragma once

#include <dataflux/http/detail/url.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// True if the environment sends connections to `to` through a proxy, whose business resolving the
/// name then is.
bool proxy_configured(const origin& to);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/proxy.ipp>
#endif
