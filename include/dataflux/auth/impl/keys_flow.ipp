#pragma once

#include <dataflux/auth/detail/keys_flow.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

DATAFLUX_INLINE flow_step keys_flow::resume(flow_event event, const flow_moment& moment) {
  if (auto* const reply = std::get_if<result<http_reply>>(&event)) {
    if (!*reply) return unanswered(without_reply(reply->error(), facts_), moment);
    return replied(**reply, moment);
  }
  if (auto* const text = std::get_if<result<std::string>>(&event)) {
    return read(std::move(*text), moment);
  }
  return ask(moment);
}

DATAFLUX_INLINE flow_step keys_flow::unanswered(error why, const flow_moment& moment) {
  return again_or(std::move(why), moment);
}

DATAFLUX_INLINE flow_step keys_flow::read(result<std::string>&&, const flow_moment&) {
  return end(failure(errc::internal, "nothing was to be read"));
}

DATAFLUX_INLINE error keys_flow::failure(errc code, std::string_view what) const {
  return {code, facts_.describe().append(": ").append(what)};
}

DATAFLUX_INLINE error keys_flow::refused_by(const std::string& server, int status,
                                            std::string_view what) const {
  const bool temporary = is_retryable_status(status);
  std::string text = server + (temporary ? " has no " : " refuses to give ") + std::string{what};
  if (temporary) text += " now";
  if (status >= 300 && status <= 399) {
    text = server + " redirects, and no secret follows it elsewhere: name the place itself";
  }
  error e = failure(temporary ? errc_from_http_status(status) : errc::unauthenticated, text);
  return e.with_http_status(status).with_retryable(temporary);
}

DATAFLUX_INLINE flow_step keys_flow::again_or(error why, const flow_moment& moment) {
  const int made = attempts_.made();
  if (why.retryable()) {
    if (const auto wait = attempts_.after_failure(moment.random)) return *wait;
  }
  return end(std::move(why.with_attempts(made)));
}

DATAFLUX_INLINE flow_step keys_flow::end(error why) const {
  if (!facts_.passed_over.empty()) {
    why.with_message(why.message() + "; looked at before: " + facts_.passed_over);
  }
  return why;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
