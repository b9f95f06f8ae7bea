#pragma once

#include <dataflux/http/detail/proxy.hpp>

#include <cstdlib>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

DATAFLUX_INLINE bool proxy_configured(const origin& to) {
  if (to.direct) return false;
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  // curl ignores an upper-case HTTP_PROXY, which a CGI request header could set.
  if (to.tls)
    return set("https_proxy") || set("HTTPS_PROXY") || set("all_proxy") || set("ALL_PROXY");
  return set("http_proxy") || set("all_proxy") || set("ALL_PROXY");
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
