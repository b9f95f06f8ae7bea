#pragma once

#include <dataflux/auth/detail/compute_engine.hpp>
#include <dataflux/auth/detail/signing_identity.hpp>
#include <dataflux/auth/detail/token_endpoint.hpp>
#include <dataflux/codec/detail/percent.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// protocol.md 4.8; more than for other endpoints, since it starts together with the machine.
inline constexpr int metadata_tries = 5;

class metadata_flow;

class compute_engine_credentials final : public credentials {
 public:
  compute_engine_credentials(credentials_facts facts, compute_engine_options options,
                             http::origin server, http::origin probe)
      : credentials(std::move(facts)),
        options_(std::move(options)),
        server_(std::make_shared<const http::origin>(std::move(server))),
        probe_(std::make_shared<const http::origin>(std::move(probe))),
        present_(options_.present),
        universe_known_(options_.universe_domain.empty()) {}
  DATAFLUX_INLINE std::unique_ptr<token_flow> start() const override;
  signing_identity signs_as() const override {
    return {.metadata = server_, .alias = options_.account};
  }

 private:
  friend metadata_flow;
  compute_engine_options options_;
  std::shared_ptr<const http::origin> server_;
  std::shared_ptr<const http::origin> probe_;
  /// What flows have learned, so that the next one need not ask again.
  mutable std::atomic<bool> present_;
  mutable std::atomic<bool> universe_known_;
};

class metadata_flow final : public token_flow {
 public:
  explicit metadata_flow(const compute_engine_credentials& owner)
      : owner_(owner), attempts_(metadata_tries) {
    enter(!owner.present_ ? phase::probe : phase::universe);
  }

  flow_step resume(flow_event event, const flow_moment& moment) override {
    auto* const outcome = std::get_if<result<http_reply>>(&event);
    if (outcome == nullptr) return ask();
    switch (phase_) {
      case phase::probe:
        return after_probe(*outcome, moment);
      case phase::universe:
        return after_universe(*outcome);
      case phase::token:
        break;
    }
    return after_token(*outcome, moment);
  }

 private:
  enum class phase { probe, universe, token };

  void enter(phase next) {
    phase_ = next == phase::universe && owner_.universe_known_ ? phase::token : next;
    attempts_ = attempts(phase_ == phase::probe ? owner_.options_.probe_tries : metadata_tries);
  }

  flow_step ask() const {
    http_step step;
    step.request.origin = phase_ == phase::probe ? owner_.probe_ : owner_.server_;
    step.request.headers.add("Metadata-Flavor", "Google");
    if (phase_ == phase::probe) {
      step.request.target = "/";
      step.timeout = owner_.options_.probe_timeout;
    } else if (phase_ == phase::universe) {
      step.request.target = "/computeMetadata/v1/universe/universe-domain";
    } else {
      step.request.target = token_target();
    }
    return step;
  }

  std::string token_target() const {
    std::string target = "/computeMetadata/v1/instance/service-accounts/";
    codec::append_percent(target, owner_.options_.account);
    std::string scopes = owner_.options_.scopes;
    std::replace(scopes.begin(), scopes.end(), ' ', ',');
    target.append("/token");
    if (!scopes.empty()) codec::append_percent(target.append("?scopes="), scopes);
    return target;
  }

  /// Captive portals and other servers answer too: only the real one sends this field.
  static bool is_google(const http_reply& reply) {
    const auto flavor = reply.headers.find("Metadata-Flavor");
    return flavor && http::equals_ignoring_case(*flavor, "Google");
  }

  flow_step after_probe(const result<http_reply>& outcome, const flow_moment& moment) {
    if (outcome && is_google(*outcome)) {  // of any status: it is there
      owner_.present_ = true;
      enter(phase::universe);
      return ask();
    }
    if (!outcome && outcome.error().retryable()) {
      if (const auto wait = attempts_.after_failure(moment.random)) return *wait;
    }
    const std::string& why = owner_.options_.absent_message;
    return error{errc::unauthenticated, why.empty() ? "there is no metadata server" : why}
        .with_retryable(!outcome && owner_.options_.may_come);
  }

  flow_step after_universe(const result<http_reply>& outcome) {
    const std::string& wanted = owner_.options_.universe_domain;
    if (outcome && outcome->status == 200 && is_google(*outcome)) {
      const std::string& found = outcome->body;
      if (!found.empty() && found != wanted) {
        return error{
            errc::invalid_argument,
            owner_.facts().describe() + " are of another universe than the endpoint's " + wanted};
      }
      owner_.universe_known_ = true;
    }
    // Older servers know no such page (404); what else may have failed will fail for the token too.
    if (outcome && outcome->status == 404) owner_.universe_known_ = true;
    enter(phase::token);
    return ask();
  }

  flow_step after_token(const result<http_reply>& outcome, const flow_moment& moment) {
    const credentials_facts& facts = owner_.facts();
    if (!outcome) return again_or(without_reply(outcome.error(), facts), moment);
    const std::string server = "the metadata server at " + owner_.server_->authority();
    if (outcome->status == 404) {
      return error{errc::unauthenticated, facts.describe() + ": " + server +
                                              " knows no account \"" + owner_.options_.account +
                                              "\" of this machine"}
          .with_http_status(404);
    }
    if (outcome->status != 200) return again_or(refusal(*outcome, server, facts, {}), moment);
    if (!is_google(*outcome)) {
      return error{errc::unauthenticated, facts.describe() + ": what answers is not " + server +
                                              ": its reply has no field Metadata-Flavor: Google"};
    }
    auto token = read_token(*outcome, moment.now, facts);
    if (!token) return std::move(token).error();
    return std::move(*token);
  }

  flow_step again_or(error e, const flow_moment& moment) {
    const int made = attempts_.made();
    if (e.retryable()) {
      if (const auto wait = attempts_.after_failure(moment.random)) return *wait;
    }
    return e.with_attempts(made);
  }

  const compute_engine_credentials& owner_;
  phase phase_{phase::token};
  attempts attempts_;
};

inline std::unique_ptr<token_flow> compute_engine_credentials::start() const {
  return std::unique_ptr<token_flow>(new metadata_flow(*this));
}

inline result<http::origin> metadata_origin(const std::string& host) {
  auto url = http::parse_url("http://" + host);
  if (!url || url->target != "/") {
    return error{errc::invalid_argument, "\"" + host + "\" is no host[:port] of a metadata server"};
  }
  url->origin.direct = true;
  return std::move(url->origin);
}

DATAFLUX_INLINE result<credentials_ptr> make_compute_engine_credentials(
    compute_engine_options options) {
  auto server = metadata_origin(options.host);
  if (!server) return std::move(server).error();
  auto probe = metadata_origin(options.probe_host);
  if (!probe) return std::move(probe).error();
  credentials_facts facts{
      .kind = "compute_engine", .quota_project = options.quota_project, .project = options.project};
  if (!options.universe_domain.empty()) facts.universe_domain = options.universe_domain;
  return credentials_ptr{std::make_shared<compute_engine_credentials>(
      std::move(facts), std::move(options), std::move(*server), std::move(*probe))};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
