#pragma once

#include <dataflux/http/detail/characters.hpp>
#include <dataflux/http/detail/proxy.hpp>

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

namespace proxy_detail {

inline bool environment_names_one(const origin& to) {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  // curl ignores an upper-case HTTP_PROXY, which a CGI request header could set.
  if (to.tls)
    return set("https_proxy") || set("HTTPS_PROXY") || set("all_proxy") || set("ALL_PROXY");
  return set("http_proxy") || set("all_proxy") || set("ALL_PROXY");
}

struct address {
  std::array<unsigned char, 16> bytes{};
  std::size_t size{0};
};

inline std::optional<address> address_of(std::string_view text) {
  const std::string copy(text);
  address out;
  if (copy.find('\0') != std::string::npos) return std::nullopt;
  if (::inet_pton(AF_INET, copy.c_str(), out.bytes.data()) == 1) {
    out.size = 4;
  } else if (::inet_pton(AF_INET6, copy.c_str(), out.bytes.data()) == 1) {
    out.size = 16;
  } else {
    return std::nullopt;
  }
  return out;
}

inline bool same_bits(const address& a, const address& b, std::size_t bits) noexcept {
  for (std::size_t i = 0; i < bits; ++i) {
    const unsigned mask = 0x80U >> (i % 8);
    if (((a.bytes[i / 8] ^ b.bytes[i / 8]) & mask) != 0) return false;
  }
  return true;
}

inline bool has_address(std::string_view entry, const address& host) {
  const std::size_t slash = entry.find('/');
  std::string_view text = entry.substr(0, slash);
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  const auto network = address_of(text);
  if (!network || network->size != host.size) return false;
  if (slash == std::string_view::npos) return same_bits(*network, host, 8 * host.size);
  const std::string_view digits = entry.substr(slash + 1);
  std::size_t bits = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  const bool whole = failed == std::errc() && end == digits.data() + digits.size();
  return whole && bits <= 8 * host.size && same_bits(*network, host, bits);
}

inline bool has_name(std::string_view entry, std::string_view host) {
  if (entry.starts_with('.')) entry.remove_prefix(1);
  if (entry.empty() || host.size() < entry.size()) return false;
  const std::string_view end = host.substr(host.size() - entry.size());
  if (!same_letters(end, entry)) return false;
  return end.size() == host.size() || host[host.size() - entry.size() - 1] == '.';
}

}  // namespace proxy_detail

DATAFLUX_INLINE bool is_in_no_proxy(std::string_view list, const std::string& host) {
  namespace d = proxy_detail;
  const auto literal = d::address_of(host);
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(", \t"), list.size());
    const std::string_view entry = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    if (entry == "*") return true;
    if (literal ? d::has_address(entry, *literal) : d::has_name(entry, host)) return true;
  }
  return false;
}

DATAFLUX_INLINE bool proxy_configured(const origin& to, const curl_transport_options& options) {
  if (to.direct || is_in_no_proxy(options.no_proxy, to.host)) return false;
  return !options.proxy.empty() || proxy_detail::environment_names_one(to);
}

DATAFLUX_INLINE result<proxy_address> parse_proxy(std::string_view url) {
  const std::size_t host = std::min(url.find("://"), url.size()) + 3;
  const std::size_t at = url.rfind('@');
  std::string plain(url.substr(0, host));
  plain.append(url.substr(std::min(at == std::string_view::npos ? host : at + 1, url.size())));
  const bool cut = at != std::string_view::npos && at < host;
  const bool broken = url.find_first_of(std::string_view("\0\r\n", 3)) != std::string_view::npos;
  const bool has_port = plain.rfind(':') > host && (plain.rfind(']') == std::string::npos ||
                                                    plain.rfind(':') > plain.rfind(']'));
  const auto parsed = parse_url(plain);
  if (parsed && parsed->target == "/" && !cut && !broken && has_port) {
    return proxy_address{parsed->origin.tls, parsed->origin.to_string()};
  }
  // A user may be a secret, so nothing of it is shown.
  return error{errc::invalid_argument,
               "proxy: it is no URL of the form http[s]://[user[:password]@]host:port"};
}

DATAFLUX_INLINE result<void> check_proxy(const curl_transport_options& options) {
  if (options.proxy.empty()) {
    if (options.proxy_ca_file.empty()) return {};
    return error{errc::invalid_argument, "proxy_ca_file: it goes with proxy, an https URL"};
  }
  const auto parsed = parse_proxy(options.proxy);
  if (!parsed) return parsed.error();
  if (parsed->tls || options.proxy_ca_file.empty()) return {};
  return error{errc::invalid_argument, "proxy_ca_file: the proxy " + parsed->shown +
                                           " speaks plain HTTP and shows no certificate"};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
