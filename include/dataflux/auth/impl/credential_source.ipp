#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/aws_planner.hpp>
#include <dataflux/auth/detail/command_line.hpp>
#include <dataflux/auth/detail/credential_source.hpp>
#include <dataflux/auth/detail/workload_certificate.hpp>
#include <dataflux/http/curl_transport.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

inline constexpr std::string_view aws_subject_type = "urn:ietf:params:aws:token-type:aws4_request";
inline constexpr const char* executables_variable = "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES";

inline result<subject_format> read_format(const credentials_file& source) {
  subject_format made;
  if (!source.has("format")) return made;
  auto format = source.object("format");
  if (!format) return std::move(format).error();
  auto type = format->optional("type", "text");
  if (!type) return std::move(type).error();
  if (*type != "text" && *type != "json") {
    return format->broken_field("type", "is neither \"text\" nor \"json\"");
  }
  made.json = *type == "json";
  if (!made.json) return made;
  auto field = format->required("subject_token_field_name");
  if (!field) return std::move(field).error();
  made.field = std::move(*field);
  return made;
}

inline result<credential_source> read_file_source(const credentials_file& source,
                                                  const source_purpose& purpose,
                                                  const environment& machine) {
  auto path = source.required("file");
  if (!path) return std::move(path).error();
  auto format = read_format(source);
  if (!format) return std::move(format).error();
  return credential_source{
      make_file_subject(purpose.facts, std::move(*path), std::move(*format), machine), nullptr};
}

inline result<credential_source> read_url_source(const credentials_file& source,
                                                 const source_purpose& purpose,
                                                 const environment&) {
  url_subject_options made;
  auto where = source.source("url");
  if (!where) return std::move(where).error();
  made.where = std::move(*where);
  auto headers = source.pairs("headers");
  if (!headers) return std::move(headers).error();
  http::header_list check;
  for (const auto& [name, value] : *headers) check.add(name, value);
  if (!check.valid()) {
    return source.broken_field("headers", "has a name or a value that no header field has");
  }
  made.headers = std::move(*headers);
  auto format = read_format(source);
  if (!format) return std::move(format).error();
  made.format = std::move(*format);
  return credential_source{make_url_subject(purpose.facts, std::move(made)), nullptr};
}

inline result<credential_source> read_program_source(const credentials_file& source,
                                                     const source_purpose& purpose,
                                                     const environment& machine) {
  auto program = source.object("executable");
  if (!program) return std::move(program).error();
  auto command = program->required("command");
  if (!command) return std::move(command).error();
  auto words = split_command(*command);
  if (!words) return program->broken_field("command", "is none: " + words.error().message());
  auto limit = program->number("timeout_millis", 30'000, 5'000, 120'000);
  if (!limit) return std::move(limit).error();
  auto output = program->optional("output_file");
  if (!output) return std::move(output).error();
  if (machine.variable(executables_variable) != "1") {
    const std::string said = program->broken_field("command", "names a program to run").message();
    return error{errc::failed_precondition,
                 said + ", and whoever wrote the file decides which: if you trust it, set " +
                     executables_variable + "=1"};
  }
  program_subject_options made{
      .program = {.words = std::move(*words), .limit = std::chrono::milliseconds(*limit)},
      .output_file = std::move(*output)};
  const auto tell = [&made](std::string_view name, std::string_view value) {
    std::string variable = "GOOGLE_EXTERNAL_ACCOUNT_";
    made.program.variables.push_back(variable.append(name).append("=").append(value));
  };
  tell("AUDIENCE", purpose.audience);
  tell("TOKEN_TYPE", purpose.subject_token_type);
  tell("ID", purpose.account);
  tell("INTERACTIVE", "0");
  tell("REVOKE", "0");
  if (!purpose.account.empty()) tell("IMPERSONATED_EMAIL", purpose.account);
  if (!made.output_file.empty()) tell("OUTPUT_FILE", made.output_file);
  return credential_source{make_program_subject(purpose.facts, std::move(made), machine), nullptr};
}

/// The metadata service as the file has it: one host, and where it says what.
inline result<instance_options> read_instance(const credentials_file& source) {
  instance_options made{.expected = true, .region_is_zone = true};
  for (const std::string_view field : {"url", "region_url", "imdsv2_session_token_url"}) {
    if (!source.has(field)) continue;
    auto where = source.source(field);
    if (!where) return std::move(where).error();
    made.service = where->origin;
    if (field == "url") {
      made.roles_target = where->target;
      if (!made.roles_target.ends_with('/')) made.roles_target += '/';
    }
    if (field == "region_url") made.region_target = where->target;
  }
  return made;
}

inline result<credential_source> read_aws_source(const credentials_file& source,
                                                 const source_purpose& purpose,
                                                 const environment& machine) {
  auto id = source.required("environment_id");
  if (!id) return std::move(id).error();
  if (*id != "aws1") return source.broken_field("environment_id", "is not \"aws1\"");
  auto verification = source.required("regional_cred_verification_url");
  if (!verification) return std::move(verification).error();
  if (!verification->starts_with("https://")) {
    return source.broken_field("regional_cred_verification_url", "is no https URL");
  }
  auto instance = read_instance(source);
  if (!instance) return std::move(instance).error();
  aws_subject_options made{.verification_url = std::move(*verification),
                           .audience = purpose.audience,
                           .region = region_of_variables(machine).value_or("")};
  instance_options place = *instance;
  place.region_alone = true;
  made.place = make_instance_keys({.kind = "aws_instance"}, std::move(place));
  instance->with_region = made.region.empty();
  auto keys = aws_planner({}, machine).workload_keys(std::move(*instance));
  if (!keys) return source.broken(keys.error().message());
  made.keys = std::move(*keys);
  return credential_source{make_aws_subject(purpose.facts, std::move(made)), nullptr};
}

inline result<credential_source> read_certificate_source(const credentials_file& source,
                                                         const source_purpose& purpose,
                                                         const environment& machine) {
  auto how = source.object("certificate");
  if (!how) return std::move(how).error();
  auto location = how->optional("certificate_config_location");
  if (!location) return std::move(location).error();
  auto usual = how->flag("use_default_certificate_config");
  if (!usual) return std::move(usual).error();
  if (*usual != location->empty()) {
    return source.broken_field("certificate",
                               "needs either certificate_config_location or "
                               "use_default_certificate_config");
  }
  auto chain = how->optional("trust_chain_path");
  if (!chain) return std::move(chain).error();
  auto found = find_workload_certificate(machine, *location);
  if (!found) return error{errc::unauthenticated, std::move(found).error().message()};
  client_certificate shown{.certificate_file = std::move(found->certificate_file),
                           .key_file = std::move(found->key_file)};
  auto subject = make_certificate_subject(
      purpose.facts, {.certificate_file = shown.certificate_file, .chain_file = std::move(*chain)},
      machine);
  return credential_source{std::move(subject),
                           std::make_shared<const client_certificate>(std::move(shown))};
}

/// A kind of source, by the field that only it has.
struct source_kind {
  std::string_view field{};
  result<credential_source> (*read)(const credentials_file& source, const source_purpose& purpose,
                                    const environment& machine){nullptr};
};

/// AWS's comes first, whose source has a "url", too.
inline constexpr std::array source_kinds{
    source_kind{"environment_id", read_aws_source}, source_kind{"executable", read_program_source},
    source_kind{"certificate", read_certificate_source}, source_kind{"file", read_file_source},
    source_kind{"url", read_url_source}};

DATAFLUX_INLINE result<credential_source> read_credential_source(const credentials_file& file,
                                                                 const source_purpose& purpose,
                                                                 const environment& machine) {
  auto source = file.object("credential_source");
  if (!source) return std::move(source).error();
  if (purpose.subject_token_type == aws_subject_type && !source->has("environment_id")) {
    return file.broken_field("credential_source", "is of AWS, and has no environment_id");
  }
  const source_kind* found = nullptr;
  for (const source_kind& kind : source_kinds) {
    if (!source->has(kind.field)) continue;
    if (found == nullptr) found = &kind;
    const bool of_aws = found->field == "environment_id" && kind.field == "url";
    if (found == &kind || of_aws) continue;
    return file.broken_field("credential_source",
                             "has more than one of environment_id, executable, certificate, file "
                             "and url");
  }
  if (found != nullptr) return found->read(*source, purpose, machine);
  return file.broken_field("credential_source",
                           "has none of environment_id, executable, certificate, file and url");
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
