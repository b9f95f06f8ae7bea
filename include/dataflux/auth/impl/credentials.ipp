#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/compute_engine.hpp>
#include <dataflux/auth/detail/credential_source.hpp>
#include <dataflux/auth/detail/credentials_kinds.hpp>
#include <dataflux/http/detail/url.hpp>

#include <charconv>
#include <optional>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::auth {

inline constexpr std::string_view adc_help =
    "run 'gcloud auth application-default login', or see "
    "https://cloud.google.com/docs/authentication/external/set-up-adc";

/// The file that gcloud writes; empty when no variable names the user's folder.
inline std::string well_known_file(const environment& machine) {
  std::string folder = gcloud_folder(machine);
  return folder.empty() ? folder : folder.append("/application_default_credentials.json");
}

inline int positive_number(const std::optional<std::string>& text, int fallback) {
  if (!text) return fallback;
  int number = 0;
  const auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), number);
  const bool whole = failure == std::errc{} && end == text->data() + text->size();
  return whole && number > 0 && number <= 3600 ? number : fallback;
}

inline result<credentials_ptr> metadata_credentials(const adc_options& options,
                                                    const environment& machine,
                                                    const std::string& tried) {
  const std::string nothing = "no credentials: GOOGLE_APPLICATION_CREDENTIALS is not set, " +
                              (tried.empty() ? "HOME is not set" : tried + " does not exist") +
                              ", and ";
  const auto none = [&](std::string_view why) {
    return nothing + std::string{why} + "; " + std::string{adc_help};
  };
  if (auto may = allowed(options, "compute_engine"); !may) {
    return error{errc::unauthenticated, none("allowed_kinds is without \"compute_engine\"")};
  }
  const auto unchecked = set_variable(machine, "NO_GCE_CHECK");
  if (unchecked && http::equals_ignoring_case(*unchecked, "true")) {
    return error{errc::unauthenticated, none("NO_GCE_CHECK rules the metadata server out")};
  }
  compute_engine_options machine_options{.present = false,
                                         .absent_message = none("no metadata server answers"),
                                         .scopes = options.scopes,
                                         .universe_domain = universe_of(options, machine),
                                         .quota_project = quota_project_of(options, machine),
                                         .project = project_of(machine)};
  auto host = set_variable(machine, "GCE_METADATA_HOST");
  if (!host) host = set_variable(machine, "GCE_METADATA_ROOT");
  if (host) {
    machine_options.host = *host;
    machine_options.present = true;
  } else if (auto product = machine.read_file("/sys/class/dmi/id/product_name")) {
    machine_options.present = product->starts_with("Google");
  } else {
    machine_options.may_come = true;
  }
  if (auto probe = set_variable(machine, "GCE_METADATA_IP")) machine_options.probe_host = *probe;
  machine_options.probe_timeout =
      std::chrono::seconds(positive_number(machine.variable("GCE_METADATA_TIMEOUT"), 3));
  machine_options.probe_tries = positive_number(machine.variable("GCE_METADATA_DETECT_RETRIES"), 3);
  return make_compute_engine_credentials(std::move(machine_options));
}

inline result<credentials_ptr> search(const adc_options& options, const environment& machine) {
  if (auto path = set_variable(machine, "GOOGLE_APPLICATION_CREDENTIALS")) {
    auto found = load_credentials_file(*path, options, machine);
    if (!found) {
      error e = found.error();
      return e.with_message("GOOGLE_APPLICATION_CREDENTIALS: " + e.message());
    }
    return found;
  }
  const std::string path = well_known_file(machine);
  if (!path.empty()) {
    auto json = machine.read_file(path);
    if (json) return parse_credentials(*json, path, options, machine);
    if (json.error().code() != errc::not_found) {
      return error{errc::unauthenticated, "cannot read credentials: " + json.error().message()};
    }
  }
  return metadata_credentials(options, machine, path);
}

}  // namespace detail::auth

DATAFLUX_INLINE result<detail::http::origin> parse_emulator_host(std::string_view value) {
  std::string text{value};
  if (text.find("://") == std::string::npos) text.insert(0, "http://");
  auto url = detail::http::parse_url(text);
  if (url) {
    std::string_view path = url->target;
    while (path.ends_with('/')) path.remove_suffix(1);
    if (path.empty() || path == "/storage/v1") return std::move(url->origin);
  }
  return error{errc::invalid_argument,
               "STORAGE_EMULATOR_HOST is not of the form [http[s]://]host[:port][/storage/v1]"};
}

DATAFLUX_INLINE result<credentials_ptr> load_credentials_file(
    const std::string& path, const adc_options& options, const detail::auth::environment& machine) {
  if (auto good = detail::auth::validate(options); !good) return std::move(good).error();
  // Which holds a private key, and errors name paths.
  const std::size_t first = path.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && (path[first] == '{' || path.find('\n') != std::string::npos)) {
    return error{errc::invalid_argument,
                 "what was given as the path of a credentials file is its content: write that to a "
                 "file, and give its path"};
  }
  auto json = machine.read_file(path);
  if (!json) {
    return error{errc::unauthenticated, "cannot read credentials: " + json.error().message()};
  }
  return detail::auth::parse_credentials(*json, path, options, machine);
}

DATAFLUX_INLINE result<default_credentials> find_default_credentials(
    const adc_options& options, const detail::auth::environment& machine) {
  if (auto good = detail::auth::validate(options); !good) return std::move(good).error();
  if (auto host = detail::auth::set_variable(machine, "STORAGE_EMULATOR_HOST")) {
    auto origin = parse_emulator_host(*host);
    if (!origin) return std::move(origin).error();
    return default_credentials{make_anonymous_credentials(),
                               std::make_shared<const detail::http::origin>(std::move(*origin))};
  }
  auto found = detail::auth::search(options, machine);
  if (!found) return std::move(found).error();
  return default_credentials{std::move(*found), nullptr};
}

}  // namespace dataflux::inline DATAFLUX_ABI
