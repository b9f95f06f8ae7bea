#pragma once

#include <dataflux/auth/detail/external_account.hpp>
#include <dataflux/auth/detail/token_endpoint.hpp>
#include <dataflux/auth/detail/token_exchange.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/percent.hpp>

#include <mutex>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

struct workforce_login {
  http::url service{};
  std::string client_id{};
  std::string client_secret{};
  std::string refresh_token{};
};

class workforce_tokens final : public credentials {
 public:
  workforce_tokens(credentials_facts facts, workforce_login login)
      : credentials(std::move(facts)),
        login_(std::move(login)),
        refresh_token_(login_.refresh_token) {}
  DATAFLUX_INLINE std::unique_ptr<token_flow> start() const override;

 private:
  friend class workforce_flow;

  std::string refresh_token() const {
    const std::scoped_lock lock(mutex_);
    return refresh_token_;
  }
  void replace(std::string_view next) const {
    const std::scoped_lock lock(mutex_);
    refresh_token_ = next;
  }

  const workforce_login login_;
  mutable std::mutex mutex_{};
  /// The newest: each may be good once.
  mutable std::string refresh_token_;
};

class workforce_flow final : public token_endpoint_flow {
 public:
  explicit workforce_flow(const workforce_tokens& owner)
      : token_endpoint_flow(owner.facts(), owner.login_.service), owner_(owner) {}

 private:
  result<std::string> form(const flow_moment&) override {
    refresh_token_ = owner_.refresh_token();
    std::string body = "grant_type=refresh_token&refresh_token=";
    codec::append_percent(body, refresh_token_);
    return body;
  }
  std::string authorization() const override {
    return basic_authorization(owner_.login_.client_id, owner_.login_.client_secret);
  }
  std::vector<std::string_view> secrets() const override {
    return {owner_.login_.client_secret, refresh_token_};
  }
  std::string_view advice(std::string_view code) const override {
    if (code != "invalid_grant") return {};
    return "the login has expired, was revoked or was used by another process: run 'gcloud auth "
           "application-default login --login-config=FILE'";
  }
  result<access_token> read(const http_reply& reply, const flow_moment& moment) override {
    auto token = read_token(reply, moment.now, facts());
    if (!token) return token;
    auto document = codec::json_document::parse(as_bytes(reply.body));
    if (!document) return token;
    const auto next = document->root().find("refresh_token").text();
    if (next && !next->empty()) owner_.replace(*next);
    return token;
  }

  const workforce_tokens& owner_;
  std::string refresh_token_{};
};

inline std::unique_ptr<token_flow> workforce_tokens::start() const {
  return std::unique_ptr<token_flow>(new workforce_flow(*this));
}

DATAFLUX_INLINE result<credentials_ptr> parse_external_user(const credentials_file& file,
                                                            const federation_options& options) {
  constexpr std::string_view kind = "external_account_authorized_user";
  if (auto right = file.expect_type(kind); !right) return right.error();
  auto facts = file.facts(kind, options.quota_project);
  if (!facts) return std::move(facts).error();
  workforce_login login;
  for (const auto& [field, into] :
       {std::pair{"client_id", &login.client_id}, std::pair{"client_secret", &login.client_secret},
        std::pair{"refresh_token", &login.refresh_token}}) {
    auto text = file.required(field);
    if (!text) return std::move(text).error();
    *into = std::move(*text);
  }
  auto service = file.endpoint("token_url", {});
  if (!service) return std::move(service).error();
  login.service = std::move(*service);
  return credentials_ptr{std::make_shared<workforce_tokens>(std::move(*facts), std::move(login))};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
