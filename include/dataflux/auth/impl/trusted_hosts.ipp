#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/auth/detail/trusted_hosts.hpp>
#include <dataflux/http/detail/characters.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

inline void add_host(std::vector<std::string>& to, std::string_view name) {
  const std::size_t begin = name.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return;
  name = name.substr(begin, name.find_last_not_of(" \t") + 1 - begin);
  std::string lower{name};
  std::transform(lower.begin(), lower.end(), lower.begin(), http::to_lower);
  to.push_back(std::move(lower));
}

/// The domain itself, or a name below it.
inline bool is_below(std::string_view host, std::string_view domain) noexcept {
  if (domain.empty() || !host.ends_with(domain)) return false;
  const std::size_t before = host.size() - domain.size();
  return before == 0 || host[before - 1] == '.';
}

DATAFLUX_INLINE trusted_hosts::trusted_hosts(const std::vector<std::string>& given,
                                             const environment& machine) {
  for (const std::string& name : given) add_host(more_, name);
  const std::string listed = set_variable(machine, token_hosts_variable).value_or("");
  for (std::size_t at = 0; at < listed.size();) {
    const std::size_t comma = std::min(listed.find(',', at), listed.size());
    add_host(more_, std::string_view{listed}.substr(at, comma - at));
    at = comma + 1;
  }
}

DATAFLUX_INLINE bool trusted_hosts::names(std::string_view host) const noexcept {
  return std::find(more_.begin(), more_.end(), host) != more_.end();
}

DATAFLUX_INLINE bool trusted_hosts::may_get_secrets(std::string_view host,
                                                    std::string_view universe) const noexcept {
  return is_below(host, default_universe) || is_below(host, universe) ||
         host == "accounts.google.com" || names(host);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
