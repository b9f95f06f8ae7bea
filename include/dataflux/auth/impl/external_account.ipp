#pragma once

#include <dataflux/auth/detail/credential_source.hpp>
#include <dataflux/auth/detail/external_account.hpp>
#include <dataflux/auth/detail/token_exchange.hpp>
#include <dataflux/codec/detail/json_writer.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// "//iam.googleapis.com/locations/LOCATION/workforcePools/..."
inline bool is_of_workforce(std::string_view audience) noexcept {
  constexpr std::string_view begin = "//iam.googleapis.com/locations/";
  if (!audience.starts_with(begin)) return false;
  audience.remove_prefix(begin.size());
  const std::size_t slash = audience.find('/');
  return slash != 0 && slash != std::string_view::npos &&
         audience.substr(slash).starts_with("/workforcePools/");
}

inline result<exchange_options> read_exchange(const credentials_file& file,
                                              const credentials_facts& facts) {
  exchange_options made;
  for (const auto& [field, into] : {std::pair{"audience", &made.audience},
                                    std::pair{"subject_token_type", &made.subject_token_type}}) {
    auto text = file.required(field);
    if (!text) return std::move(text).error();
    *into = std::move(*text);
  }
  for (const auto& [field, into] :
       {std::pair{"client_id", &made.client_id}, std::pair{"client_secret", &made.client_secret}}) {
    auto text = file.optional(field);
    if (!text) return std::move(text).error();
    *into = std::move(*text);
  }
  auto service = file.endpoint("token_url", "https://sts." + facts.universe_domain + "/v1/token");
  if (!service) return std::move(service).error();
  made.service = std::move(*service);
  auto project = file.optional("workforce_pool_user_project");
  if (!project) return std::move(project).error();
  if (!project->empty() && !is_of_workforce(made.audience)) {
    return file.broken_field("workforce_pool_user_project", "is for workforce pools alone");
  }
  if (!project->empty() && made.client_id.empty()) {  // a client says by itself whose quota counts
    codec::json_writer options;
    options.begin_object().key("userProject").string(*project).end_object();
    made.options = std::move(options).take();
  }
  return made;
}

DATAFLUX_INLINE result<impersonation_options> read_impersonation(const credentials_file& file) {
  impersonation_options made;
  auto service = file.endpoint("service_account_impersonation_url", {});
  if (!service) return std::move(service).error();
  made.account = account_of(*service);
  if (made.account.empty()) {
    return file.broken_field("service_account_impersonation_url",
                             "is not of the form https://HOST/.../EMAIL:generateAccessToken");
  }
  made.service = std::move(*service);
  if (!file.has("service_account_impersonation")) return made;
  auto how = file.object("service_account_impersonation");
  if (!how) return std::move(how).error();
  constexpr std::int64_t longest = 43'200;
  auto life = how->number("token_lifetime_seconds", made.life.count(), 1, longest);
  if (!life) return std::move(life).error();
  made.life = std::chrono::seconds(*life);
  return made;
}

DATAFLUX_INLINE result<credentials_ptr> parse_external_account(const credentials_file& file,
                                                               const federation_options& options,
                                                               const environment& machine) {
  if (auto right = file.expect_type("external_account"); !right) return right.error();
  auto facts = file.facts("external_account", options.quota_project);
  if (!facts) return std::move(facts).error();
  auto exchange = read_exchange(file, *facts);
  if (!exchange) return std::move(exchange).error();
  const bool acts = file.has("service_account_impersonation_url");
  auto impersonation = acts ? read_impersonation(file) : impersonation_options{};
  if (!impersonation) return std::move(impersonation).error();
  auto source = read_credential_source(
      file, {*facts, exchange->audience, exchange->subject_token_type, impersonation->account},
      machine);
  if (!source) return std::move(source).error();
  exchange->service.origin.certificate = std::move(source->certificate);
  exchange->scopes = acts ? std::string{cloud_scope} : options.scopes;
  auto federated = make_exchanged_tokens(*facts, std::move(*exchange), std::move(source->subject));
  if (!acts) return federated;
  impersonation->scopes = options.scopes;
  return make_impersonated_tokens(std::move(*facts), std::move(*impersonation),
                                  std::move(federated));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
