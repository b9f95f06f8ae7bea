#pragma once

#include <dataflux/auth/impl/token_cache.ipp>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>

/// The steps of a refresh.
namespace dataflux::inline DATAFLUX_ABI::detail::auth {

DATAFLUX_INLINE void token_cache::refresher::begin() noexcept {
  within_memory([this] { advance(std::monostate{}); });
}

DATAFLUX_INLINE void token_cache::refresher::advance(flow_event event) {
  std::unique_lock lock(mutex_);
  if (closed_) return;
  timer_ = timer_id::none;
  const system_time local = wall_now();
  const flow_moment moment{clock_.now(local), chance(), local};
  lock.unlock();
  if (flow_ == nullptr && credentials_ != nullptr) flow_ = credentials_->start();
  if (flow_ == nullptr) {
    return finish(error{errc::unauthenticated,
                        "the application has set no token, or one that is no longer good"});
  }
  flow_step step = flow_->resume(std::move(event), moment);
  if (auto* const send = std::get_if<http_step>(&step)) return submit(*send);
  if (auto* const wait = std::get_if<wait_step>(&step)) return sleep(wait->wait);
  if (auto* const block = std::get_if<blocking_step>(&step)) return block_on(std::move(*block));
  auto* const token = std::get_if<access_token>(&step);
  auto* const keys = std::get_if<access_keys>(&step);
  if (token == nullptr && keys == nullptr) return finish(std::move(std::get<error>(step)));
  if (keys_ != (keys != nullptr)) return finish(other_sort());
  finish(keys != nullptr ? to_fresh(std::move(*keys)) : to_fresh(*token));
}

DATAFLUX_INLINE error token_cache::refresher::other_sort() const {
  const std::string what = credentials_->facts().describe();
  return {errc::invalid_argument,
          keys_ ? what + " give access tokens, and this service takes keys of AWS"
                : what + " are keys of AWS, and this service takes access tokens"};
}

DATAFLUX_INLINE void token_cache::refresher::ask_for_certificate(
    std::shared_ptr<const http::origin>& where) {
  std::string host = mutual_tls_host(where->host);
  if (host.empty() || !where->tls) return;
  http::origin other = *where;
  other.host = std::move(host);
  where = std::make_shared<const http::origin>(std::move(other));
}

DATAFLUX_INLINE void token_cache::refresher::submit(http_step& step) {
  request = std::move(step.request);
  body_ = std::move(step.body);
  request.body = http::request_body(as_bytes(body_));
  if (mutual_tls_) ask_for_certificate(request.origin);
  sent_at_ = executor->now();
  limits = {};
  limits.deadline = deadline_after(executor->now(), step.timeout);
  idempotent = step.idempotent;
  reply_ = {};
  {
    std::scoped_lock lock(mutex_);
    if (closed_) return;
    in_flight_ = true;
  }
  transport_.submit(ref<http::exchange>::share(this));
  // A close() between the lock and submit() found nothing to cancel.
  std::unique_lock lock(mutex_);
  const bool too_late = closed_;
  lock.unlock();
  if (too_late) transport_.cancel(ref<http::exchange>::share(this));
}

DATAFLUX_INLINE void token_cache::refresher::sleep(duration wait) {
  std::scoped_lock lock(mutex_);
  if (closed_) return;
  timer_ = executor->at(deadline_after(executor->now(), wait),
                        [self = ref<refresher>::share(this)] { self->begin(); });
}

DATAFLUX_INLINE void token_cache::refresher::stop_waiting() {
  std::unique_ptr<token_flow> over;  // destroyed without the lock
  std::scoped_lock lock(mutex_);
  if (closed_ || timer_ == timer_id::none) return;
  executor->cancel(timer_);
  timer_ = timer_id::none;
  running_ = false;
  over = std::move(flow_);
  // The token that ended it may itself have ended since.
  if (!waiters_.empty()) start();
}

DATAFLUX_INLINE void token_cache::refresher::block_on(blocking_step step) {
  auto self = ref<refresher>::share(this);
  auto begun =
      run_blocking([self, work = std::move(step.work)]() mutable { self->do_blocking(work); });
  if (!begun) advance(result<std::string>{std::move(begun).error()});
}

/// On the helper thread: the executor is certain to be there only while the cache is.
DATAFLUX_INLINE void token_cache::refresher::do_blocking(
    unique_function<result<std::string>()>& work) {
  result<std::string> outcome = detail::short_of_memory();
  detail::within_memory([&] { outcome = work(); });
  std::scoped_lock lock(mutex_);
  if (closed_) return;
  auto self = ref<refresher>::share(this);
  detail::within_memory(
      [&] {
        executor->post([self, outcome = std::move(outcome)]() mutable {
          self->within_memory([&] { self->advance(std::move(outcome)); });
        });
      },
      [&] { executor->post([self] { self->finish(detail::short_of_memory()); }); });
}

DATAFLUX_INLINE void token_cache::refresher::finish(result<fresh_value> outcome) {
  flow_.reset();
  body_.clear();
  std::unique_lock lock(mutex_);
  if (closed_) return;
  if (!outcome && std::exchange(corrected_, false) && !std::exchange(asks_again_, true)) {
    const bool begun = detail::within_memory(
        [this] { executor->post([self = ref<refresher>::share(this)] { self->begin(); }); });
    if (begun) return;
  }
  corrected_ = asks_again_ = false;
  running_ = false;
  if (outcome) return install(std::move(*outcome), clock_.now(wall_now()));
  remember(outcome.error());
  lock.unlock();
  if (observer_ == nullptr) return;
  observer_->on_log(log_level::warning, "no fresh token: " + outcome.error().to_string());
}

DATAFLUX_INLINE void token_cache::refresher::ended(http::exchange_report& report) {
  {
    std::scoped_lock lock(mutex_);
    in_flight_ = false;
    if (closed_) return;
  }
  reply_.body = as_text(sink_.bytes());
  sink_.reset(0, collecting_sink::excess::refuse);
  sink_.release_if_larger(0);
  if (report.failure == http::transport_failure::none) {
    look_at_clock();
    return advance(result<http_reply>{std::move(reply_)});
  }
  // The deadline was this try's, not the caller's: another try may well be in time.
  const bool late = report.failure == http::transport_failure::deadline;
  std::string what{report.detail};
  if (late && what.starts_with(timeout_text)) {
    what.replace(0, timeout_text.size(), "this try's timeout has passed");
  }
  error e{late ? errc::unavailable : http::errc_from_failure(report.failure), std::move(what)};
  advance(result<http_reply>{e.with_retryable(late || http::may_be_retried(report.failure))});
}

/// A refusal may come of what this machine's clock says, and shows what the endpoint's does.
DATAFLUX_INLINE void token_cache::refresher::look_at_clock() {
  if (keys_ || reply_.status < 400 || reply_.status > 499) return;
  std::scoped_lock lock(mutex_);
  corrected_ |= clock_.correct({.date = reply_.headers.find("Date").value_or(""),
                                .now = wall_now(),
                                .age = executor->now() - sent_at_});
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
