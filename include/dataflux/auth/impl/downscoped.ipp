#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/token_endpoint.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/detail/percent.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::auth {

class downscoped_tokens final : public credentials {
 public:
  downscoped_tokens(credentials_facts facts, credentials_ptr source, http::url service,
                    std::string boundary)
      : credentials(std::move(facts)),
        source_(std::move(source)),
        service_(std::move(service)),
        boundary_(std::move(boundary)) {}
  DATAFLUX_INLINE std::unique_ptr<token_flow> start() const override;

 private:
  friend class downscoped_flow;
  const credentials_ptr source_;
  const http::url service_;
  const std::string boundary_;
};

class downscoped_flow final : public sourced_flow {
 public:
  explicit downscoped_flow(const downscoped_tokens& owner)
      : sourced_flow(owner.facts(), owner.service_, false), owner_(owner) {}

 private:
  std::unique_ptr<token_flow> source() override { return owner_.source_->start(); }
  result<std::string> form(const flow_moment&) override {
    std::string body =
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange"
        "&requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token"
        "&subject_token=";
    codec::append_percent(body, given().value);
    body += "&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token&options=";
    std::string once;
    codec::append_percent(once, owner_.boundary_);
    codec::append_percent(body, once);
    return body;
  }
  std::vector<std::string_view> secrets() const override { return {given().value}; }
  std::string_view advice(std::string_view code) const override {
    if (code != "invalid_grant" && code != "invalid_request") return {};
    return "the source must give access tokens with the scope cloud-platform, and no signed ones: "
           "a service account needs exchange_service_account";
  }
  result<access_token> read(const http_reply& reply, const flow_moment& moment) override {
    auto document = codec::json_document::parse(as_bytes(reply.body));
    // Without a life of its own it ends as the source's does (protocol.md 4.4).
    if (!document || document->root().find("expires_in")) {
      return read_token(reply, moment.now, facts());
    }
    const auto token = document->root().find("access_token").text();
    if (!token || !is_token_text(*token)) {
      return malformed_reply(facts(), "has no usable \"access_token\"");
    }
    return access_token{std::string{*token}, given().expires};
  }

  const downscoped_tokens& owner_;
};

inline std::unique_ptr<token_flow> downscoped_tokens::start() const {
  return std::unique_ptr<token_flow>(new downscoped_flow(*this));
}

inline result<std::string> boundary_text(const access_boundary& boundary) {
  constexpr std::size_t most = 10;
  if (boundary.rules.empty() || boundary.rules.size() > most) {
    return error{errc::invalid_argument, "an access boundary has 1 to 10 rules"};
  }
  codec::json_writer out;
  out.begin_object().key("accessBoundary").begin_object().key("accessBoundaryRules").begin_array();
  for (const access_rule& rule : boundary.rules) {
    if (rule.bucket.empty() || rule.roles.empty()) {
      return error{errc::invalid_argument,
                   "a rule of an access boundary names a bucket and at least one role"};
    }
    out.begin_object().key("availablePermissions").begin_array();
    for (const std::string& role : rule.roles) out.string("inRole:" + role);
    out.end_array().key("availableResource");
    out.string("//storage.googleapis.com/projects/_/buckets/" + rule.bucket);
    if (!rule.condition.empty()) {
      out.key("availabilityCondition").begin_object();
      out.key("expression").string(rule.condition).end_object();
    }
    out.end_object();
  }
  out.end_array().end_object().end_object();
  return std::move(out).take();
}

}  // namespace detail::auth

DATAFLUX_INLINE result<credentials_ptr> make_downscoped_credentials(
    credentials_ptr source, const access_boundary& boundary) {
  if (source == nullptr || source->anonymous()) {
    return error{errc::invalid_argument, "downscoped credentials need a source with tokens"};
  }
  auto text = detail::auth::boundary_text(boundary);
  if (!text) return std::move(text).error();
  credentials_facts facts = source->facts();
  facts.kind = "downscoped " + facts.kind;
  auto service = detail::http::parse_url(boundary.token_url.empty()
                                             ? "https://sts." + facts.universe_domain + "/v1/token"
                                             : boundary.token_url);
  if (!service) return std::move(service).error();
  if (!service->origin.tls && !service->origin.is_loopback()) {
    return error{errc::invalid_argument,
                 "token_url must be https, or at a loopback address: a token is sent to it"};
  }
  return credentials_ptr{std::make_shared<detail::auth::downscoped_tokens>(
      std::move(facts), std::move(source), std::move(*service), std::move(*text))};
}

}  // namespace dataflux::inline DATAFLUX_ABI
