#pragma once

#include <dataflux/result.hpp>

#include <optional>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// What the search for credentials may ask of the machine; a test passes its own.
class environment {
 public:
  environment() = default;
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;
  virtual ~environment() = default;

  /// A variable; nullopt when it is not set. Set and empty is an empty string.
  virtual std::optional<std::string> variable(const char* name) const = 0;
  /// A whole file, at most 1 MiB of it. Errors name the path: not_found when there is no such
  /// file, permission_denied when it may not be read, invalid_argument when it is too long or no
  /// file, unavailable for the rest.
  virtual result<std::string> read_file(const std::string& path) const = 0;
};

/// The environment of this process. Thread-safe as long as nobody calls setenv (as std::getenv).
const environment& process_environment() noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/environment.ipp>
#endif
