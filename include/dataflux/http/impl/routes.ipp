#pragma once

#include <dataflux/http/detail/routes.hpp>

#include <arpa/inet.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

namespace routes_detail {

inline error bad_entry(std::string_view option, std::string_view entry, std::string_view form) {
  std::string text(option);
  text.append(": \"").append(entry.substr(0, 280)).append("\" is not of the form ").append(form);
  return {errc::invalid_argument, std::move(text)};
}

/// Takes "host:port" from the beginning, and the colon behind it.
inline std::optional<routes::place> take_place(std::string_view& rest) {
  const bool literal = rest.starts_with('[');
  const std::size_t host_end = literal ? rest.find(']') : rest.find(':');
  if (host_end == std::string_view::npos) return std::nullopt;
  const std::size_t colon = host_end + (literal ? 1 : 0);
  if (colon >= rest.size() || rest[colon] != ':') return std::nullopt;
  const std::size_t end = std::min(rest.find(':', colon + 1), rest.size());
  const auto url = parse_url(std::string("https://").append(rest.substr(0, end)));
  if (!url || url->target != "/" || end == colon + 1) return std::nullopt;
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return routes::place{url->origin.host, url->origin.port};
}

/// An address without the brackets that it may have.
inline std::optional<std::string> address_of(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::string address(text);
  unsigned char parsed[sizeof(::in6_addr)];
  if (address.find('\0') != std::string::npos) return std::nullopt;
  const bool good = ::inet_pton(AF_INET, address.c_str(), parsed) == 1 ||
                    ::inet_pton(AF_INET6, address.c_str(), parsed) == 1;
  return good ? std::optional(std::move(address)) : std::nullopt;
}

inline std::optional<std::vector<std::string>> addresses_in(std::string_view text) {
  std::vector<std::string> all;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    auto one = address_of(text.substr(0, comma));
    if (!one) return std::nullopt;
    all.push_back(*std::move(one));
    if (comma == text.size()) return all;
    text.remove_prefix(comma + 1);
  }
}

inline bool stays(const origin& to) noexcept { return !to.tls && to.is_loopback(); }

}  // namespace routes_detail

DATAFLUX_INLINE result<routes> routes::parse(const curl_transport_options& options) {
  namespace d = routes_detail;
  routes made;
  for (const std::string& entry : options.connect_to) {
    std::string_view rest = entry;
    auto from = d::take_place(rest);
    auto to = from ? d::take_place(rest) : std::nullopt;
    if (!to || !rest.empty()) {
      return d::bad_entry("connect_to", entry, "host:port:other_host:other_port");
    }
    made.detours_.push_back({*std::move(from), *std::move(to)});
  }
  for (const std::string& entry : options.resolve) {
    std::string_view rest = entry;
    auto about = d::take_place(rest);
    auto told = about ? d::addresses_in(rest) : std::nullopt;
    if (!told) {
      return d::bad_entry("resolve", entry, "host:port:address[,address...]");
    }
    made.answers_.push_back(
        {*std::move(about), std::make_shared<const std::vector<std::string>>(*std::move(told))});
  }
  return made;
}

DATAFLUX_INLINE std::string routes::text_of(const place& where) {
  const bool literal = where.host.find(':') != std::string::npos;
  return (literal ? "[" + where.host + "]" : where.host) + ":" + std::to_string(where.port);
}

DATAFLUX_INLINE routes::place routes::place_of(const origin& to) const {
  place own{to.host, to.port};
  if (routes_detail::stays(to)) return own;
  for (const detour& each : detours_) {
    if (each.from == own) return each.to;
  }
  return own;
}

DATAFLUX_INLINE routes::addresses routes::addresses_of(const origin& to) const {
  if (routes_detail::stays(to)) return nullptr;
  const place where = place_of(to);
  for (const answer& each : answers_) {
    if (each.about == where) return each.told;
  }
  return nullptr;
}

DATAFLUX_INLINE std::string routes::words_for(const origin& to) const {
  const place where = place_of(to);
  std::string text;
  if (where != place{to.host, to.port}) {
    text.append("connect_to: ").append(text_of(where));
  }
  if (const addresses told = addresses_of(to); told != nullptr) {
    text.append(text.empty() ? "resolve:" : ", resolve:");
    for (const std::string& each : *told) text.append(" ").append(each);
  }
  return text.empty() ? text : " (" + text + ")";
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
