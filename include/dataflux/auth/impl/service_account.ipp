#pragma once

#include <dataflux/auth/detail/credentials_file.hpp>
#include <dataflux/auth/detail/rsa_signer.hpp>
#include <dataflux/auth/detail/service_account.hpp>
#include <dataflux/auth/detail/sha256.hpp>
#include <dataflux/auth/detail/signing_identity.hpp>
#include <dataflux/auth/detail/token_endpoint.hpp>
#include <dataflux/codec/detail/base64.hpp>
#include <dataflux/codec/detail/json_writer.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// Servers whose clock runs behind would take a fresh token for one from the future.
inline constexpr std::chrono::seconds clock_skew{10};
/// The longest that the service accepts.
inline constexpr std::chrono::seconds jwt_life{3600};

struct service_account_key {
  rsa_signer signer;
  std::string key_id;
  std::string email;
  http::url token_uri;
  service_account_options options;
  std::string digest;  ///< of the key

  /// Signs the claims of protocol.md 4.2: form B (for the token endpoint) names it as audience and
  /// has no subject; form A is the token itself.
  result<access_token> sign(system_time now, bool for_exchange) const {
    const auto issued = std::chrono::floor<std::chrono::seconds>(now - clock_skew);
    codec::json_writer header;
    header.begin_object().key("alg").string("RS256").key("typ").string("JWT");
    header.key("kid").string(key_id).end_object();
    codec::json_writer claims;
    claims.begin_object().key("iss").string(email);
    if (!for_exchange) claims.key("sub").string(email);
    if (!options.scopes.empty()) claims.key("scope").string(options.scopes);
    if (for_exchange) {
      claims.key("aud").string((token_uri.origin.tls ? "https://" : "http://") +
                               token_uri.origin.authority() + token_uri.target);
    } else if (options.scopes.empty()) {
      claims.key("aud").string(options.audience);
    }
    claims.key("iat").integer(issued.time_since_epoch().count());
    claims.key("exp").integer((issued + jwt_life).time_since_epoch().count()).end_object();

    std::string jwt = codec::encode_base64url(as_bytes(header.text()));
    jwt.append(".").append(codec::encode_base64url(as_bytes(claims.text())));
    auto signature = signer.sign_sha256(jwt);
    if (!signature) return std::move(signature).error();
    jwt.append(".").append(codec::encode_base64url(as_bytes(*signature)));
    return access_token{std::move(jwt), issued + jwt_life};
  }
};

class self_signed_flow final : public token_flow {
 public:
  explicit self_signed_flow(const service_account_key& key) : key_(key) {}
  flow_step resume(flow_event, const flow_moment& moment) override {
    auto token = key_.sign(moment.now, false);
    if (!token) return std::move(token).error();
    return std::move(*token);
  }

 private:
  const service_account_key& key_;
};

class jwt_bearer_flow final : public token_endpoint_flow {
 public:
  jwt_bearer_flow(const credentials_facts& facts, const service_account_key& key)
      : token_endpoint_flow(facts, key.token_uri), key_(key) {}

 private:
  result<std::string> form(const flow_moment& moment) override {
    auto assertion = key_.sign(moment.now, true);
    if (!assertion) return std::move(assertion).error();
    assertion_ = std::move(assertion->value);
    return "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=" +
           assertion_;
  }
  std::vector<std::string_view> secrets() const override { return {assertion_}; }
  std::string_view advice(std::string_view oauth_error) const override {
    if (oauth_error != "invalid_grant") return {};
    return "the key may have been deleted, or this machine's clock may be wrong";
  }

  const service_account_key& key_;
  std::string assertion_{};
};

class service_account_credentials final : public credentials {
 public:
  service_account_credentials(credentials_facts facts, service_account_key key)
      : credentials(std::move(facts)), key_(std::move(key)) {}
  /// What is signed here costs no request.
  std::string token_identity() const override {
    if (!key_.options.exchange) return {};
    const http::url& to = key_.token_uri;
    return key_.email + "\n" + key_.key_id + "\n" + key_.digest + "\n" + key_.options.scopes +
           "\n" + to.origin.to_string() + to.target;
  }
  std::unique_ptr<token_flow> start() const override {
    if (key_.options.exchange)
      return std::unique_ptr<token_flow>(new jwt_bearer_flow(this->facts(), key_));
    return std::unique_ptr<token_flow>(new self_signed_flow(key_));
  }
  signing_identity signs_as() const override {
    return {.account = key_.email, .key = &key_.signer};
  }

 private:
  service_account_key key_;
};

DATAFLUX_INLINE result<credentials_ptr> parse_service_account(
    std::string_view json, std::string path, const service_account_options& options) {
  auto file = credentials_file::parse(json, std::move(path));
  if (!file) return std::move(file).error();
  return read_service_account(*file, options);
}

DATAFLUX_INLINE result<credentials_ptr> read_service_account(
    const credentials_file& file, const service_account_options& options) {
  if (auto right = file.expect_type("service_account"); !right) return right.error();
  auto facts = file.facts("service_account", options.quota_project);
  if (!facts) return std::move(facts).error();
  auto email = file.required("client_email");
  if (!email) return std::move(email).error();
  auto key_id = file.required("private_key_id");
  if (!key_id) return std::move(key_id).error();
  auto pem = file.required("private_key");
  if (!pem) return std::move(pem).error();
  auto token_uri = file.endpoint("token_uri", google_token_uri);
  if (!token_uri) return std::move(token_uri).error();
  if (options.exchange && facts->universe_domain != default_universe) {
    return file.broken("universe_domain \"" + facts->universe_domain +
                       "\" knows self-signed tokens only: set exchange to false");
  }
  auto signer = rsa_signer::from_pem(*pem);
  if (!signer) return file.broken("field \"private_key\": " + signer.error().message());
  const auto digest = sha256_of(*pem);
  if (!digest) return digest.error();
  service_account_key key{std::move(*signer),
                          std::move(*key_id),
                          std::move(*email),
                          std::move(*token_uri),
                          options,
                          {}};
  append_digest(key.digest, *digest);
  return credentials_ptr{
      std::make_shared<service_account_credentials>(std::move(*facts), std::move(key))};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
