#pragma once

#include <dataflux/auth/detail/keys_reply.hpp>
#include <dataflux/auth/detail/signing_identity.hpp>
#include <dataflux/auth/detail/token_endpoint.hpp>
#include <dataflux/auth/detail/token_exchange.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/detail/percent.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

DATAFLUX_INLINE std::string account_of(const http::url& service) {
  constexpr std::string_view verb = ":generateAccessToken";
  std::string_view target = service.target;
  if (!target.ends_with(verb)) return {};
  target.remove_suffix(verb.size());
  target.remove_prefix(target.rfind('/') + 1);
  std::string account = codec::decode_percent(target).value_or("");
  // It is shown in messages.
  const bool good = std::all_of(account.begin(), account.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '_' || c == '@';
  });
  return good ? account : std::string{};
}

DATAFLUX_INLINE result<access_token> read_impersonated_token(const http_reply& reply,
                                                             system_time now,
                                                             const credentials_facts& facts) {
  auto document = codec::json_document::parse(as_bytes(reply.body));
  if (!document) return malformed_reply(facts, "is not valid JSON");
  const auto token = document->root().find("accessToken").text();
  if (!token || !is_token_text(*token)) {
    return malformed_reply(facts, "has no usable \"accessToken\"");
  }
  const auto end = parse_timestamp(document->root().find("expireTime").text().value_or(""));
  if (!end) return malformed_reply(facts, "has no usable \"expireTime\"");
  // By the server's clock, which says when it is over.
  const system_time expires = answer_time::of(reply, now).end(*end);
  if (expires <= now || expires > now + std::chrono::hours(24 * 366)) {
    return malformed_reply(facts, "has a token that has ended");
  }
  return access_token{std::string{*token}, expires};
}

class impersonation_flow final : public sourced_flow {
 public:
  impersonation_flow(const credentials_facts& facts, const impersonation_options& options,
                     const credentials& source)
      : sourced_flow(facts, options.service, false), options_(options), source_(source) {}

 private:
  std::unique_ptr<token_flow> source() override { return source_.start(); }
  std::string_view content_type() const override { return "application/json"; }
  std::string authorization() const override { return "Bearer " + given().value; }

  result<std::string> form(const flow_moment&) override {
    codec::json_writer body;
    body.begin_object();
    if (!options_.delegates.empty()) {
      body.key("delegates").begin_array();
      for (const std::string& each : options_.delegates) body.string(each);
      body.end_array();
    }
    body.key("scope").begin_array();
    for (std::string_view rest = options_.scopes; !rest.empty();) {
      const std::size_t blank = std::min(rest.find(' '), rest.size());
      if (blank > 0) body.string(rest.substr(0, blank));
      rest.remove_prefix(std::min(blank + 1, rest.size()));
    }
    body.end_array();
    body.key("lifetime").string(std::to_string(options_.life.count()) + "s").end_object();
    return std::move(body).take();
  }
  std::vector<std::string_view> secrets() const override { return {given().value}; }
  std::string_view advice(std::string_view code) const override {
    if (code != "PERMISSION_DENIED" && code != "NOT_FOUND") return {};
    return "the account must exist, and whoever acts for it, or the last of the delegates, needs "
           "the role roles/iam.serviceAccountTokenCreator on it";
  }
  result<access_token> read(const http_reply& reply, const flow_moment& moment) override {
    return read_impersonated_token(reply, moment.now, facts());
  }

  const impersonation_options& options_;
  const credentials& source_;
};

class impersonated_tokens final : public credentials {
 public:
  impersonated_tokens(credentials_facts facts, impersonation_options options,
                      credentials_ptr source)
      : credentials(std::move(facts)), options_(std::move(options)), source_(std::move(source)) {}
  std::unique_ptr<token_flow> start() const override {
    return std::unique_ptr<token_flow>(new impersonation_flow(this->facts(), options_, *source_));
  }
  /// By IAM and the account's own token, so it must be allowed to sign for itself.
  signing_identity signs_as() const override { return {.account = options_.account}; }

 private:
  const impersonation_options options_;
  const credentials_ptr source_;
};

DATAFLUX_INLINE credentials_ptr make_impersonated_tokens(credentials_facts facts,
                                                         impersonation_options options,
                                                         credentials_ptr source) {
  return std::make_shared<impersonated_tokens>(std::move(facts), std::move(options),
                                               std::move(source));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
