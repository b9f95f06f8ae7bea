#pragma once

#include <dataflux/detail/config.hpp>
#include <dataflux/http/detail/url.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/encryption_key.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A customer's key in the forms in which requests carry it, all of which are wiped in the end.
struct held_key {
  std::array<std::uint8_t, 32> bytes{};
  std::string base64{};
  /// Digests of the bytes, in Base64: no secrets.
  std::string sha256{};
  std::string md5{};

  held_key() = default;
  held_key(const held_key&) = delete;
  held_key& operator=(const held_key&) = delete;
  DATAFLUX_INLINE ~held_key();
  /// For what hides secrets: those that hold these bytes in any form.
  std::string_view secret() const noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

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

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/encryption_key.ipp>
#endif
