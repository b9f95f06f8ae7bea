#pragma once

#include <dataflux/auth/detail/environment.hpp>
#include <dataflux/detail/config.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// The variable that names further hosts, with commas between.
inline constexpr const char* token_hosts_variable = "DATAFLUX_TOKEN_HOSTS";

/// Where the secrets of a credentials file may go: a file that somebody has changed must not send
/// them to him. googleapis.com, the file's universe, what lies below both, accounts.google.com,
/// which older key files name, and this machine itself; others where somebody says so. Names are in
/// lower case. Pure.
class trusted_hosts {
 public:
  trusted_hosts() = default;
  /// `given` and those of the variable.
  trusted_hosts(const std::vector<std::string>& given, const environment& machine);

  /// Without regard to the universe: somebody has named it.
  bool names(std::string_view host) const noexcept;
  bool may_get_secrets(std::string_view host, std::string_view universe) const noexcept;

 private:
  std::vector<std::string> more_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/trusted_hosts.ipp>
#endif
