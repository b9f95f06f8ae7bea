#pragma once

#include <dataflux/auth/detail/authorized_user.hpp>
#include <dataflux/auth/detail/credentials_file.hpp>
#include <dataflux/auth/detail/service_account.hpp>
#include <dataflux/auth/detail/token_endpoint.hpp>
#include <dataflux/codec/detail/percent.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

struct authorized_user_login {
  std::string client_id;
  std::string client_secret;
  std::string refresh_token;
  http::url token_uri;
};

class refresh_token_flow final : public token_endpoint_flow {
 public:
  refresh_token_flow(const credentials_facts& facts, const authorized_user_login& login)
      : token_endpoint_flow(facts, login.token_uri), login_(login) {}

 private:
  result<std::string> form(const flow_moment&) override {
    std::string body = "grant_type=refresh_token&client_id=";
    codec::append_percent(body, login_.client_id);
    codec::append_percent(body.append("&client_secret="), login_.client_secret);
    codec::append_percent(body.append("&refresh_token="), login_.refresh_token);
    return body;
  }
  std::vector<std::string_view> secrets() const override {
    return {login_.client_secret, login_.refresh_token};
  }
  std::string_view advice(std::string_view oauth_error) const override {
    if (oauth_error.find("rapt") != std::string_view::npos) {
      return "the organization asks people to log in again from time to time, so run 'gcloud auth "
             "application-default login'; jobs that run longer need a service account or workload "
             "identity";
    }
    if (oauth_error != "invalid_grant") return {};
    return "the login has expired or was revoked: run 'gcloud auth application-default login'";
  }

  const authorized_user_login& login_;
};

class authorized_user_credentials final : public credentials {
 public:
  authorized_user_credentials(credentials_facts facts, authorized_user_login login)
      : credentials(std::move(facts)), login_(std::move(login)) {}
  std::string token_identity() const override {
    const http::url& to = login_.token_uri;
    return login_.client_id + "\n" + login_.client_secret + "\n" + login_.refresh_token + "\n" +
           to.origin.to_string() + to.target;
  }
  std::unique_ptr<token_flow> start() const override {
    return std::unique_ptr<token_flow>(new refresh_token_flow(this->facts(), login_));
  }

 private:
  authorized_user_login login_;
};

DATAFLUX_INLINE result<credentials_ptr> parse_authorized_user(std::string_view json,
                                                              std::string path,
                                                              std::string quota_project) {
  auto file = credentials_file::parse(json, std::move(path));
  if (!file) return std::move(file).error();
  return read_authorized_user(*file, std::move(quota_project));
}

DATAFLUX_INLINE result<credentials_ptr> read_authorized_user(const credentials_file& file,
                                                             std::string quota_project) {
  if (auto right = file.expect_type("authorized_user"); !right) return right.error();
  auto facts = file.facts("authorized_user", std::move(quota_project));
  if (!facts) return std::move(facts).error();
  if (facts->universe_domain != default_universe) {
    return file.broken("authorized_user credentials exist in universe_domain googleapis.com only");
  }
  auto client_id = file.required("client_id");
  if (!client_id) return std::move(client_id).error();
  auto client_secret = file.required("client_secret");
  if (!client_secret) return std::move(client_secret).error();
  auto refresh_token = file.required("refresh_token");
  if (!refresh_token) return std::move(refresh_token).error();
  auto token_uri = file.endpoint("token_uri", google_token_uri);
  if (!token_uri) return std::move(token_uri).error();
  authorized_user_login login{std::move(*client_id), std::move(*client_secret),
                              std::move(*refresh_token), std::move(*token_uri)};
  return credentials_ptr{
      std::make_shared<authorized_user_credentials>(std::move(*facts), std::move(login))};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
