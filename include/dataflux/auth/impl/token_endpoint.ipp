#pragma once

#include <dataflux/auth/detail/token_endpoint.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/secrets.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

DATAFLUX_INLINE std::optional<wait_step> attempts::after_failure(double random) noexcept {
  if (made_ >= limit_) return std::nullopt;
  ++made_;
  const auto wait = std::chrono::duration<double>(wait_) * (0.9 + 0.2 * random);
  wait_ *= 2;
  return wait_step{std::chrono::duration_cast<duration>(wait)};
}

DATAFLUX_INLINE bool is_retryable_status(int status) noexcept {
  switch (status) {
    case 408:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
      return true;
    default:
      return false;
  }
}

DATAFLUX_INLINE bool is_token_text(std::string_view text) noexcept {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

DATAFLUX_INLINE error malformed_reply(const credentials_facts& facts, std::string_view what) {
  std::string text = facts.describe();
  return {errc::internal, text.append(": the reply with the token ").append(what)};
}

namespace token_endpoint_detail {

/// An error code of OAuth or of Google's APIs, as opposed to anything else that a server may put in
/// its place.
inline bool is_error_code(std::string_view text) noexcept {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of(letters) == std::string_view::npos;
}

/// What an endpoint says of its refusal.
struct said_refusal {
  std::string code{};
  std::string subtype{};
  std::string description{};
};

inline said_refusal read_refusal(std::string_view body) {
  said_refusal said;
  auto document = codec::json_document::parse(as_bytes(body));
  if (!document) return said;
  const codec::json_value of = document->root().find("error");
  if (of.kind() == codec::json_kind::object) {  // of Google's APIs
    said.code = of.find("status").text().value_or("");
    said.description = of.find("message").text().value_or("");
  } else {
    said.code = of.text().value_or("");
    said.subtype = document->root().find("error_subtype").text().value_or("");
    said.description = document->root().find("error_description").text().value_or("");
  }
  if (!is_error_code(said.code)) said.code.clear();
  if (!is_error_code(said.subtype)) said.subtype.clear();
  return said;
}

/// The longest life of a token that is believed: more is a broken reply, and would overflow.
inline constexpr std::int64_t longest_life = 366LL * 24 * 3600;
inline constexpr std::size_t longest_description = 200;

}  // namespace token_endpoint_detail

DATAFLUX_INLINE result<access_token> read_token(const http_reply& reply, system_time now,
                                                const credentials_facts& facts) {
  namespace d = token_endpoint_detail;
  auto document = codec::json_document::parse(as_bytes(reply.body));
  if (!document) return malformed_reply(facts, "is not valid JSON");
  const auto token = document->root().find("access_token").text();
  if (!token || !is_token_text(*token)) {
    return malformed_reply(facts, "has no usable \"access_token\"");
  }
  // Some servers write the number as a string (protocol.md 4.2), which int64() reads too.
  const auto seconds = document->root().find("expires_in").int64();
  if (!seconds || *seconds <= 0 || *seconds > d::longest_life) {
    return malformed_reply(facts, "has no usable \"expires_in\"");
  }
  return access_token{std::string{*token}, now + std::chrono::seconds(*seconds)};
}

DATAFLUX_INLINE error refusal(const http_reply& reply, std::string_view endpoint,
                              const credentials_facts& facts,
                              const std::vector<std::string_view>& secrets) {
  namespace d = token_endpoint_detail;
  d::said_refusal said = d::read_refusal(reply.body);
  std::string& description = said.description;
  if (description.size() > d::longest_description) description.clear();
  const bool tells = std::any_of(secrets.begin(), secrets.end(), [&](std::string_view secret) {
    return !secret.empty() && codec::without_secret(description, secret) != description;
  });
  if (tells) description.clear();

  const std::string& code = said.code;
  const bool temporary = is_retryable_status(reply.status) || code == "internal_failure" ||
                         code == "server_error" || code == "temporarily_unavailable";
  std::string text = facts.describe();
  text.append(temporary ? ": no token from " : ": refused by ").append(endpoint);
  if (reply.status >= 300 && reply.status <= 399) {
    text.append(", which redirects, and no secret follows it elsewhere: name the place itself");
  }
  if (!code.empty()) text.append(": ").append(code);
  if (!description.empty()) text.append(": ").append(description);
  errc kind = errc::unauthenticated;
  if (temporary) {
    kind =
        is_retryable_status(reply.status) ? errc_from_http_status(reply.status) : errc::unavailable;
  }
  const bool logs_in_again = said.subtype.find("rapt") != std::string::npos;
  error e{kind, std::move(text)};
  return e.with_http_status(reply.status)
      .with_reason(logs_in_again ? said.subtype : code)
      .with_retryable(temporary);
}

DATAFLUX_INLINE error without_reply(const error& cause, const credentials_facts& facts) {
  error e = cause;
  return e.with_message(facts.describe() + ": " + cause.message());
}

DATAFLUX_INLINE token_endpoint_flow::token_endpoint_flow(const credentials_facts& facts,
                                                         const http::url& endpoint)
    : facts_(facts),
      origin_(std::make_shared<const http::origin>(endpoint.origin)),
      target_(endpoint.target) {}

DATAFLUX_INLINE flow_step token_endpoint_flow::resume(flow_event event, const flow_moment& moment) {
  const auto* const outcome = std::get_if<result<http_reply>>(&event);
  if (outcome == nullptr) return post(moment);
  if (!*outcome) return fail(without_reply(outcome->error(), facts_), moment);
  const http_reply& reply = **outcome;
  if (reply.status != 200) {
    return fail(refusal(reply, origin_->authority(), facts_, secrets()), moment);
  }
  auto token = read(reply, moment);
  if (!token) return fail(std::move(token).error(), moment);
  return std::move(*token);
}

DATAFLUX_INLINE flow_step token_endpoint_flow::post(const flow_moment& moment) {
  auto body = form(moment);
  if (!body) return std::move(body).error();
  http_step step;
  step.request.method = http::method::post;
  step.request.origin = origin_;
  step.request.target = target_;
  step.request.headers.add("Content-Type", content_type());
  step.request.headers.add("Accept", "application/json");
  if (const std::string value = authorization(); !value.empty()) {
    step.request.headers.add("Authorization", value);
  }
  step.body = std::move(*body);
  return step;
}

DATAFLUX_INLINE flow_step token_endpoint_flow::fail(error e, const flow_moment& moment) {
  const int made = attempts_.made();
  if (e.retryable()) {
    if (const auto wait = attempts_.after_failure(moment.random)) return *wait;
  }
  refused(e);
  if (const std::string_view what_to_do = advice(e.reason()); !what_to_do.empty()) {
    e.with_message(e.message() + "; " + std::string{what_to_do});
  }
  return e.with_attempts(made);
}

DATAFLUX_INLINE flow_step sourced_flow::resume(flow_event event, const flow_moment& moment) {
  const bool begins = std::holds_alternative<std::monostate>(event);
  if (begins && source_ == nullptr && (each_try_ || given_.value.empty())) source_ = source();
  if (source_ == nullptr) return token_endpoint_flow::resume(std::move(event), moment);
  flow_step step = source_->resume(std::move(event), moment);
  auto* const token = std::get_if<access_token>(&step);
  if (token == nullptr) return step;
  given_ = std::move(*token);
  source_.reset();
  if (auto good = check(given_); !good) return std::move(good).error();
  return token_endpoint_flow::resume(std::monostate{}, moment);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
