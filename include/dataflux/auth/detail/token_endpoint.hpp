#pragma once

#include <dataflux/auth/detail/token_flow.hpp>
#include <dataflux/http/detail/url.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the flows share that ask an endpoint for a token.
namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// Counts the tries of one request: 1 s before the second, twice that before the third, and so on,
/// 10 % jitter either way (protocol.md 4.9).
class attempts {
 public:
  explicit attempts(int limit) noexcept : limit_(limit) {}
  /// The wait before the next try; nullopt when none is left.
  std::optional<wait_step> after_failure(double random) noexcept;
  int made() const noexcept { return made_; }

 private:
  int limit_;
  int made_{1};
  duration wait_{std::chrono::seconds(1)};
};

/// 408, 429, 500, 502, 503, 504. protocol.md 4.9 lists them without 502, which a load balancer
/// gives in front of the same endpoint (3.1).
bool is_retryable_status(int status) noexcept;

/// Reads {"access_token", "expires_in"} of a 200. Errors: internal, quoting nothing.
result<access_token> read_token(const http_reply& reply, system_time now,
                                const credentials_facts& facts);

/// May it go behind "Bearer "? Visible ASCII alone: anything else would split the field.
bool is_token_text(std::string_view text) noexcept;

/// internal: "CREDENTIALS: the reply with the token WHAT".
error malformed_reply(const credentials_facts& facts, std::string_view what);

/// What a reply other than 200 means: unauthenticated, or retryable and errc_from_http_status.
/// `reason` is the OAuth error code, or its subtype where that says that the person must log in
/// again (rapt_required), or the status of Google's APIs (PERMISSION_DENIED). The endpoint's
/// description is quoted unless it holds one of `secrets`: an endpoint that echoes what it was sent
/// must not bring it into a log. A redirect is a refusal: no secret follows it.
error refusal(const http_reply& reply, std::string_view endpoint, const credentials_facts& facts,
              const std::vector<std::string_view>& secrets);

/// The error of an exchange without a reply, naming the credentials.
error without_reply(const error& cause, const credentials_facts& facts);

/// Posts to an endpoint that gives tokens, up to three times: a form, unless content_type() says
/// otherwise.
class token_endpoint_flow : public token_flow {
 public:
  DATAFLUX_INLINE flow_step resume(flow_event event, const flow_moment& moment) override;

 protected:
  /// Both outlive the flow.
  token_endpoint_flow(const credentials_facts& facts, const http::url& endpoint);

  const credentials_facts& facts() const noexcept { return facts_; }
  std::string endpoint_name() const { return origin_->authority(); }

 private:
  virtual std::string_view content_type() const { return "application/x-www-form-urlencoded"; }
  /// Of the Authorization field; empty for none.
  virtual std::string authorization() const { return {}; }
  /// What a 200 says.
  virtual result<access_token> read(const http_reply& reply, const flow_moment& moment) {
    return read_token(reply, moment.now, facts_);
  }
  /// A refusal that no further try mends.
  virtual void refused(const error&) {}
  /// The body: a form is percent-encoded. Asked for before each try, so that an assertion is fresh.
  virtual result<std::string> form(const flow_moment& moment) = 0;
  /// Texts that were sent and that no message may show.
  virtual std::vector<std::string_view> secrets() const = 0;
  /// What to do about an OAuth error code, appended to the message; empty for nothing.
  virtual std::string_view advice(std::string_view oauth_error) const = 0;

  flow_step post(const flow_moment& moment);
  flow_step fail(error e, const flow_moment& moment);

  const credentials_facts& facts_;
  std::shared_ptr<const http::origin> origin_;
  const std::string& target_;
  attempts attempts_{3};
};

/// One that sends what another flow gives: a token in place of which the endpoint gives its own.
class sourced_flow : public token_endpoint_flow {
 public:
  DATAFLUX_INLINE flow_step resume(flow_event event, const flow_moment& moment) override;

 protected:
  /// `each_try`: the token is asked for anew before each try, not once.
  sourced_flow(const credentials_facts& facts, const http::url& endpoint, bool each_try)
      : token_endpoint_flow(facts, endpoint), each_try_(each_try) {}

  const access_token& given() const noexcept { return given_; }

 private:
  virtual std::unique_ptr<token_flow> source() = 0;
  /// May it be sent?
  virtual result<void> check(const access_token&) { return {}; }

  const bool each_try_;
  std::unique_ptr<token_flow> source_{};
  access_token given_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/token_endpoint.ipp>
#endif
