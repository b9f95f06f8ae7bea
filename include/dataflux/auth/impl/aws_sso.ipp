#pragma once

#include <dataflux/auth/detail/aws_sources.hpp>
#include <dataflux/auth/detail/keys_flow.hpp>
#include <dataflux/auth/detail/keys_reply.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/detail/hexadecimal.hpp>

#include <openssl/evp.h>

#include <array>
#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

inline constexpr int sso_tries = 3;
inline constexpr std::chrono::minutes login_renewed_before{15};

/// The file that a login leaves behind.
struct sso_login {
  std::string token{};
  timestamp expires{};
  /// All of them are there, or no renewal is possible.
  std::string refresh_token{};
  std::string client_id{};
  std::string client_secret{};
  std::string registration_expires{};
  std::string start_url{};
  std::string region{};

  bool renewable(system_time now) const {
    const auto end = parse_timestamp(registration_expires);
    return !refresh_token.empty() && !client_id.empty() && !client_secret.empty() && end &&
           *end > now;
  }

  static result<sso_login> parse(std::string_view json) {
    const auto bad = [](std::string_view what) {
      return error{errc::invalid_argument, std::string{what}};
    };
    if (json.size() > longest_keys_reply) return bad("is longer than 64 KiB");
    auto document = codec::json_document::parse(as_bytes(json));
    if (!document) return bad("is not valid JSON");
    const auto get = [&](std::string_view name) {
      return std::string{document->root().find(name).text().value_or("")};
    };
    sso_login login;
    login.token = get("accessToken");
    const auto end = parse_timestamp(get("expiresAt"));
    if (login.token.empty() || !is_key_text(login.token, longest_session_token) || !end) {
      return bad("has no accessToken with an expiresAt");
    }
    login.expires = *end;
    login.refresh_token = get("refreshToken");
    login.client_id = get("clientId");
    login.client_secret = get("clientSecret");
    login.registration_expires = get("registrationExpiresAt");
    login.start_url = get("startUrl");
    login.region = get("region");
    return login;
  }

  std::string to_json() const {
    codec::json_writer out;
    out.begin_object().key("startUrl").string(start_url).key("region").string(region);
    out.key("accessToken").string(token).key("expiresAt").string(to_string(expires));
    out.key("clientId").string(client_id).key("clientSecret").string(client_secret);
    out.key("registrationExpiresAt").string(registration_expires);
    out.key("refreshToken").string(refresh_token).end_object();
    return std::move(out).take();
  }
};

/// Reads the login, renews it and replaces its file when its end is near, and asks for keys.
class sso_flow final : public keys_flow {
 public:
  sso_flow(const credentials_facts& facts, const sso_options& options, const environment& machine)
      : keys_flow(facts, sso_tries), options_(options), machine_(machine) {}

 private:
  enum class phase { read, renew, write, keys };

  flow_step ask(const flow_moment& moment) override {
    switch (phase_) {
      case phase::read:
        return blocking_step{
            [path = options_.cache_file, &machine = machine_] { return machine.read_file(path); }};
      case phase::renew:
        return renew();
      case phase::write:
        return blocking_step{[path = options_.cache_file, text = login_.to_json(),
                              &machine = machine_]() -> result<std::string> {
          if (auto good = machine.replace_file(path, text); !good) return std::move(good).error();
          return std::string();
        }};
      case phase::keys:
        break;
    }
    static_cast<void>(moment);
    return keys();
  }

  flow_step read(result<std::string>&& text, const flow_moment& moment) override {
    if (phase_ == phase::write)
      return go_to(phase::keys, moment);  // the token is good all the same
    if (!text) {
      return end(failure(errc::unauthenticated,
                         "no login: " + text.error().message() + "; " + options_.advice));
    }
    auto login = sso_login::parse(*text);
    if (!login) {
      return end(
          failure(errc::invalid_argument,
                  options_.cache_file + " " + login.error().message() + "; " + options_.advice));
    }
    login_ = std::move(*login);
    const bool over = login_.expires <= moment.now;
    const bool soon = login_.expires <= moment.now + login_renewed_before;
    if (soon && login_.renewable(moment.now)) return go_to(phase::renew, moment);
    return over ? login_over() : go_to(phase::keys, moment);
  }

  flow_step renew() const {
    codec::json_writer out;
    out.begin_object().key("clientId").string(login_.client_id);
    out.key("clientSecret").string(login_.client_secret);
    out.key("grantType").string("refresh_token");
    out.key("refreshToken").string(login_.refresh_token).end_object();
    http_step step;
    step.request.method = http::method::post;
    step.request.origin = std::make_shared<const http::origin>(options_.oidc.origin);
    step.request.target = path_of(options_.oidc) + "/token";
    step.request.headers.add("Content-Type", "application/json");
    step.body = std::move(out).take();
    // A refresh token may be good for one use.
    step.idempotent = false;
    return step;
  }

  flow_step keys() const {
    http_step step;
    step.request.origin = std::make_shared<const http::origin>(options_.portal.origin);
    std::string& target = step.request.target;
    target = path_of(options_.portal) + "/federation/credentials?role_name=";
    codec::append_percent(target, options_.role);
    codec::append_percent(target.append("&account_id="), options_.account);
    step.request.headers.add("x-amz-sso_bearer_token", login_.token);
    return step;
  }

  static std::string path_of(const http::url& base) {
    return base.target == "/" ? std::string() : base.target;
  }

  flow_step go_to(phase next, const flow_moment& moment) {
    phase_ = next;
    allow(sso_tries);
    return ask(moment);
  }

  flow_step login_over() const {
    return end(failure(errc::unauthenticated, "the login has expired; " + options_.advice));
  }

  /// The old token is used to its end.
  flow_step not_renewed(error why, const flow_moment& moment) {
    if (login_.expires > moment.now) return go_to(phase::keys, moment);
    if (why.retryable()) return again_or(std::move(why), moment);
    return login_over();
  }

  flow_step unanswered(error why, const flow_moment& moment) override {
    if (phase_ == phase::renew) return not_renewed(std::move(why), moment);
    return again_or(std::move(why), moment);
  }

  flow_step replied(const http_reply& reply, const flow_moment& moment) override {
    if (phase_ == phase::renew) return after_renewal(reply, moment);
    const std::string server = options_.portal.origin.authority();
    if (reply.status == 401) return login_over();
    if (reply.status == 403) {
      return end(failure(errc::unauthenticated, "this login may not use role \"" + options_.role +
                                                    "\" of account " + options_.account));
    }
    if (reply.status != 200) return again_or(refused_by(server, reply.status), moment);
    if (reply.body.size() > longest_keys_reply) {
      return end(failure(errc::internal, server + ": the reply is longer than 64 KiB"));
    }
    auto document = codec::json_document::parse(as_bytes(reply.body));
    if (!document) return end(failure(errc::internal, server + ": the reply is not valid JSON"));
    auto keys = read_keys(document->root().find("roleCredentials"),
                          {.id = "accessKeyId",
                           .secret = "secretAccessKey",
                           .session_token = "sessionToken",
                           .expires = "expiration"},
                          answer_time::of(reply, moment.now));
    if (!keys) return end(failure(errc::internal, server + ": " + keys.error().message()));
    if (keys->expires > moment.now) return std::move(*keys);
    return end(failure(errc::internal, server + " gave keys that had expired"));
  }

  flow_step after_renewal(const http_reply& reply, const flow_moment& moment) {
    const std::string server = options_.oidc.origin.authority();
    if (reply.status != 200) return not_renewed(refused_by(server, reply.status), moment);
    const auto unreadable = [&] {
      return not_renewed(failure(errc::internal, server + ": the reply has no token"), moment);
    };
    if (reply.body.size() > longest_keys_reply) return unreadable();
    auto document = codec::json_document::parse(as_bytes(reply.body));
    if (!document) return unreadable();
    constexpr std::int64_t longest = 366LL * 24 * 3600;
    const auto token = document->root().find("accessToken").text();
    const auto seconds = document->root().find("expiresIn").int64();
    const auto next = document->root().find("refreshToken").text();
    const bool good = token && !token->empty() && is_key_text(*token, longest_session_token) &&
                      seconds && *seconds > 0 && *seconds <= longest;
    if (!good) return unreadable();
    login_.token = *token;
    login_.expires =
        std::chrono::floor<std::chrono::seconds>(moment.now) + std::chrono::seconds(*seconds);
    if (next && !next->empty()) login_.refresh_token = *next;
    return go_to(phase::write, moment);
  }

  const sso_options& options_;
  const environment& machine_;
  phase phase_{phase::read};
  sso_login login_{};
};

class sso_keys final : public credentials {
 public:
  sso_keys(credentials_facts facts, sso_options options, const environment& machine)
      : credentials(std::move(facts)), options_(std::move(options)), machine_(machine) {}
  std::unique_ptr<token_flow> start() const override {
    return std::unique_ptr<token_flow>(new sso_flow(this->facts(), options_, machine_));
  }

 private:
  sso_options options_;
  const environment& machine_;
};

DATAFLUX_INLINE credentials_ptr make_sso_keys(credentials_facts facts, sso_options options,
                                              const environment& machine) {
  return std::make_shared<sso_keys>(std::move(facts), std::move(options), machine);
}

DATAFLUX_INLINE std::string sha1_hex(std::string_view text) {
  std::array<unsigned char, 20> digest{};
  unsigned size = 0;
  std::string out;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1) {
    return out;
  }
  for (const unsigned char byte : digest) detail::append_hex(out, byte, 2);
  return out;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
