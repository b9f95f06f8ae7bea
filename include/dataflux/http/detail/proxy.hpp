#pragma once

#include <dataflux/http/curl_transport.hpp>
#include <dataflux/http/detail/url.hpp>
#include <dataflux/result.hpp>

#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// True if connections to `to` may go through a proxy, whose business resolving the name then is:
/// the one that the caller names, unless its no_proxy has the host; else what the environment says,
/// of whose own exceptions curl knows.
bool proxy_configured(const origin& to, const curl_transport_options& options);

/// Has a list like no_proxy this host? Its entries stand between commas or blanks: "*", which is
/// all; a name, which is those below it, too; an address; a network, such as 10.0.0.0/8.
bool is_in_no_proxy(std::string_view list, const std::string& host);

/// A proxy's URL, taken apart.
struct proxy_address {
  bool tls{false};
  std::string shown{};  ///< "http://host:port", without a user, for messages
};
/// "http[s]://[user[:password]@]host[:port]". Errors: invalid_argument, which shows no user.
result<proxy_address> parse_proxy(std::string_view url);

/// The caller's options of proxies. Errors: invalid_argument.
result<void> check_proxy(const curl_transport_options& options);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/proxy.ipp>
#endif
