#pragma once

#include <dataflux/gcs/detail/endpoint.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

inline bool drop_suffix(std::string_view& text, std::string_view suffix) noexcept {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

DATAFLUX_INLINE endpoint::endpoint(http::origin origin, std::string_view base, bool is_emulator)
    : origin_(std::make_shared<const http::origin>(std::move(origin))),
      json_(base),
      upload_(base),
      xml_(base),
      emulator_(is_emulator) {
  json_.append("/storage/v1/b/");
  upload_.append("/upload/storage/v1/b/");
  xml_.append("/");
}

DATAFLUX_INLINE result<endpoint> endpoint::make(std::string_view text, bool is_emulator) {
  auto url = http::parse_url(text);
  if (!url) {
    return error{errc::invalid_argument, "the service's endpoint: " + url.error().message()};
  }
  if (!url->origin.tls && !is_emulator) {
    return error{errc::invalid_argument,
                 "the service's endpoint " + url->origin.to_string() +
                     " is plain HTTP, which would show tokens to the network; plain HTTP is for "
                     "emulators (STORAGE_EMULATOR_HOST), which get none"};
  }
  std::string_view base = url->target;
  if (base.find('?') != std::string_view::npos) {
    return error{errc::invalid_argument, "the service's endpoint " + url->origin.to_string() +
                                             " must not have a query behind its path"};
  }
  // An environment's proxy knows nothing of this machine.
  url->origin.direct = is_emulator && url->origin.is_loopback();
  while (drop_suffix(base, "/")) {
  }
  if (drop_suffix(base, "/storage/v1")) {
    while (drop_suffix(base, "/")) {
    }
  }
  return endpoint{std::move(url->origin), base, is_emulator};
}

DATAFLUX_INLINE result<endpoint> endpoint::for_universe(std::string_view domain, bool mutual_tls) {
  // A port or a path in a universe's domain would move the tokens elsewhere.
  if (domain.empty() || domain.find_first_of("/:@?#[]") != std::string_view::npos) {
    return error{errc::invalid_argument, "the universe domain is not a host name"};
  }
  if (mutual_tls && domain != "googleapis.com") {
    return error{errc::invalid_argument,
                 "mutual TLS has no endpoint outside of googleapis.com: name an endpoint, or set "
                 "GOOGLE_API_USE_MTLS_ENDPOINT=never"};
  }
  return make(std::string{"https://storage."}.append(mutual_tls ? "mtls." : "").append(domain),
              false);
}

DATAFLUX_INLINE result<endpoint> endpoint::custom(std::string_view url) { return make(url, false); }

DATAFLUX_INLINE result<endpoint> endpoint::emulator(std::string_view host) {
  if (host.find("://") != std::string_view::npos) return make(host, true);
  return make(std::string{"http://"}.append(host), true);
}

DATAFLUX_INLINE std::string endpoint::to_string() const {
  std::string_view base = xml_;
  base.remove_suffix(1);
  return origin_->to_string().append(base);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs
