#pragma once

#include <dataflux/http/detail/characters.hpp>
#include <dataflux/http/detail/url.hpp>

#include <arpa/inet.h>
#include <algorithm>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

inline error url_error(std::string_view shown, std::string_view why) {
  std::string message{"URL '"};
  for (const char c : shown) message += is_control(c) ? '?' : c;
  return error{errc::invalid_argument, message.append("': ").append(why)};
}

/// Names as DNS and /etc/hosts know them; international ones come in their ASCII form.
inline bool is_host_name(std::string_view host) noexcept {
  const auto allowed = [](char c) {
    return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'z') || c == '-' || c == '.' ||
           c == '_';
  };
  return !host.empty() && host.size() <= 253 && host.front() != '.' &&
         std::all_of(host.begin(), host.end(), allowed);
}

inline bool is_ipv6(const std::string& host) noexcept {
  in6_addr address{};
  if (host.find('\0') != std::string::npos) return false;
  return inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

/// Of a URL whose scheme has been removed: where the authority ends.
inline std::string_view take_authority(std::string_view& rest) noexcept {
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  const std::string_view authority = rest.substr(0, end);
  rest.remove_prefix(end);
  return authority;
}

/// Splits off ":port"; true unless the port is malformed.
inline bool take_port(std::string_view& authority, std::uint16_t& port) noexcept {
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos) return true;
  if (bracket != std::string_view::npos && colon < bracket) return true;
  const auto number = parse_decimal(authority.substr(colon + 1));
  if (!number || *number == 0 || *number > 65535) return false;
  port = static_cast<std::uint16_t>(*number);
  authority = authority.substr(0, colon);
  return true;
}

inline bool is_target(std::string_view target) noexcept {
  return std::all_of(target.begin(), target.end(),
                     [](char c) { return c > 0x20 && c < 0x7f && c != '#'; });
}

DATAFLUX_INLINE void origin::append_authority(std::string& out) const {
  const bool literal = host.find(':') != std::string::npos;
  out.append(literal ? "[" : "").append(host).append(literal ? "]" : "");
  if (port != (tls ? 443 : 80)) out.append(":").append(std::to_string(port));
}

DATAFLUX_INLINE std::string origin::authority() const {
  std::string out;
  append_authority(out);
  return out;
}

DATAFLUX_INLINE std::string origin::to_string() const {
  const bool literal = host.find(':') != std::string::npos;
  std::string out{tls ? "https://" : "http://"};
  out.append(literal ? "[" : "").append(host).append(literal ? "]" : "");
  return out.append(":").append(std::to_string(port));
}

DATAFLUX_INLINE bool origin::is_loopback() const noexcept {
  if (host == "localhost" || host == "::1") return true;
  // A name such as 127.example.com is somewhere else: digits and dots only.
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos;
}

DATAFLUX_INLINE result<url> parse_url(std::string_view text) {
  url out;
  std::string_view rest = text;
  if (same_letters(rest.substr(0, 8), "https://")) {
    rest.remove_prefix(8);
  } else if (same_letters(rest.substr(0, 7), "http://")) {
    rest.remove_prefix(7);
    out.origin.tls = false;
  } else {
    const std::size_t scheme = std::min(text.find_first_of(":/?#@"), text.size());
    return url_error(text.substr(0, std::min<std::size_t>(scheme, 16)),
                     "must begin with http:// or https://");
  }
  out.origin.port = out.origin.tls ? 443 : 80;
  std::string_view authority = take_authority(rest);
  if (authority.find('@') != std::string_view::npos) {  // never shown: it may hold a password
    return url_error(out.origin.tls ? "https://" : "http://", "user info is not allowed");
  }
  const auto shown = text.substr(0, std::min<std::size_t>(text.size() - rest.size(), 280));
  if (!take_port(authority, out.origin.port)) {
    return url_error(shown, "the port must be a number from 1 to 65535");
  }
  out.origin.host = authority;
  std::transform(out.origin.host.begin(), out.origin.host.end(), out.origin.host.begin(), to_lower);
  if (authority.size() > 2 && authority.front() == '[' && authority.back() == ']') {
    out.origin.host = out.origin.host.substr(1, authority.size() - 2);
    if (!is_ipv6(out.origin.host)) return url_error(shown, "not an IPv6 address");
  } else if (!is_host_name(authority)) {
    return url_error(shown, authority.empty() ? "has no host" : "not a host name");
  }
  if (!is_target(rest)) {
    return url_error(shown, "fragment, space, control or non-ASCII character after the host");
  }
  if (rest.empty() || rest.front() != '/') out.target = "/";
  out.target += rest;
  return out;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
