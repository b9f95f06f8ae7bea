#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/authorized_user.hpp>
#include <dataflux/auth/detail/compute_engine.hpp>
#include <dataflux/auth/detail/credentials_file.hpp>
#include <dataflux/http/detail/url.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::auth {

inline constexpr std::string_view adc_help =
    "run 'gcloud auth application-default login', or see "
    "https://cloud.google.com/docs/authentication/external/set-up-adc";

inline std::string quota_project(const adc_options& options, const environment& machine) {
  if (!options.quota_project.empty()) return options.quota_project;
  return set_variable(machine, "GOOGLE_CLOUD_QUOTA_PROJECT").value_or("");
}

/// A file that was read, and what its kind may need besides.
struct credentials_source {
  const std::string& json;
  const std::string& path;
  const adc_options& options;
  const environment& machine;
};

inline result<credentials_ptr> load_service_account(const credentials_source& from) {
  return parse_service_account(from.json, from.path,
                               {.scopes = from.options.scopes,
                                .exchange = from.options.exchange_service_account,
                                .quota_project = quota_project(from.options, from.machine)});
}

inline result<credentials_ptr> load_authorized_user(const credentials_source& from) {
  return parse_authorized_user(from.json, from.path, quota_project(from.options, from.machine));
}

/// A kind of credentials: how a file of it is loaded, or why it is refused. With neither it is in
/// no file.
struct credentials_kind {
  std::string_view name{};  ///< the `type` in the file
  result<credentials_ptr> (*load)(const credentials_source& from){nullptr};
  std::string_view refused{};  ///< behind its name in the message
};

inline constexpr std::string_view not_yet =
    "is not supported yet: use a service_account key, authorized_user credentials (gcloud auth "
    "application-default login) or the metadata server of the machine, or acquire a token yourself "
    "and set it in the client";

/// Every kind that there is: a new one is a row.
inline constexpr std::array credentials_kinds{
    credentials_kind{.name = "service_account", .load = load_service_account},
    credentials_kind{.name = "authorized_user", .load = load_authorized_user},
    credentials_kind{.name = "external_account", .refused = not_yet},
    credentials_kind{.name = "external_account_authorized_user", .refused = not_yet},
    credentials_kind{.name = "impersonated_service_account", .refused = not_yet},
    credentials_kind{.name = "gdch_service_account", .refused = not_yet},
    credentials_kind{.name = "compute_engine"},
};

inline const credentials_kind* find_kind(std::string_view name) noexcept {
  const auto found = std::find_if(credentials_kinds.begin(), credentials_kinds.end(),
                                  [&](const credentials_kind& kind) { return kind.name == name; });
  return found == credentials_kinds.end() ? nullptr : &*found;
}

inline result<void> validate(const adc_options& options) {
  for (const std::string& name : options.allowed_kinds) {
    if (find_kind(name) != nullptr) continue;
    std::string told = "allowed_kinds: \"";
    told.append(name).append("\" is no kind of credentials; there are ");
    std::string_view between;
    for (const credentials_kind& kind : credentials_kinds) {
      told.append(between).append(kind.name);
      between = ", ";
    }
    return error{errc::invalid_argument, std::move(told)};
  }
  return {};
}

inline result<void> allowed(const adc_options& options, std::string_view kind) {
  const auto& kinds = options.allowed_kinds;
  if (kinds.empty() || std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) return {};
  return error{errc::invalid_argument,
               "credentials of kind \"" + std::string{kind} + "\" are not among allowed_kinds"};
}

/// A kind by its name, for a message: a file may hold anything there.
inline bool is_kind_name(std::string_view kind) {
  return kind.size() <= 64 &&
         kind.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos;
}

/// The error for a file whose kind has no loader.
inline error refusal(const credentials_file& file, const std::string& type,
                     const credentials_kind* kind) {
  const std::string named = "type \"" + type + "\" ";
  if (kind != nullptr && !kind->refused.empty()) {
    return {errc::unimplemented, file.broken(named + std::string{kind->refused}).message()};
  }
  if (!is_kind_name(type)) return file.broken("field \"type\" names no kind of credentials");
  return file.broken(named + "is no known kind of credentials");
}

inline result<credentials_ptr> parse_credentials(const credentials_source& from) {
  auto file = credentials_file::parse(from.json, from.path);
  if (!file) return std::move(file).error();
  auto type = file->required("type");
  if (!type) return std::move(type).error();
  const credentials_kind* kind = find_kind(*type);
  if (kind == nullptr || kind->load == nullptr) return refusal(*file, *type, kind);
  if (auto may = allowed(from.options, *type); !may) return file->broken(may.error().message());
  auto parsed = kind->load(from);
  if (!parsed) return parsed;
  const std::string& universe = (*parsed)->facts().universe_domain;
  const std::string& wanted = from.options.universe_domain;
  if (!wanted.empty() && universe != wanted) {
    return file->broken("universe_domain \"" + universe + "\" is not the endpoint's, \"" + wanted +
                        "\"");
  }
  return parsed;
}

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
                                         .universe_domain = options.universe_domain,
                                         .quota_project = quota_project(options, machine)};
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
    if (json) return parse_credentials({*json, path, options, machine});
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
  return detail::auth::parse_credentials({*json, path, options, machine});
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
