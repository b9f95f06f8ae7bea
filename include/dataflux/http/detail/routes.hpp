#pragma once

#include <dataflux/http/curl_transport.hpp>
#include <dataflux/http/detail/url.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// Where connections go that the caller leads elsewhere: curl_transport_options::connect_to and
/// resolve. What requests and certificates name stays. Threads: any, once it is made.
class routes {
 public:
  /// A host and its port: what a name server, or `resolve`, is asked about.
  struct place {
    std::string host{};
    std::uint16_t port{0};
    friend bool operator==(const place&, const place&) = default;
  };
  using addresses = std::shared_ptr<const std::vector<std::string>>;

  /// Errors: invalid_argument, with the option and the entry that is none.
  static result<routes> parse(const curl_transport_options& options);

  /// Where connections to an origin go: there, or where `connect_to` says. Plain HTTP to this
  /// machine itself is led nowhere else, since secrets may go that way.
  place place_of(const origin& to) const;
  /// What `resolve` says of that place; null: nothing.
  addresses addresses_of(const origin& to) const;
  /// "host:port", with brackets around IPv6.
  static std::string text_of(const place& where);
  /// For an error: " (connect_to: HOST:PORT)", what leads elsewhere; empty: nothing does.
  std::string words_for(const origin& to) const;

 private:
  struct detour {
    place from{};
    place to{};
  };
  struct answer {
    place about{};
    addresses told{};
  };
  std::vector<detour> detours_{};
  std::vector<answer> answers_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/routes.ipp>
#endif
