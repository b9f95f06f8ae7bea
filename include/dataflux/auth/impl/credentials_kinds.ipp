#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/authorized_user.hpp>
#include <dataflux/auth/detail/credentials_file.hpp>
#include <dataflux/auth/detail/credentials_kinds.hpp>
#include <dataflux/auth/detail/external_account.hpp>
#include <dataflux/auth/detail/service_account.hpp>
#include <dataflux/auth/detail/token_exchange.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

DATAFLUX_INLINE std::string quota_project_of(const adc_options& options,
                                             const environment& machine) {
  if (!options.quota_project.empty()) return options.quota_project;
  return set_variable(machine, "GOOGLE_CLOUD_QUOTA_PROJECT").value_or("");
}

DATAFLUX_INLINE std::string universe_of(const adc_options& options, const environment& machine) {
  if (options.universe_domain != default_universe) return options.universe_domain;
  return set_variable(machine, "GOOGLE_CLOUD_UNIVERSE_DOMAIN").value_or(options.universe_domain);
}

DATAFLUX_INLINE std::string project_of(const environment& machine) {
  return first_variable(machine, {"GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"}).value_or("");
}

/// A file that was read, and what its kind may need besides.
struct credentials_source {
  const credentials_file& file;
  const adc_options& options;
  const environment& machine;

  std::string quota_project() const { return quota_project_of(options, machine); }
};

inline result<credentials_ptr> load_service_account(const credentials_source& from) {
  return read_service_account(from.file, {.scopes = from.options.scopes,
                                          .exchange = from.options.exchange_service_account,
                                          .quota_project = from.quota_project()});
}

inline result<credentials_ptr> load_authorized_user(const credentials_source& from) {
  return read_authorized_user(from.file, from.quota_project());
}

inline result<credentials_ptr> load_external_account(const credentials_source& from) {
  return parse_external_account(
      from.file, {.scopes = from.options.scopes, .quota_project = from.quota_project()},
      from.machine);
}

inline result<credentials_ptr> load_external_user(const credentials_source& from) {
  return parse_external_user(
      from.file, {.scopes = from.options.scopes, .quota_project = from.quota_project()});
}

inline result<credentials_ptr> load_impersonated(const credentials_source& from);

/// A kind of credentials: how a file of it is loaded, or why it is refused. With neither it is in
/// no file.
struct credentials_kind {
  std::string_view name{};  ///< the `type` in the file
  result<credentials_ptr> (*load)(const credentials_source& from){nullptr};
  std::string_view refused{};  ///< behind its name in the message
  /// May another account be acted for by it?
  bool may_act{true};
};

/// Every kind that there is: a new one is a row.
inline constexpr std::array credentials_kinds{
    credentials_kind{.name = "service_account", .load = load_service_account},
    credentials_kind{.name = "authorized_user", .load = load_authorized_user},
    credentials_kind{.name = "external_account", .load = load_external_account},
    credentials_kind{.name = "external_account_authorized_user", .load = load_external_user},
    credentials_kind{
        .name = "impersonated_service_account", .load = load_impersonated, .may_act = false},
    credentials_kind{.name = "gdch_service_account",
                     .refused = "is of Google Distributed Cloud, which has no Cloud Storage of "
                                "Google: use credentials of another kind, or S3's for its object "
                                "storage",
                     .may_act = false},
    credentials_kind{.name = "compute_engine", .may_act = false},
};

inline const credentials_kind* find_kind(std::string_view name) noexcept {
  const auto found = std::find_if(credentials_kinds.begin(), credentials_kinds.end(),
                                  [&](const credentials_kind& kind) { return kind.name == name; });
  return found == credentials_kinds.end() ? nullptr : &*found;
}

DATAFLUX_INLINE result<void> validate(const adc_options& options) {
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

DATAFLUX_INLINE result<void> allowed(const adc_options& options, std::string_view kind) {
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
inline error no_loader(const credentials_file& file, const std::string& type,
                       const credentials_kind* kind) {
  const std::string named = "type \"" + type + "\" ";
  if (kind != nullptr && !kind->refused.empty()) {
    return {errc::unimplemented, file.broken(named + std::string{kind->refused}).message()};
  }
  if (!is_kind_name(type)) return file.broken("field \"type\" names no kind of credentials");
  return file.broken(named + "is no known kind of credentials");
}

/// Of the file, or of the credentials in it that act for an account.
inline result<credentials_ptr> load(const credentials_source& from, bool acts) {
  auto type = from.file.required("type");
  if (!type) return std::move(type).error();
  const credentials_kind* kind = find_kind(*type);
  if (kind == nullptr || kind->load == nullptr) return no_loader(from.file, *type, kind);
  if (acts && !kind->may_act)
    return from.file.broken_field("type",
                                  "is no kind that may act for "
                                  "an account");
  if (auto may = allowed(from.options, *type); !may) return from.file.broken(may.error().message());
  return kind->load(from);
}

inline result<credentials_ptr> load_impersonated(const credentials_source& from) {
  const credentials_file& file = from.file;
  auto facts = file.facts("impersonated_service_account", from.quota_project());
  if (!facts) return std::move(facts).error();
  auto target = read_impersonation(file);
  if (!target) return std::move(target).error();
  auto delegates = file.texts("delegates");
  if (!delegates) return std::move(delegates).error();
  target->delegates = std::move(*delegates);
  auto inner = file.object("source_credentials");
  if (!inner) return std::move(inner).error();
  adc_options options = from.options;
  options.scopes = cloud_scope;
  auto source = load({*inner, options, from.machine}, true);
  if (!source) return std::move(source).error();
  if ((*source)->facts().universe_domain != facts->universe_domain) {
    return file.broken_field("source_credentials", "is of another universe_domain");
  }
  target->scopes = from.options.scopes;
  return make_impersonated_tokens(std::move(*facts), std::move(*target), std::move(*source));
}

DATAFLUX_INLINE result<credentials_ptr> parse_credentials(const std::string& json,
                                                          const std::string& path,
                                                          const adc_options& options,
                                                          const environment& machine) {
  auto file = credentials_file::parse(
      json, path, {trusted_hosts(options.token_hosts, machine), project_of(machine)});
  if (!file) return std::move(file).error();
  const std::string wanted = universe_of(options, machine);
  auto universe = file->universe();
  if (!universe) return std::move(universe).error();
  if (!wanted.empty() && *universe != wanted) {
    return file->broken("universe_domain \"" + *universe + "\" is not the endpoint's, \"" + wanted +
                        "\"");
  }
  return load({*file, options, machine}, false);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
