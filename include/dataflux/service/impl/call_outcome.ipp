#pragma once

#include <dataflux/codec/detail/secrets.hpp>
#include <dataflux/detail/or_default.hpp>
#include <dataflux/service/detail/call.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

/// What became of an attempt, and what is next.
namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// An attempt that did nothing and may do better when it is made again.
inline constexpr http::attempt_outcome nothing_carried_out{
    .failure = http::transport_failure::closed_early, .request_sent = false};

/// Of one call: what was damaged on its way so often was damaged before.
inline constexpr int most_damaged = 2;

/// What its endpoint may mend is tried again like a request. An endpoint's status says nothing of
/// the object: the error of a credential is never examined as the service's own is.
DATAFLUX_INLINE void call::without_credential(const error& e) {
  if (!e.retryable()) {
    error told = e;
    if (e.http_status() == 0) tell_met(told);  // such as the refusal for which one is missing
    return finish(std::move(told));
  }
  auto outcome = nothing_carried_out;
  outcome.nobody = e.http_status() == 0 && !core_->answered();
  outcome.retry_after = e.retry_after();
  decide(outcome, e);
}

/// What was met until then says more than that the time has passed.
DATAFLUX_INLINE void call::tell_met(error& late) const {
  if (!met_) return;
  late.with_http_status(met_->http_status()).with_reason(met_->reason());
  late.with_request_id(met_->request_id())
      .with_message(late.message() + "; attempt " + std::to_string(retry_.attempts) +
                    " met: " + met_->message());
}

/// Some services repeat the token, or a session's URL or id, in their error's text; their id of a
/// session's request is the session's, too. Of "Bearer TOKEN" the token is the secret.
DATAFLUX_INLINE std::array<std::string_view, 4> call::secrets() const noexcept {
  std::string_view sent = credential_.secret;
  sent.remove_prefix(std::min(sent.find(' ') + 1, sent.size()));
  const auto own = own_secrets();
  return {own[0], own[1], sent, core_->dialect->secret()};
}

/// What we say ourselves quotes what a server sent, too.
DATAFLUX_INLINE void call::keep_secret(error& e) const {
  if (identity().session) e.with_request_id({});
  const auto hidden = secrets();
  e.with_message(codec::without_secrets(e.message(), hidden));
  e.with_reason(codec::without_secrets(e.reason(), hidden));
  e.with_request_id(codec::without_secrets(e.request_id(), hidden));
}

/// A connection that ends without a word where nobody said that it is secure is often a port that
/// wants TLS.
inline std::string words_of_break(const dialect& how, const http::exchange_report& report,
                                  const http::origin& to) {
  if (report.failure == http::transport_failure::wrong_protocol) {
    return how.not_the_service(report.detail);
  }
  const bool without_a_word = report.request_sent && report.first_byte == never &&
                              !report.connection_reused && !to.tls &&
                              (report.failure == http::transport_failure::reset ||
                               report.failure == http::transport_failure::closed_early);
  return without_a_word ? report.detail + "; is it an HTTP server, and not one for https?"
                        : report.detail;
}

/// A byte now and then is no progress, nor is one a connection.
DATAFLUX_INLINE bool call::got_on(const http::exchange_report& report) const {
  if (report.bytes_received == 0) return false;
  const duration taken = executor->now() - report.first_byte;
  return report.bytes_received >=
         least_bytes_in(core_->options, std::max<duration>(taken, std::chrono::seconds(1)));
}

/// Only if nothing else explains the refusal: the reply to the question costs a request.
DATAFLUX_INLINE bool call::asks_why(const error& e) {
  const bool unexplained = signed_ && leg_ == leg::first && e.reason().empty() && asked().head &&
                           core_->dialect->hides_reason(status_);
  if (!unexplained) return false;
  unexplained_ = e;
  met_ = e;  // told if the time passes before the answer
  leg_ = leg::question;
  return true;
}

/// The question was not refused: then the HEAD's refusal is the last word, or has passed.
DATAFLUX_INLINE bool call::is_answered() const noexcept {
  return leg_ == leg::question && ((status_ >= 200 && status_ <= 299) || status_ == 416);
}

/// Something between that knows no reasons has refused the question, or it was lost. One that was
/// lost is asked once more, in another attempt. Then the HEAD's refusal is the last word here, too.
DATAFLUX_INLINE bool call::is_asked_in_vain(const http::exchange_report& report, const error& e) {
  using failed = http::transport_failure;
  if (leg_ != leg::question) return false;
  const failed how = report.failure;
  if (how == failed::none) {
    if (status_ < 400 || !e.reason().empty()) return false;
    return status_ < 500 || std::exchange(asked_in_vain_, true);
  }
  const bool by_caller = how == failed::cancelled || how == failed::deadline;
  const bool by_us = how == failed::forked || how == failed::memory;
  return !by_caller && !by_us && std::exchange(asked_in_vain_, true);
}

/// Of no reply, or of one that is no success.
DATAFLUX_INLINE error call::error_of(const http::exchange_report& report) {
  const dialect& how = *core_->dialect;
  if (report.failure == http::transport_failure::none) {
    return how.parse_error(asked(), facts_, body_.bytes(), secrets());
  }
  return error(http::errc_from_failure(report.failure),
               words_of_break(how, report, *request.origin))
      .with_retryable(http::may_be_retried(report.failure))
      .with_http_status(status_);
}

/// No reply, or one that is no success.
DATAFLUX_INLINE void call::settle(const http::exchange_report& report) {
  if (report.failure == http::transport_failure::refused && refusal_) {
    end_turn(http::pace_outcome::not_rejected);
    return settle(std::move(*refusal_));
  }
  error e = error_of(report);
  const bool answered = is_answered() || is_asked_in_vain(report, e);
  const bool broke_off = !answered && report.failure != http::transport_failure::none;
  if (answered) {
    e = *std::move(unexplained_);
    status_ = e.http_status();
  }
  keep_secret(e);
  const bool elsewhere = !broke_off && is_elsewhere();
  const bool mendable = !broke_off && !elsewhere && may_be_mended(e);
  if (!broke_off && !elsewhere && !mendable && asks_why(e)) return send(admitted_);
  const auto meaning = broke_off ? http::reply_class::transient
                                 : core_->dialect->classify(asked(), status_, e.reason());
  const bool rejected = meaning == http::reply_class::throttled;
  // Any other 503 is trouble of one machine and says nothing about how much may be asked.
  if (rejected) ++refusals_;
  end_turn(rejected ? http::pace_outcome::rejected : http::pace_outcome::not_rejected);
  if (broke_off && accepted_ && info().reply_limit == 0 && got_on(report)) {
    // A read goes on behind the bytes that it got: however long it is, its breaks are separate.
    retry_.progressed();
    retry_.started = executor->now();
  }
  if (sent_damaged(e)) return decide(nothing_carried_out, e);
  const bool sent = report.request_sent || report.resent;
  decide({.http_status = broke_off ? 0 : status_,
          .failure = answered ? http::transport_failure::none : report.failure,
          // Without its body a write is refused or led on, unless something between follows for it.
          .request_sent = sent && (!held_back_ || status_ == 0),
          .nobody = broke_off && !sent && !core_->answered(),
          .mendable = mendable,
          .elsewhere = elsewhere,
          .reason = e.reason(),
          .meaning = meaning,
          .retry_after = broke_off ? duration::zero() : duration(facts_.retry_after)},
         e);
}

/// A request without its body was carried out, or refused since a checksum was not of no bytes: it
/// has met no redirect.
DATAFLUX_INLINE bool call::is_led_on(const http::exchange_report& report) {
  if (report.failure != http::transport_failure::none || leg_ == leg::redirected) return false;
  if (!accepted_) led_to_ = core_->dialect->redirect_of(facts_);
  if (!accepted_ && led_to_) {
    leg_ = leg::redirected;
    return true;
  }
  if (!held_back_ || (!accepted_ && status_ != 500)) return false;
  if (accepted_) retry_.may_have_been_executed = true;
  leg_ = leg::whole;
  return true;
}

/// Says so once: a service that sends a call around gets no further.
DATAFLUX_INLINE bool call::is_elsewhere() {
  if (moved_ || !core_->dialect->moved(identity(), facts_, body_.bytes())) return false;
  return moved_ = true;
}

/// By another signature. A second refusal in a row is believed.
DATAFLUX_INLINE bool call::may_be_mended(const error& e) {
  if (!signed_ || retry_.signed_again || status_ < 400 || status_ > 499) return false;
  return core_->signer->refused(credential_, {.status = status_,
                                              .reason = e.reason(),
                                              .date = facts_.date,
                                              .age = executor->now() - signed_at_});
}

/// A reply of success that is not what it should be: cut or damaged on the way (retryable), or not
/// the service's.
DATAFLUX_INLINE void call::settle(error e) {
  if (e.http_status() == 0) e.with_http_status(status_);
  keep_secret(e);
  if (sent_damaged(e)) return decide(nothing_carried_out, e);
  if (!e.retryable()) {
    ++retry_.attempts;
    return fail_or_investigate(std::move(e));
  }
  decide({.http_status = 0, .failure = http::transport_failure::closed_early}, e);
}

/// The service refused it for its checksum, or gave it back with another one. What was stored
/// damaged, by a generation(), is another matter.
DATAFLUX_INLINE bool call::sent_damaged(error& e) {
  if (e.code() != errc::data_loss || e.generation() != 0 || !damage_is_repeated()) return false;
  if (damaged_++ == most_damaged) return false;
  e.with_retryable(true);
  return true;
}

/// Says so where a short timeout, and not the policy, keeps a failure from being repeated.
DATAFLUX_INLINE error call::untried(error e, http::stop_reason reason) const {
  const duration most =
      detail::or_default(core_->options.retry.max_elapsed, retry_policy{}.max_elapsed);
  if (reason != http::stop_reason::elapsed || deadline_ >= deadline_after(retry_.started, most)) {
    return e;
  }
  e.with_message(e.message() + "; the call's timeout leaves no time for another attempt");
  return e;
}

DATAFLUX_INLINE void call::decide(const http::attempt_outcome& outcome, const error& e) {
  const auto now = executor->now();
  const auto next = http::decide(core_->options.retry, retry_, outcome, now, client_core::random(),
                                 &core_->retry_budget);
  if (next.action == http::retry_action::stop) return fail_or_investigate(untried(e, next.reason));
  next_step_ = next;
  const bool silent = outcome.failure != http::transport_failure::none && outcome.request_sent &&
                      http::may_have_been_executed(outcome.failure);
  if (next.action == http::retry_action::retry && look_first(e, silent)) return;
  go_on(e);
}

DATAFLUX_INLINE void call::go_on(const error& e) {
  const http::retry_decision& next = next_step_;
  const bool throttled = next.action == http::retry_action::pace;
  met_ = e;
  (throttled ? core_->totals.paced : core_->totals.retries).fetch_add(1, std::memory_order_relaxed);
  if (observer* const sees = core_->options.observer; sees != nullptr) {
    const call_identity about = identity();
    sees->on_retry({.verb = about.verb,
                    .bucket = about.bucket,
                    .object = about.object,
                    .attempt = retry_.attempts,
                    .delay = next.delay,
                    .cause = &e,
                    .scheme = core_->dialect->scheme()});
  }
  if (auto ready = prepare_retry(); !ready) return finish(std::move(ready).error());
  if (next.delay == duration::zero()) return attempt();
  wait_until(executor->now() + next.delay, &call::attempt);
}

DATAFLUX_INLINE void call::fail_or_investigate(error e) {
  if (!stopped() && investigate(e, retry_.may_have_been_executed)) return;
  finish(std::move(e));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
