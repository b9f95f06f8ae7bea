#pragma once

#include <dataflux/detail/config.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {
struct client_certificate;
}

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// Scheme, host and port. Connections are made to an origin, and pooled by it.
struct origin {
  bool tls{true};
  /// Lower-case name, IPv4 literal, or IPv6 literal without brackets.
  std::string host{};
  std::uint16_t port{443};
  /// Reached without a proxy whatever the environment says: the metadata server (protocol.md 4.8).
  bool direct{false};
  /// Shown to it in the TLS handshake instead of the transport's own; null: that one. Connections
  /// with one are not those with another.
  std::shared_ptr<const client_certificate> certificate{};

  /// The Host field's value: brackets around IPv6, the port only when it is not the default.
  std::string authority() const;
  void append_authority(std::string& out) const;
  /// "https://host:port", for messages.
  std::string to_string() const;
  /// This machine itself, by its address or as "localhost": no network hears what is sent there.
  bool is_loopback() const noexcept;
  /// The same scheme, host and port, however each is reached.
  bool is_where(const origin& other) const noexcept {
    return tls == other.tls && port == other.port && host == other.host;
  }
  friend bool operator==(const origin&, const origin&) = default;
};

/// An absolute http or https URL taken apart.
struct url {
  http::origin origin{};
  /// Path and query, beginning with '/'; "/" when the URL has none. Not decoded.
  std::string target{};
};

/// Strict parse of "http[s]://host[:port][/path][?query]". Refuses user info, fragments, control
/// characters, spaces, empty hosts and ports outside 1-65535 with invalid_argument; the message
/// names the URL only up to its host, since the rest may be a secret (a session URL).
result<url> parse_url(std::string_view text);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/url.ipp>
#endif
