#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/aws_planner.hpp>
#include <dataflux/auth/detail/keys_reply.hpp>
#include <dataflux/http/detail/characters.hpp>
#include <dataflux/http/detail/message.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::auth {

inline constexpr std::string_view aws_help =
    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile by AWS_PROFILE, or run 'aws "
    "configure' or 'aws sso login'; a client also takes keys as options, and public data needs "
    "none (anonymous)";

inline credentials_facts aws_planner::facts(std::string_view kind, std::string path) const {
  return {.kind = std::string{kind}, .path = std::move(path), .passed_over = passed_over_};
}

inline aws_planner::found aws_planner::pass(std::string_view why) {
  if (!passed_over_.empty()) passed_over_ += "; ";
  passed_over_ += why;
  return credentials_ptr{};
}

inline std::optional<std::string> aws_planner::configured_endpoint(const char* variable,
                                                                   std::string_view service) const {
  variable_endpoint named = endpoint_of_variables(machine_, variable);
  std::optional<std::string> given = std::move(named.given);
  if (named.ignored || given) return given;
  const aws_section* const profile = profiles_.profile(profile_name_);
  const std::string nested = std::string{service} + ".endpoint_url";
  if (const auto services = setting(profile, "services")) {
    given = setting(profiles_.services(*services), nested);
  }
  return given ? given : setting(profile, "endpoint_url");
}

inline result<http::url> aws_planner::endpoint(const char* variable, std::string_view service,
                                               std::string_view host,
                                               const std::string& region) const {
  const auto given = configured_endpoint(variable, service);
  const std::string from =
      "the configured endpoint (" + std::string{variable} + ", AWS_ENDPOINT_URL or endpoint_url)";
  if (!given) {
    if (!is_region(region)) {
      return error{errc::invalid_argument, "\"" + region + "\" is no region of AWS"};
    }
    const std::string_view suffix =
        region.starts_with("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com";
    return http::parse_url(std::string{"https://"}.append(host) + "." + region +
                           std::string{suffix});
  }
  auto url = http::parse_url(*given);
  if (!url) return error{errc::invalid_argument, from + ": " + url.error().message()};
  if (!url->origin.tls && !url->origin.is_loopback()) {
    return error{errc::invalid_argument, from + ": secrets go to https, or to this machine itself"};
  }
  return url;
}

inline result<role_options> aws_planner::role(const aws_section* profile, std::string arn,
                                              std::string session) const {
  auto sts = endpoint("AWS_ENDPOINT_URL_STS", "sts", "sts", sts_region());
  if (!sts) return std::move(sts).error();
  role_options made{.sts = std::move(*sts),
                    .region = sts_region(),
                    .arn = std::move(arn),
                    .session = std::move(session),
                    .external_id = setting(profile, "external_id").value_or("")};
  if (const auto life = setting(profile, "duration_seconds")) {
    const auto seconds = http::parse_decimal<std::uint32_t>(*life);
    if (!seconds || *seconds < 900 || *seconds > 43200) {
      return error{errc::invalid_argument, "duration_seconds is no number from 900 to 43200"};
    }
    made.life = std::chrono::seconds(*seconds);
  }
  return made;
}

inline aws_planner::found aws_planner::of_variables() {
  const auto id = set_variable(machine_, "AWS_ACCESS_KEY_ID");
  const auto secret = set_variable(machine_, "AWS_SECRET_ACCESS_KEY");
  if (!id && !secret) return pass("AWS_ACCESS_KEY_ID is not set");
  if (!id || !secret) {
    return error{errc::invalid_argument,
                 std::string{id ? "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY"
                                : "AWS_SECRET_ACCESS_KEY is set, but AWS_ACCESS_KEY_ID"} +
                     " is not: set both, or neither"};
  }
  auto session = set_variable(machine_, "AWS_SESSION_TOKEN");
  if (!session) session = set_variable(machine_, "AWS_SECURITY_TOKEN");
  auto keys = make_keys(*id, *secret, session.value_or(""));
  if (!keys) {
    return error{errc::invalid_argument,
                 "the variables with AWS's keys: " + keys.error().message()};
  }
  if (const auto end = set_variable(machine_, "AWS_CREDENTIAL_EXPIRATION")) {
    const auto time = parse_timestamp(*end);
    if (!time) {
      return error{errc::invalid_argument,
                   "AWS_CREDENTIAL_EXPIRATION is no time such as 2026-01-02T03:04:05Z"};
    }
    keys->expires = std::chrono::time_point_cast<system_time::duration>(*time);
  }
  return make_static_keys(facts("aws_environment"), std::move(*keys));
}

inline aws_planner::found aws_planner::of_web_identity() {
  const auto file = set_variable(machine_, "AWS_WEB_IDENTITY_TOKEN_FILE");
  if (!file) return pass("AWS_WEB_IDENTITY_TOKEN_FILE is not set");
  auto arn = set_variable(machine_, "AWS_ROLE_ARN");
  if (!arn) {
    return error{errc::invalid_argument,
                 "AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not"};
  }
  auto options =
      role(nullptr, std::move(*arn), set_variable(machine_, "AWS_ROLE_SESSION_NAME").value_or(""));
  if (!options) return std::move(options).error();
  return make_web_identity_keys(facts("aws_web_identity", *file), std::move(*options), *file,
                                machine_);
}

inline bool may_give_keys(const http::origin& where) noexcept {
  return where.tls || where.is_loopback() || where.host == "169.254.170.2" ||
         where.host == "169.254.170.23" || where.host == "fd00:ec2::23";
}

inline aws_planner::found aws_planner::of_container() {
  const auto relative = set_variable(machine_, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const auto full = set_variable(machine_, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (!relative && !full) {
    return pass("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and _FULL_URI are not set");
  }
  const std::string name =
      std::string{"AWS_CONTAINER_CREDENTIALS_"} + (relative ? "RELATIVE_URI" : "FULL_URI");
  if (relative && !relative->starts_with('/')) {
    return error{errc::invalid_argument, name + " is no path: it begins with '/'"};
  }
  auto url = http::parse_url(relative ? "http://169.254.170.2" + *relative : *full);
  if (!url) return error{errc::invalid_argument, name + ": " + url.error().message()};
  if (!may_give_keys(url->origin)) {
    return error{errc::invalid_argument,
                 name + " names " + url->origin.authority() +
                     ": keys are taken by https, or from the addresses of containers "
                     "(169.254.170.2, 169.254.170.23, [fd00:ec2::23]) and of this machine itself"};
  }
  return make_container_keys(
      facts("aws_container"),
      {.endpoint = std::move(*url),
       .token = set_variable(machine_, "AWS_CONTAINER_AUTHORIZATION_TOKEN").value_or(""),
       .token_file = set_variable(machine_, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE").value_or("")},
      machine_);
}

inline aws_planner::found aws_planner::of_instance(bool expected) {
  const std::string nothing = "no credentials of AWS: " + passed_over_;
  const std::string help{aws_help};
  if (is_true(set_variable(machine_, "AWS_EC2_METADATA_DISABLED"))) {
    return error{errc::unauthenticated, nothing +
                                            "; AWS_EC2_METADATA_DISABLED rules the metadata "
                                            "service out; " +
                                            help};
  }
  instance_options made{.expected = expected, .with_region = region_.empty()};
  const auto mode = set_variable(machine_, "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE");
  if (mode && http::equals_ignoring_case(*mode, "IPv6")) made.service.host = "fd00:ec2::254";
  if (const auto given = set_variable(machine_, "AWS_EC2_METADATA_SERVICE_ENDPOINT")) {
    auto url = http::parse_url(*given);
    if (!url || url->target != "/") {
      return error{errc::invalid_argument,
                   "AWS_EC2_METADATA_SERVICE_ENDPOINT is not of the form http://host[:port]"};
    }
    made.service = std::move(url->origin);
    made.service.direct = true;
    made.expected = true;
  }
  auto disabled = set_variable(machine_, "AWS_EC2_METADATA_V1_DISABLED");
  if (!disabled) disabled = setting(profiles_.profile(profile_name_), "ec2_metadata_v1_disabled");
  made.tokens_only = is_true(disabled);
  made.absent_message = nothing + "; the metadata service at " + made.service.authority() +
                        " does not answer; " + help;
  return make_instance_keys(facts("aws_instance"), std::move(made));
}

inline aws_planner::found aws_planner::search() {
  const bool given = !options_.profile.empty();
  for (const auto step : {&aws_planner::of_variables, &aws_planner::of_web_identity}) {
    if (given) break;
    auto got = (this->*step)();
    if (!got || *got != nullptr) return got;
  }
  const bool named =
      given || first_variable(machine_, {"AWS_PROFILE", "AWS_DEFAULT_PROFILE"}).has_value();
  auto got = of_profile(profile_name_, named);
  if (!got || *got != nullptr) return got;
  got = of_container();
  if (!got || *got != nullptr) return got;
  return of_instance(false);
}

inline result<credentials_ptr> aws_planner::workload_keys(instance_options machine) {
  region_ = region_of_variables(machine_).value_or("");
  for (const auto step :
       {&aws_planner::of_variables, &aws_planner::of_web_identity, &aws_planner::of_container}) {
    auto got = (this->*step)();
    if (!got || *got != nullptr) return got;
  }
  if (is_true(set_variable(machine_, "AWS_EC2_METADATA_DISABLED"))) {
    return error{errc::unauthenticated,
                 "no keys of AWS: " + passed_over_ +
                     "; AWS_EC2_METADATA_DISABLED rules the metadata service out"};
  }
  machine.absent_message = "no keys of AWS: " + passed_over_ + "; the metadata service at " +
                           machine.service.authority() + " does not answer";
  return make_instance_keys(facts("aws_instance"), std::move(machine));
}

inline result<aws_credentials> aws_planner::plan() {
  profile_name_ = options_.profile;
  if (profile_name_.empty()) {
    profile_name_ =
        first_variable(machine_, {"AWS_PROFILE", "AWS_DEFAULT_PROFILE"}).value_or("default");
  }
  auto profiles = files_.read(machine_);
  if (!profiles) return std::move(profiles).error();
  profiles_ = std::move(*profiles);
  region_ = options_.region;
  if (region_.empty()) region_ = region_of_variables(machine_).value_or("");
  if (region_.empty()) {
    region_ = setting(profiles_.profile(profile_name_), "region").value_or("");
  }
  if (!region_.empty() && !is_region(region_)) {
    return error{errc::invalid_argument,
                 "\"" + region_ + "\" is no region: it has letters a-z, digits and '-' alone"};
  }
  auto got = search();
  if (!got) return std::move(got).error();
  return aws_credentials{std::move(*got), region_,
                         configured_endpoint("AWS_ENDPOINT_URL_S3", "s3").value_or("")};
}

}  // namespace detail::auth

DATAFLUX_INLINE result<aws_credentials> find_aws_credentials(
    const aws_options& options, const detail::auth::environment& machine) {
  return detail::auth::aws_planner(options, machine).plan();
}

DATAFLUX_INLINE result<credentials_ptr> make_aws_keys(access_keys keys) {
  auto good = detail::auth::make_keys(keys.id, keys.secret, keys.session_token);
  if (!good) return error{errc::invalid_argument, good.error().message()};
  return detail::auth::make_static_keys({.kind = "aws_keys"}, std::move(keys));
}

}  // namespace dataflux::inline DATAFLUX_ABI
