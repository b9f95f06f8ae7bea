#pragma once

#include <dataflux/ais/detail/endpoint.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::ais {

inline constexpr std::string_view version_path{"/v1/"};

DATAFLUX_INLINE endpoint::endpoint(const http::origin& gateway, std::string calls)
    : gateway_(std::make_shared<const http::origin>(gateway)), calls_(std::move(calls)) {}

DATAFLUX_INLINE result<endpoint> endpoint::make(std::string_view text) {
  auto url = http::parse_url(text);
  if (!url) return error{errc::invalid_argument, "AIStore's endpoint: " + url.error().message()};
  if (url->target.find('?') != std::string::npos) {
    return error{errc::invalid_argument, "AIStore's endpoint " + url->origin.to_string() +
                                             " must not have a query behind its path"};
  }
  while (url->target.ends_with('/')) url->target.pop_back();
  // An environment's proxy knows nothing of this machine.
  url->origin.direct = url->origin.is_loopback();
  return endpoint{url->origin, url->target.append(version_path)};
}

DATAFLUX_INLINE bool endpoint::may_learn_token(const http::origin& place) const noexcept {
  return place.tls || (!gateway_->tls && place.is_loopback());
}

DATAFLUX_INLINE std::string endpoint::to_string() const {
  std::string_view base = calls_;
  base.remove_suffix(version_path.size());
  return gateway_->to_string().append(base);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais
