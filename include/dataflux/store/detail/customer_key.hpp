#pragma once

#include <dataflux/http/detail/url.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/detail/held_key.hpp>
#include <dataflux/store/encryption_key.hpp>

#include <optional>
#include <string_view>

/// What clients and verbs ask of a customer's key.
namespace dataflux::inline DATAFLUX_ABI::detail {

inline std::string_view secret_of(const std::optional<encryption_key>& key) noexcept {
  return key && !key->empty() ? key->held()->secret() : std::string_view{};
}

/// A request's own key, or none, before the client's.
inline const held_key* key_of(const std::optional<encryption_key>& own,
                              const held_key* clients) noexcept {
  return own ? own->held() : clients;
}

/// No key goes where others may listen, as no token does.
inline result<void> check_key_place(const encryption_key& key, const http::origin& to) {
  if (key.empty() || to.tls || to.is_loopback()) return {};
  return error{errc::invalid_argument,
               "encryption_key: " + to.to_string() +
                   " is plain HTTP and no loopback address, which would show it to the network"};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
