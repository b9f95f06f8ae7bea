#pragma once

#include <dataflux/auth/detail/aws_sources.hpp>
#include <dataflux/auth/detail/keys_flow.hpp>
#include <dataflux/auth/detail/keys_reply.hpp>
#include <dataflux/auth/detail/signing_clock.hpp>
#include <dataflux/auth/detail/sigv4.hpp>
#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/codec/detail/secrets.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

inline constexpr int role_tries = 3;

/// The parts of a request to STS that both of its calls have.
inline std::string role_form(std::string_view action, const role_options& role, system_time now) {
  std::string form{"Action="};
  form.append(action).append("&Version=2011-06-15&RoleArn=");
  codec::append_percent(form, role.arn);
  form += "&RoleSessionName=";
  const auto second = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  codec::append_percent(form,
                        role.session.empty() ? "dataflux-" + std::to_string(second) : role.session);
  if (role.life.count() > 0) form += "&DurationSeconds=" + std::to_string(role.life.count());
  if (!role.external_id.empty()) {
    codec::append_percent(form.append("&ExternalId="), role.external_id);
  }
  return form;
}

inline http_step role_request(const role_options& role, std::string form) {
  http_step step;
  step.request.method = http::method::post;
  step.request.origin = std::make_shared<const http::origin>(role.sts.origin);
  step.request.target = role.sts.target;
  step.request.headers.add("Content-Type", "application/x-www-form-urlencoded");
  step.body = std::move(form);
  return step;
}

/// A code of STS, as opposed to anything else that may stand in its place.
inline bool is_refusal_code(std::string_view text) noexcept {
  constexpr std::size_t longest = 64;
  return !text.empty() && text.size() <= longest &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.';
         });
}

inline bool passes(std::string_view code) noexcept {
  constexpr std::array<std::string_view, 6> codes{"Throttling",
                                                  "ThrottlingException",
                                                  "RequestLimitExceeded",
                                                  "IDPCommunicationError",
                                                  "ExpiredTokenException",
                                                  "InternalFailure"};
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

/// Both calls of STS, behind what they differ in.
class sts_flow : public keys_flow {
 protected:
  sts_flow(const credentials_facts& facts, const role_options& role, std::string_view action)
      : keys_flow(facts, role_tries), role_(role), action_(action) {}

  const role_options& role() const noexcept { return role_; }
  std::string form(const flow_moment& moment) const {
    return role_form(action_, role_, moment.now);
  }

  flow_step replied(const http_reply& reply, const flow_moment& moment) override {
    const std::string server = role_.sts.origin.authority();
    if (reply.status == 200) {
      auto keys = read_role_keys(reply.body, action_, answer_time::of(reply, moment.now));
      if (!keys) {
        return end(failure(errc::internal, server + ": the reply: " + keys.error().message()));
      }
      if (keys->expires > moment.now) return std::move(*keys);
      return end(failure(errc::internal, server + " gave keys that had expired"));
    }
    sts_refusal said = read_sts_refusal(reply.body);
    if (!is_refusal_code(said.code)) said.code.clear();
    if (corrects_clock(reply, said.code, moment)) return ask(moment);
    return again_or(refusal(reply, said, server), moment);
  }

 private:
  virtual bool corrects_clock(const http_reply& reply, std::string_view code,
                              const flow_moment& moment) = 0;
  /// Texts that were sent, or signed with.
  virtual std::vector<std::string_view> secrets() const = 0;

  error refusal(const http_reply& reply, const sts_refusal& said, const std::string& server) const {
    const bool temporary = is_retryable_status(reply.status) || passes(said.code);
    std::string text = temporary ? "no keys from " : "refused by ";
    text.append(server);
    if (!said.code.empty()) text.append(": ").append(said.code);
    // Of a wrong signature the message is what was signed.
    constexpr std::size_t longest = 300;
    if (said.message.size() <= longest && !said.code.empty() &&
        said.code != "SignatureDoesNotMatch") {
      std::string message = codec::without_secrets(said.message, secrets());
      if (!message.empty()) text.append(": ").append(message);
    }
    if (said.code == "AccessDenied") {
      text += "; let the trust policy of " + role_.arn + " allow it";
    }
    errc code = errc::unauthenticated;
    if (temporary) {
      code = is_retryable_status(reply.status) ? errc_from_http_status(reply.status)
                                               : errc::unavailable;
    }
    error e = failure(code, text);
    return e.with_http_status(reply.status).with_reason(said.code).with_retryable(temporary);
  }

  const role_options& role_;
  const std::string_view action_;
};

class assume_flow final : public sts_flow {
 public:
  assume_flow(const credentials_facts& facts, const role_options& role, access_keys keys,
              signing_clock& clock)
      : sts_flow(facts, role, "AssumeRole"), keys_(std::move(keys)), clock_(clock) {}

 private:
  flow_step ask(const flow_moment& moment) override {
    http_step step = role_request(role(), form(moment));
    std::string digest;
    auto hash = sha256_of(step.body);
    if (!hash) return end(std::move(hash).error());
    append_digest(digest, *hash);
    signing_keys cache;
    sent_ = moment.now;
    auto good = sign_sigv4(step.request, keys_, {role().region, "sts"}, clock_.now(moment.now),
                           digest, cache);
    if (!good) return end(failure(good.error().code(), good.error().message()));
    return step;
  }
  bool corrects_clock(const http_reply& reply, std::string_view code,
                      const flow_moment& moment) override {
    if (corrected_) return false;
    corrected_ = clock_.learn({.status = reply.status,
                               .reason = code,
                               .date = reply.headers.find("Date").value_or(""),
                               .now = moment.now,
                               .age = moment.now - sent_});
    return corrected_;
  }
  std::vector<std::string_view> secrets() const override {
    return {keys_.secret, keys_.session_token};
  }

  const access_keys keys_;
  signing_clock& clock_;
  system_time sent_{};
  bool corrected_{false};
};

class role_keys final : public credentials {
 public:
  role_keys(credentials_facts facts, role_options role, credentials_ptr source)
      : credentials(std::move(facts)), role_(std::move(role)), source_(std::move(source)) {}
  DATAFLUX_INLINE std::unique_ptr<token_flow> start() const override;

 private:
  friend class role_flow;
  role_options role_;
  credentials_ptr source_;
  mutable signing_clock clock_{};
};

/// The flow of the source, then that of the role.
class role_flow final : public token_flow {
 public:
  explicit role_flow(const role_keys& owner) : owner_(owner), flow_(owner.source_->start()) {}

  flow_step resume(flow_event event, const flow_moment& moment) override {
    flow_step step = flow_->resume(std::move(event), moment);
    auto* const keys = std::get_if<access_keys>(&step);
    if (keys == nullptr || std::exchange(second_, true)) return step;
    flow_ = std::make_unique<assume_flow>(owner_.facts(), owner_.role_, std::move(*keys),
                                          owner_.clock_);
    return flow_->resume(std::monostate{}, moment);
  }

 private:
  const role_keys& owner_;
  std::unique_ptr<token_flow> flow_;
  bool second_{false};
};

inline std::unique_ptr<token_flow> role_keys::start() const {
  return std::unique_ptr<token_flow>(new role_flow(*this));
}

class web_identity_flow final : public sts_flow {
 public:
  web_identity_flow(const credentials_facts& facts, const role_options& role,
                    const std::string& token_file, const environment& machine)
      : sts_flow(facts, role, "AssumeRoleWithWebIdentity"), file_(token_file), machine_(machine) {}

 private:
  flow_step ask(const flow_moment&) override {
    return blocking_step{[path = file_, &machine = machine_] { return machine.read_file(path); }};
  }
  flow_step read(result<std::string>&& text, const flow_moment& moment) override {
    if (!text) {
      error why = failure(errc::unauthenticated,
                          "cannot read the web identity token " + text.error().message());
      return again_or(why.with_retryable(text.error().code() == errc::not_found), moment);
    }
    token_ = std::move(*text);
    while (token_.ends_with('\n') || token_.ends_with('\r')) token_.pop_back();
    if (token_.empty() || token_.size() > longest_keys_reply) {
      return end(failure(errc::invalid_argument,
                         "the web identity token in " + file_ + " is empty or longer than 64 KiB"));
    }
    std::string body = form(moment);
    codec::append_percent(body.append("&WebIdentityToken="), token_);
    return role_request(role(), std::move(body));
  }
  bool corrects_clock(const http_reply&, std::string_view, const flow_moment&) override {
    return false;  // nothing is signed
  }
  std::vector<std::string_view> secrets() const override { return {token_}; }

  const std::string& file_;
  const environment& machine_;
  std::string token_{};
};

class web_identity_keys final : public credentials {
 public:
  web_identity_keys(credentials_facts facts, role_options role, std::string token_file,
                    const environment& machine)
      : credentials(std::move(facts)),
        role_(std::move(role)),
        token_file_(std::move(token_file)),
        machine_(machine) {}
  std::unique_ptr<token_flow> start() const override {
    return std::unique_ptr<token_flow>(
        new web_identity_flow(this->facts(), role_, token_file_, machine_));
  }

 private:
  role_options role_;
  std::string token_file_;
  const environment& machine_;
};

DATAFLUX_INLINE credentials_ptr make_role_keys(credentials_facts facts, role_options role,
                                               credentials_ptr source) {
  return std::make_shared<role_keys>(std::move(facts), std::move(role), std::move(source));
}

DATAFLUX_INLINE credentials_ptr make_web_identity_keys(credentials_facts facts, role_options role,
                                                       std::string token_file,
                                                       const environment& machine) {
  return std::make_shared<web_identity_keys>(std::move(facts), std::move(role),
                                             std::move(token_file), machine);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
