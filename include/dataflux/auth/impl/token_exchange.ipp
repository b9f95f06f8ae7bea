#pragma once

#include <dataflux/auth/detail/sha256.hpp>
#include <dataflux/auth/detail/token_endpoint.hpp>
#include <dataflux/auth/detail/token_exchange.hpp>
#include <dataflux/codec/detail/base64.hpp>
#include <dataflux/codec/detail/percent.hpp>

#include <mutex>
#include <optional>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

DATAFLUX_INLINE std::string basic_authorization(std::string_view id, std::string_view secret) {
  std::string both{id};
  both.append(":").append(secret);
  return "Basic " + codec::encode_base64(as_bytes(both));
}

class exchanged_tokens final : public credentials {
 public:
  exchanged_tokens(credentials_facts facts, exchange_options options, subject_source_ptr subject)
      : credentials(std::move(facts)), options_(std::move(options)), subject_(std::move(subject)) {}
  DATAFLUX_INLINE std::unique_ptr<token_flow> start() const override;

 private:
  friend class exchange_flow;

  bool refused_any() const {
    const std::scoped_lock lock(mutex_);
    return refused_.has_value();
  }
  bool refused(std::string_view token) const {
    const auto digest = sha256_of(token);
    const std::scoped_lock lock(mutex_);
    return refused_ && digest && *digest == *refused_;
  }
  void note(std::string_view token, bool is_refused) const {
    std::optional<sha256_digest> noted;
    if (is_refused && subject_->changes()) {
      if (const auto digest = sha256_of(token)) noted = *digest;
    }
    const std::scoped_lock lock(mutex_);
    refused_ = noted;
  }

  const exchange_options options_;
  const subject_source_ptr subject_;
  mutable std::mutex mutex_{};
  /// The digest of a subject token that the service has refused.
  mutable std::optional<sha256_digest> refused_{};
};

class exchange_flow final : public sourced_flow {
 public:
  explicit exchange_flow(const exchanged_tokens& owner)
      : sourced_flow(owner.facts(), owner.options_.service, true), owner_(owner) {}

 private:
  std::unique_ptr<token_flow> source() override {
    return owner_.refused_any() ? owner_.subject_->start_anew() : owner_.subject_->start();
  }
  result<void> check(const access_token& subject) override {
    if (!owner_.refused(subject.value)) return {};
    return error{errc::unauthenticated,
                 facts().describe() + ": the subject token is the one that " + endpoint_name() +
                     " has refused: whoever issues it must replace it"};
  }

  result<std::string> form(const flow_moment&) override {
    const exchange_options& o = owner_.options_;
    std::string body =
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&audience=";
    codec::append_percent(body, o.audience);
    codec::append_percent(body.append("&scope="), o.scopes);
    body +=
        "&requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token"
        "&subject_token=";
    codec::append_percent(body, given().value);
    codec::append_percent(body.append("&subject_token_type="), o.subject_token_type);
    if (!o.options.empty()) {
      std::string once;
      codec::append_percent(once, o.options);
      codec::append_percent(body.append("&options="), once);
    }
    return body;
  }
  std::string authorization() const override {
    const exchange_options& o = owner_.options_;
    return o.client_id.empty() ? std::string{} : basic_authorization(o.client_id, o.client_secret);
  }
  std::vector<std::string_view> secrets() const override {
    return {given().value, owner_.options_.client_secret};
  }
  std::string_view advice(std::string_view code) const override {
    if (code == "invalid_grant") {
      return "the subject token has ended, or it is not one that the pool's provider takes: look "
             "at its issuer, audience and attribute conditions";
    }
    if (code == "invalid_target") return "\"audience\" names no provider of a pool";
    return {};
  }
  void refused(const error& why) override {
    owner_.note(given().value, why.reason() == "invalid_grant");
  }
  result<access_token> read(const http_reply& reply, const flow_moment& moment) override {
    owner_.note({}, false);
    return read_token(reply, moment.now, facts());
  }

  const exchanged_tokens& owner_;
};

inline std::unique_ptr<token_flow> exchanged_tokens::start() const {
  return std::unique_ptr<token_flow>(new exchange_flow(*this));
}

DATAFLUX_INLINE credentials_ptr make_exchanged_tokens(credentials_facts facts,
                                                      exchange_options options,
                                                      subject_source_ptr subject) {
  return std::make_shared<exchanged_tokens>(std::move(facts), std::move(options),
                                            std::move(subject));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
