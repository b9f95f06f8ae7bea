#pragma once

#include <dataflux/detail/timeout_text.hpp>
#include <dataflux/service/detail/call.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

/// A call is in one of six phases. idle: one of its own functions runs. credential: it waits for
/// the signer. turn: it stands in the line of its bucket and kind of request. exchange: the
/// transport has it. wait: a timer runs before another attempt. finished.
///
/// launch() runs on the caller's thread: it registers the call with the client and posts begin() to
/// the call's executor, where all the rest is. attempt() asks for a credential and then for a
/// turn. send() builds the request and has it signed. on_head() gives the sink of an accepted
/// reply, or keeps the body of an error. on_done() follows a redirect, or ends the
/// attempt: a good reply is taken, and the call is done or goes on at once. Everything else goes to
/// settle() (call_outcome.ipp), which asks why a HEAD was refused, ends the call or leads back to
/// attempt().
///
/// stop() comes from any thread and posts cancel_here(), which ends the phase that the call is in.
/// The deadline ends credential and turn by a timer, cuts wait short, and is the transport's in an
/// exchange. finish() runs once: it takes timer and stop back, calls the completion and leaves the
/// client.
namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// What is kept of the body of an error reply.
inline constexpr std::size_t error_body_limit = std::size_t{64} << 10U;
/// What a call that waits for its next use keeps of its buffer.
inline constexpr std::size_t kept_body_limit = std::size_t{4} << 10U;

/// Kept, it must not keep the core alive. One that could not begin goes, since whoever waits for it
/// hears of that by the end of its completion.
DATAFLUX_INLINE void call::last_reference_gone() noexcept {
  const ref<client_core> core = std::move(core_);
  body_.release_if_larger(kept_body_limit);
  const bool kept = core && phase_ == phase::finished && recycled() && core->put_back(*this);
  if (!kept) delete this;
}

DATAFLUX_INLINE void call::reuse(ref<client_core> core) noexcept {
  revive();
  core_ = std::move(core);
  id_ = client_core::random_id();
  executor = nullptr;
  phase_ = phase::idle;
  stopped_.store(false, std::memory_order_relaxed);
  accepted_ = admitted_to_line_ = moved_ = false;
  status_ = 0;
  retry_ = {};
  first_sent_ = never;
  refusals_ = damaged_ = 0;
  deadline_ = never;
  bad_.reset();
  met_.reset();
  unexplained_.reset();
  asked_in_vain_ = false;
}

DATAFLUX_INLINE void call::launch(const call_limits& allowed, std::optional<error> bad) {
  timeout_ = allowed.timeout;
  stop_token_ = allowed.stop;
  bad_ = std::move(bad);
  if (core_->forked()) {
    error inherited = forked_error("client");
    inherited.with_verb(identity().verb)
        .with_scheme(core_->dialect->scheme())
        .with_bucket(identity().bucket)
        .with_object(identity().object);
    return conclude(std::move(inherited));
  }
  if (executor == nullptr) executor = &core_->transport().next_executor();
  const call_identity about = identity();
  for (const std::string_view bucket : {about.bucket, about.source_bucket}) {
    if (!bad_ && !bucket.empty()) bad_ = core_->dialect->refuse_bucket(bucket);
  }
  for (const std::string_view object : {about.object, about.source}) {
    if (!bad_ && !object.empty()) bad_ = core_->dialect->refuse_object(object);
  }
  if (!core_->enter(*this)) stop();
  const bool posted = detail::within_memory([this] {
    executor->post(
        [self = ref<call>::share(this)] { self->within_memory([&self] { self->begin(); }); });
  });
  if (posted) return;
  core_->leave(*this);
  conclude(detail::short_of_memory());
}

DATAFLUX_INLINE void call::stop() noexcept {
  stopped_.store(true, std::memory_order_relaxed);
  detail::within_memory([this] {
    executor->post(
        [self = ref<call>::share(this)] { self->within_memory([&self] { self->cancel_here(); }); });
  });
}

/// In the midst of a step. What the transport has ends by itself.
DATAFLUX_INLINE void call::finish_short() noexcept {
  if (phase_ == phase::exchange || phase_ == phase::finished) return;
  if (phase_ == phase::credential) {
    core_->signer->cancel(std::exchange(credential_wait_, signer_wait::none));
  } else if (phase_ == phase::turn && !line_->leave(*this)) {
    return;
  }
  end_turn(http::pace_outcome::not_rejected);
  finish(detail::short_of_memory(retry_.may_have_been_executed));
}

DATAFLUX_INLINE void call::end_turn(http::pace_outcome outcome) noexcept {
  if (!std::exchange(admitted_to_line_, false)) return;
  line_->report(admitted_, executor->now(), outcome);
}

DATAFLUX_INLINE void call::begin() {
  retry_.started = executor->now();
  if (timeout_ > duration::zero()) deadline_ = deadline_after(retry_.started, timeout_);
  retry_.deadline = deadline_;
  if (bad_) return finish(std::move(bad_));
  on_stop_.begin(stop_token_, *this);
  if (const auto about = identity(); line_ == nullptr || line_->bucket() != about.bucket) {
    line_ = &core_->line_of(about.bucket, info().pacing);
  }
  attempt_at(retry_.started);
}

/// Everything that has to be there before a connection is asked for: a credential, and our turn.
DATAFLUX_INLINE void call::attempt_at(time_point now) {
  begun_ = now;
  leg_ = leg::first;
  if (stopped()) return finish(stopped_error());
  if (deadline_ <= now) return deadline_here();
  if (const auto given = core_->signer->try_get(now)) return with_credential(*given, now);
  phase_ = phase::credential;
  credential_wait_ = core_->signer->await(
      *executor, [self = ref<call>::share(this)](result<credential_view> given) {
        self->credential_wait_ = signer_wait::none;
        if (self->phase_ != phase::credential) return;
        self->phase_ = phase::idle;
        self->within_memory([&] {
          if (!given) return self->without_credential(given.error());
          self->with_credential(*given, self->executor->now());
        });
      });
  watch_deadline();
}

/// While somebody else decides when the call goes on.
DATAFLUX_INLINE void call::watch_deadline() {
  if (deadline_ == never || timer_ != timer_id::none) return;
  timer_ = executor->at(deadline_, [self = ref<call>::share(this)] {
    self->timer_ = timer_id::none;
    if (self->phase_ != phase::credential && self->phase_ != phase::turn) return;
    self->within_memory([&self] { self->deadline_here(); });
  });
}

DATAFLUX_INLINE void call::with_credential(const credential_view& given, time_point now) {
  credential_.assign(given);
  line_->enter(*this, now);
  if (phase_ == phase::turn) watch_deadline();
}

DATAFLUX_INLINE void call::on_turn(time_point admitted) {
  if (phase_ != phase::turn || stopped() || deadline_ <= executor->now()) {
    line_->report(admitted, executor->now(), http::pace_outcome::not_rejected);
    if (phase_ != phase::turn) return;
    phase_ = phase::idle;
    return stopped() ? finish(stopped_error()) : deadline_here();
  }
  phase_ = phase::idle;
  send(admitted);
}

DATAFLUX_INLINE void call::wait_until(time_point when, void (call::*then)()) {
  if (when >= deadline_) {
    // Waiting any longer makes no sense: the deadline comes first.
    when = deadline_;
    then = &call::deadline_here;
  }
  phase_ = phase::wait;
  if (timer_ != timer_id::none) executor->cancel(timer_);
  timer_ = executor->at(when, [self = ref<call>::share(this), then] {
    self->timer_ = timer_id::none;
    self->phase_ = phase::idle;
    self->within_memory([&] {
      if (self->stopped()) return self->finish(self->stopped_error());
      (self.get()->*then)();
    });
  });
}

DATAFLUX_INLINE void call::send(time_point admitted) {
  admitted_ = admitted;
  admitted_to_line_ = true;
  build();
  if (leg_ == leg::redirected) {
    request.origin = std::make_shared<const http::origin>(led_to_->origin);
    request.target = led_to_->target;
  }
  if (leg_ == leg::question) core_->dialect->ask_why(identity(), request);
  held_back_ = leg_ == leg::first && core_->dialect->holds_back(request);
  if (held_back_) request.body.clear();
  request.headers.add(core_->own_fields);
  core_->dialect->add_fields(id_, request.headers);
  // A session may be at another host, which needs no signature and must not get one.
  signed_ = core_->dialect->trusts(request);
  if (signed_) {
    signed_at_ = executor->now();
    const std::string region = core_->dialect->region_of(identity().bucket);
    auto good = core_->signer->sign({request, body_digest(), region, signed_at_}, credential_);
    if (!good) {
      end_turn(http::pace_outcome::not_rejected);
      return without_credential(good.error());
    }
  }
  const call_options& o = core_->options;
  limits = {.connect = o.connect_timeout,
            .first_byte = info().slow_reply ? o.complete_timeout : o.first_byte_timeout,
            .stall = o.stall_timeout,
            .least_bytes = least_bytes_in(o, o.throughput_window),
            .window = info().slow_reply ? duration::zero() : o.throughput_window,
            .deadline = deadline_};
  idempotent = repeatable();
  retry_.idempotent = idempotent || survives();
  if (first_sent_ == never) first_sent_ = executor->now();
  status_ = 0;
  accepted_ = false;
  refusal_.reset();
  phase_ = phase::exchange;
  core_->transport().submit(ref<http::exchange>::share(this));
}

DATAFLUX_INLINE result<byte_sink*> call::on_head(const http::reply_head& head) {
  status_ = head.status();
  if (leg_ == leg::question || !accepts(status_)) {
    core_->dialect->gather_facts(head, facts_);
    using excess = collecting_sink::excess;
    body_.reset(error_body_limit, is_answered() ? excess::refuse : excess::drop);
    return &body_;
  }
  accepted_ = true;
  if (info().reply_limit != 0) core_->dialect->gather_facts(head, facts_);
  auto sink = open_body(head);
  if (!sink) refusal_ = sink.error();
  return sink;
}

DATAFLUX_INLINE void call::on_moved(std::size_t sent, std::size_t received) noexcept {
  counted_sent_ += sent;
  counted_received_ += received;
  if (sent != 0) core_->totals.bytes_sent.fetch_add(sent, std::memory_order_relaxed);
  if (received != 0) core_->totals.bytes_received.fetch_add(received, std::memory_order_relaxed);
}

DATAFLUX_INLINE void call::on_done(http::exchange_report& report) noexcept {
  phase_ = phase::idle;
  within_memory([&] { ended(report); });
}

DATAFLUX_INLINE void call::ended(http::exchange_report& report) {
  const time_point now = executor->now();
  core_->latencies.add(verb_, begun_, report, now);
  report_attempt(report, now);
  if (status_ != 0) core_->has_answered();
  if (report.resent) retry_.may_have_been_executed = true;
  if (report.failure == http::transport_failure::memory) {
    if (report.request_sent) retry_.may_have_been_executed = true;
    return finish_short();
  }
  if (is_led_on(report)) return send(admitted_);
  if (report.failure != http::transport_failure::none || !accepted_) return settle(report);
  end_turn(http::pace_outcome::not_rejected);
  auto taken = take_reply();
  if (!taken) return settle(std::move(taken).error());
  ++retry_.attempts;
  core_->retry_budget.succeeded();
  if (*taken == progress::done) return finish(std::nullopt);
  if (*taken == progress::more) {
    retry_.progressed();
    retry_.started = executor->now();
  }
  const duration rest = pause();
  if (rest == duration::zero()) return attempt();
  wait_until(executor->now() + rest, &call::attempt);
}

DATAFLUX_INLINE void call::report_attempt(const http::exchange_report& report, time_point now) {
  counters& totals = core_->totals;
  if (status_ != 0) totals.count(info().billing);
  // What was moved twice, since a kept connection had broken, was counted twice.
  const auto add_rest = [](std::atomic<std::uint64_t>& to, std::uint64_t all,
                           std::uint64_t& counted) {
    const std::uint64_t rest = all - std::min(all, std::exchange(counted, 0));
    if (rest != 0) to.fetch_add(rest, std::memory_order_relaxed);
  };
  add_rest(totals.bytes_sent, report.bytes_sent, counted_sent_);
  add_rest(totals.bytes_received, report.bytes_received, counted_received_);
  observer* const sees = core_->options.observer;
  if (sees == nullptr) return;
  const call_identity about = identity();
  sees->on_request({.verb = about.verb,
                    .bucket = about.bucket,
                    .object = about.object,
                    .attempt = retry_.attempts + 1,
                    .http_status = status_,
                    .billed_as = info().billing,
                    .connection_reused = report.connection_reused,
                    .bytes_sent = report.bytes_sent,
                    .bytes_received = report.bytes_received,
                    .started = report.started,
                    .first_byte = report.first_byte,
                    .finished = now,
                    .scheme = core_->dialect->scheme()});
}

/// Whatever the call is waiting for, it waits no more.
DATAFLUX_INLINE void call::cancel_here() {
  switch (phase_) {
    case phase::credential:
      // If the handler is about to run it finds the phase changed and does nothing.
      core_->signer->cancel(std::exchange(credential_wait_, signer_wait::none));
      return finish(stopped_error());
    case phase::turn:
      return line_->leave(*this) ? finish(stopped_error()) : void();  // or on_turn() checks
    case phase::wait:
      if (!executor->cancel(std::exchange(timer_, timer_id::none))) return;  // it checks itself
      return finish(stopped_error());
    case phase::exchange:
      return core_->transport().cancel(ref<http::exchange>::share(this));
    case phase::idle:
    case phase::finished:
      return;  // attempt() checks; a side call is cancelled by the same token
  }
}

DATAFLUX_INLINE void call::deadline_here() {
  std::string text{timeout_text};
  if (phase_ == phase::credential) {
    core_->signer->cancel(std::exchange(credential_wait_, signer_wait::none));
    text.append(" while it waited for credentials: what gives them is slow, or does not answer");
  } else if (phase_ == phase::turn && !line_->leave(*this)) {
    return;  // its turn has come: on_turn() checks
  }
  finish(error(errc::deadline_exceeded, std::move(text)));
}

DATAFLUX_INLINE error call::stopped_error() const {
  return error(errc::cancelled, "cancelled by the caller");
}

DATAFLUX_INLINE call_limits call::remaining_limits() const {
  call_limits left;
  left.stop = stop_token_;
  if (deadline_ != never) {
    left.timeout = std::max<duration>(deadline_ - executor->now(), std::chrono::milliseconds(1));
  }
  return left;
}

DATAFLUX_INLINE void call::name(error& failure) {
  if (deadline_ != never && deadline_ <= executor->now()) {
    // Whoever has asked for the stop may have the same deadline.
    if (failure.code() == errc::cancelled)
      failure = error(errc::deadline_exceeded, std::string{timeout_text});
    if (failure.code() == errc::deadline_exceeded) tell_met(failure);
  }
  const call_identity about = identity();
  failure.with_outcome_unknown(retry_.may_have_been_executed);
  failure.with_scheme(core_->dialect->scheme());
  failure.with_attempts(retry_.attempts).with_verb(about.verb);
  if (about.generation != 0) failure.with_generation(about.generation);
  // A reply may have named another object: see parse_error().
  if (failure.bucket().empty()) failure.with_bucket(about.bucket).with_object(about.object);
}

DATAFLUX_INLINE void call::finish(std::optional<error> failure) noexcept {
  const ref<call> alive = ref<call>::share(this);
  const ref<client_core> core = core_;
  phase_ = phase::finished;
  on_stop_.end();
  stop_token_ = {};
  if (timer_ != timer_id::none) executor->cancel(std::exchange(timer_, timer_id::none));
  body_.release_if_larger(error_body_limit);
  if (failure) {
    // What there is no memory for is not told.
    detail::within_memory([&] { name(*failure); });
    core->totals.failed.fetch_add(1, std::memory_order_relaxed);
  }
  conclude(std::move(failure));
  core->leave(*this);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
