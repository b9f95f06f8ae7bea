#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/aws_planner.hpp>
#include <dataflux/auth/detail/command_line.hpp>
#include <dataflux/auth/detail/keys_reply.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

inline constexpr std::size_t most_roles_in_a_row = 16;

inline aws_files aws_files::of(const environment& machine) {
  const std::string home = set_variable(machine, "HOME").value_or("");
  const auto place = [&](const char* variable, const char* usual) {
    std::string path = set_variable(machine, variable).value_or("");
    if (path.empty() && !home.empty()) path = home + usual;
    if (path.starts_with("~/")) path.replace(0, 1, home);
    return path;
  };
  return {place("AWS_CONFIG_FILE", "/.aws/config"),
          place("AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials")};
}

inline std::string aws_files::both() const {
  if (config.empty() || credentials.empty()) return config + credentials;
  return credentials + " and " + config;
}

inline result<aws_profiles> aws_files::read(const environment& machine) const {
  aws_profiles profiles;
  for (const std::string* each : {&config, &credentials}) {
    const std::string& path = *each;
    if (path.empty()) continue;
    const auto text = machine.read_file(path);
    if (!text && text.error().code() == errc::not_found) continue;
    if (!text) {
      return error{errc::unauthenticated, "cannot read profiles: " + text.error().message()};
    }
    // Both may be one file, which is then read as either.
    auto good = each == &config ? profiles.add_config(*text) : profiles.add_credentials(*text);
    if (!good) return error{errc::invalid_argument, path + " " + good.error().message()};
  }
  return profiles;
}

inline result<access_keys> keys_of_profile(const aws_section& profile) {
  const auto id = setting(&profile, "aws_access_key_id");
  const auto secret = setting(&profile, "aws_secret_access_key");
  if (!id && !secret) return access_keys{};
  if (!id || !secret) {
    return error{errc::invalid_argument,
                 id ? "it has aws_access_key_id, but no aws_secret_access_key"
                    : "it has aws_secret_access_key, but no aws_access_key_id"};
  }
  auto session = setting(&profile, "aws_session_token");
  if (!session) session = setting(&profile, "aws_security_token");
  auto keys = make_keys(*id, *secret, session.value_or(""));
  if (!keys) return error{errc::invalid_argument, keys.error().message()};
  return keys;
}

inline credentials_facts aws_planner::profile_facts(std::string_view kind,
                                                    const std::string& name) const {
  return facts(kind, "profile \"" + name + "\" of " + files_.both());
}

inline error aws_planner::bad_profile(const std::string& name, std::string_view what,
                                      errc code) const {
  return {code, "profile \"" + name + "\" of " + files_.both() + ": " + std::string{what}};
}

inline aws_planner::found aws_planner::of_profile(const std::string& name, bool named) {
  const aws_section* const profile = profiles_.profile(name);
  if (profile == nullptr) {
    const std::string files = files_.both();
    const std::string where = files.empty() ? "anywhere: HOME is not set" : "in " + files;
    if (named) {
      return error{errc::invalid_argument, "there is no profile \"" + name + "\" " + where};
    }
    return pass("there is no profile \"" + name + "\" " + where);
  }
  if (profile->contains("login_session")) {
    return bad_profile(name, "login_session ('aws login') is not supported: use sso_session",
                       errc::unimplemented);
  }
  // A source of a role is used with its own keys, whatever else it has.
  const bool source = !seen_.empty();
  using step = found (aws_planner::*)(const std::string&, const aws_section&);
  constexpr step own = &aws_planner::own_keys;
  constexpr step of_another = &aws_planner::of_role;
  for (const step next : {source ? own : of_another, source ? of_another : own,
                          &aws_planner::of_login, &aws_planner::of_process}) {
    auto got = (this->*next)(name, *profile);
    if (!got || *got != nullptr) return got;
  }
  return pass("profile \"" + name + "\" of " + files_.both() + " has no keys and names no source");
}

inline aws_planner::found aws_planner::own_keys(const std::string& name,
                                                const aws_section& profile) {
  const auto keys = keys_of_profile(profile);
  if (!keys) return bad_profile(name, keys.error().message());
  if (keys->id.empty()) return credentials_ptr{};
  // Other tools write new keys into these files while a job runs.
  return make_read_keys(
      profile_facts("aws_profile", name),
      [name, files = files_, &machine = machine_]() -> result<access_keys> {
        auto now = files.read(machine);
        if (!now) return std::move(now).error();
        const aws_section* const again = now->profile(name);
        auto got = again == nullptr ? result<access_keys>(access_keys{}) : keys_of_profile(*again);
        if (got && got->id.empty()) {
          return error{errc::unauthenticated, "the keys have gone from the profile"};
        }
        return got;
      });
}

inline aws_planner::found aws_planner::source_of(const std::string& name,
                                                 const aws_section& profile) {
  const auto from = setting(&profile, "source_profile");
  const auto kind = setting(&profile, "credential_source");
  if (from && kind) {
    return bad_profile(name, "it has both source_profile and credential_source: choose one");
  }
  if (kind) {
    if (*kind != "Environment" && *kind != "EcsContainer" && *kind != "Ec2InstanceMetadata") {
      return bad_profile(name,
                         "credential_source is Environment, EcsContainer or Ec2InstanceMetadata");
    }
    if (*kind == "Ec2InstanceMetadata") return of_instance(true);
    auto got = *kind == "Environment" ? of_variables() : of_container();
    if (got && *got == nullptr) {
      return bad_profile(name,
                         "credential_source is " + *kind + ", which has no keys: " + passed_over_);
    }
    return got;
  }
  if (*from == name) {
    auto got = own_keys(name, profile);
    if (got && *got == nullptr)
      return bad_profile(name, "source_profile is itself: it has no keys");
    return got;
  }
  seen_.push_back(name);
  if (std::find(seen_.begin(), seen_.end(), *from) != seen_.end()) {
    std::string chain;
    for (const std::string& each : seen_) chain += each + " -> ";
    return bad_profile(name, "roles need each other by source_profile: " + chain + *from);
  }
  if (seen_.size() > most_roles_in_a_row) {
    return bad_profile(name, "more than 16 roles in a row");
  }
  auto got = of_profile(*from, true);
  seen_.pop_back();
  if (got && *got == nullptr) {
    return bad_profile(name, "source_profile \"" + *from + "\" has no keys and names no source");
  }
  return got;
}

inline aws_planner::found aws_planner::of_role(const std::string& name,
                                               const aws_section& profile) {
  auto arn = setting(&profile, "role_arn");
  if (!arn) return credentials_ptr{};
  if (setting(&profile, "mfa_serial")) {
    return bad_profile(name,
                       "mfa_serial needs a person at a prompt: get keys of the session by "
                       "'aws sts get-session-token', or use sso_session",
                       errc::unimplemented);
  }
  const bool assumed =
      setting(&profile, "source_profile") || setting(&profile, "credential_source");
  const auto file = setting(&profile, "web_identity_token_file");
  if (!assumed && !file) {
    return bad_profile(name,
                       "role_arn needs source_profile, credential_source or "
                       "web_identity_token_file");
  }
  auto options =
      role(&profile, std::move(*arn), setting(&profile, "role_session_name").value_or(""));
  if (!options) return bad_profile(name, options.error().message());
  if (!assumed) {
    return make_web_identity_keys(profile_facts("aws_web_identity", name), std::move(*options),
                                  *file, machine_);
  }
  auto source = source_of(name, profile);
  if (!source) return source;
  return make_role_keys(profile_facts("aws_role", name), std::move(*options), std::move(*source));
}

inline aws_planner::found aws_planner::of_login(const std::string& name,
                                                const aws_section& profile) {
  const auto session = setting(&profile, "sso_session");
  const auto account = setting(&profile, "sso_account_id");
  const auto role_name = setting(&profile, "sso_role_name");
  const bool legacy = !session && setting(&profile, "sso_start_url");
  if (!session && !legacy) return credentials_ptr{};
  const aws_section* const from = session ? profiles_.sso_session(*session) : &profile;
  if (from == nullptr) return bad_profile(name, "there is no [sso-session " + *session + "]");
  const auto start = setting(from, "sso_start_url");
  const auto region = setting(from, "sso_region");
  if (!account || !role_name || !start || !region) {
    return bad_profile(name,
                       "a login needs sso_start_url, sso_region, sso_account_id and sso_role_name");
  }
  auto portal = endpoint("AWS_ENDPOINT_URL_SSO", "sso", "portal.sso", *region);
  if (!portal) return bad_profile(name, portal.error().message());
  auto oidc = endpoint("AWS_ENDPOINT_URL_SSO_OIDC", "sso_oidc", "oidc", *region);
  if (!oidc) return bad_profile(name, oidc.error().message());
  const auto home = set_variable(machine_, "HOME");
  if (!home) return bad_profile(name, "HOME is not set, below which logins are kept");
  const std::string key = session ? *session : *start;
  return make_sso_keys(profile_facts("aws_sso", name),
                       {.cache_file = *home + "/.aws/sso/cache/" + sha1_hex(key) + ".json",
                        .account = *account,
                        .role = *role_name,
                        .portal = std::move(*portal),
                        .oidc = std::move(*oidc),
                        .advice = "run 'aws sso login --profile " + name + "'"},
                       machine_);
}

inline aws_planner::found aws_planner::of_process(const std::string& name,
                                                  const aws_section& profile) {
  const auto command = setting(&profile, "credential_process");
  if (!command) return credentials_ptr{};
  auto words = split_command(*command);
  if (!words) return bad_profile(name, "credential_process: " + words.error().message());
  return make_process_keys(profile_facts("aws_process", name), std::move(*words), machine_);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
