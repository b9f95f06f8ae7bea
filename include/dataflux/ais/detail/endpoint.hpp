#pragma once

#include <dataflux/http/detail/url.hpp>
#include <dataflux/result.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::ais {

/// A gateway of an AIStore, and which places may learn who asks (s3-protocol.md 8.1). Thread-safe
/// once made.
///
/// Requests go to the gateway, or once to where it redirects them: the objects are on other hosts.
/// A token goes along over TLS, and in the clear to this machine alone, from a gateway that is in
/// the clear, too.
class endpoint {
 public:
  /// "http[s]://host[:port][/base]". Errors: invalid_argument for what is no URL, or has a query.
  static result<endpoint> make(std::string_view url);

  const std::shared_ptr<const http::origin>& gateway() const noexcept { return gateway_; }
  /// "/base/v1/".
  std::string_view calls() const noexcept { return calls_; }
  bool may_learn_token(const http::origin& place) const noexcept;
  /// "https://host:port/base", for messages.
  std::string to_string() const;

 private:
  endpoint(const http::origin& gateway, std::string calls);

  std::shared_ptr<const http::origin> gateway_;
  std::string calls_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/ais/impl/endpoint.ipp>
#endif
