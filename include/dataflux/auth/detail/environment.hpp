#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/result.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  /// Replaces a file in one step; it is its owner's alone (0600). Errors name the path.
  virtual result<void> replace_file(const std::string& path, std::string_view text) const = 0;
  /// The output of a program, as run_program() (auth/detail/program.hpp) gives it.
  virtual result<std::string> run(const std::vector<std::string>& words, duration limit) const = 0;
};

/// The environment of this process. Thread-safe as long as nobody calls setenv (as std::getenv).
const environment& process_environment() noexcept;

/// A variable that says something: set and not empty.
inline std::optional<std::string> set_variable(const environment& machine, const char* name) {
  auto value = machine.variable(name);
  if (value && value->empty()) value.reset();
  return value;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/environment.ipp>
#endif
