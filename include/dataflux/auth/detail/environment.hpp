#pragma once

#include <dataflux/auth/detail/program.hpp>
#include <dataflux/http/detail/message.hpp>
#include <dataflux/result.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
  virtual result<std::string> run(const program_call& program) const = 0;
};

/// The environment of this process. Thread-safe as long as nobody calls setenv (as std::getenv).
const environment& process_environment() noexcept;

/// A variable that says something: set and not empty.
inline std::optional<std::string> set_variable(const environment& machine, const char* name) {
  auto value = machine.variable(name);
  if (value && value->empty()) value.reset();
  return value;
}

/// The first of them that says something.
inline std::optional<std::string> first_variable(const environment& machine,
                                                 std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    if (auto value = set_variable(machine, name)) return value;
  }
  return std::nullopt;
}

/// A setting that says yes, in whatever case.
inline bool is_true(const std::optional<std::string>& text) noexcept {
  return text && http::equals_ignoring_case(*text, "true");
}

/// Where variables say that AWS's services are. `ignored`: what a profile says does not count,
/// either.
struct variable_endpoint {
  bool ignored{false};
  std::optional<std::string> given{};
};
/// `own`: the variable of one service.
inline variable_endpoint endpoint_of_variables(const environment& machine, const char* own) {
  if (is_true(set_variable(machine, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"))) {
    return {.ignored = true};
  }
  return {.given = first_variable(machine, {own, "AWS_ENDPOINT_URL"})};
}

/// Where gcloud keeps its files; empty when no variable names the user's folder.
inline std::string gcloud_folder(const environment& machine) {
  if (auto folder = set_variable(machine, "CLOUDSDK_CONFIG")) return *std::move(folder);
  auto home = set_variable(machine, "HOME");
  return home ? home->append("/.config/gcloud") : std::string{};
}

/// AWS's; nothing: none is named.
inline std::optional<std::string> region_of_variables(const environment& machine) {
  return first_variable(machine, {"AWS_REGION", "AWS_DEFAULT_REGION"});
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/environment.ipp>
#endif
