#pragma once

#include <dataflux/auth/detail/authorization_value.hpp>
#include <dataflux/auth/detail/token_cache.hpp>
#include <dataflux/auth/detail/token_waiter.hpp>
#include <dataflux/detail/collecting_sink.hpp>
#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/detail/timeout_text.hpp>
#include <dataflux/detail/unique_name.hpp>
#include <dataflux/exec/detail/blocking_worker.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

inline constexpr std::chrono::seconds gone_before{10};
/// The metadata server hands out the same token until about 4 minutes before its end (protocol.md
/// 4.9): jitter makes a refresh later, never earlier.
inline constexpr std::chrono::seconds refresh_jitter{60};
inline constexpr std::chrono::seconds first_backoff{10};
inline constexpr std::chrono::seconds longest_backoff{60};
inline constexpr std::chrono::seconds error_remembered{1};
inline constexpr std::size_t longest_reply = std::size_t{1} << 20;

class token_cache::refresher final : public http::exchange {
 public:
  refresher(credentials_ptr creds, http::transport& transport, token_cache_options options)
      : credentials_(std::move(creds)),
        transport_(transport),
        observer_(options.observer),
        keys_(options.keys),
        wall_clock_(std::move(options.wall_clock)),
        chance_(options.seed != 0 ? options.seed : detail::system_entropy::bits()) {
    executor = &transport.next_executor();
    if (credentials_ != nullptr && credentials_->anonymous()) {
      current_ = std::make_shared<const authorization_value>();
      due_.store(never, std::memory_order_relaxed);
    }
  }

  // Called from any thread.

  const authorization_value* look() {
    authorization_copy& copy = this_threads_copy(number_);
    if (copy.owner != number_ || copy.version != version_.load(std::memory_order_acquire)) {
      std::scoped_lock lock(mutex_);
      copy = {number_, version_.load(std::memory_order_relaxed), current_};
    }
    return copy.value.get();
  }

  void refresh_if_due(time_point now) {
    if (now < due_.load(std::memory_order_relaxed)) return;
    std::scoped_lock lock(mutex_);
    if (now >= due_.load(std::memory_order_relaxed)) start();
  }

  void refresh_if_gone(time_point now) {
    std::scoped_lock lock(mutex_);
    if (current_ != nullptr && now < current_->gone) return;
    if (!last_error_ || now >= error_until_) start();
  }

  authorization_wait await(scheduler& where, authorization_handler handler) {
    auto who = std::make_unique<waiter>(waiter{0, &where, std::move(handler)});
    std::scoped_lock lock(mutex_);
    const time_point now = executor->now();
    const bool fresh = current_ != nullptr && now < current_->gone;
    if (fresh || (last_error_ && !running_ && now < error_until_)) {
      deliver(std::move(who), fresh ? result<authorization_ptr>(current_)
                                    : result<authorization_ptr>(*last_error_));
      return authorization_wait::none;
    }
    who->number = ++last_wait_;
    start();
    waiters_.push_back(std::move(who));
    return authorization_wait{last_wait_};
  }

  bool cancel(authorization_wait wait) noexcept {
    waiter_ptr forgotten;  // destroyed without the lock: it may own anything
    std::scoped_lock lock(mutex_);
    const auto found = std::find_if(waiters_.begin(), waiters_.end(), [wait](const waiter_ptr& w) {
      return w->number == static_cast<std::uint64_t>(wait);
    });
    if (found == waiters_.end()) return false;
    forgotten = std::move(*found);
    waiters_.erase(found);
    return true;
  }

  void invalidate(std::string_view authorization) {
    std::scoped_lock lock(mutex_);
    if (current_ == nullptr || authorization.empty() || current_->text != authorization) return;
    replace(nullptr);
  }

  bool renewable(std::string_view authorization) {
    if (credentials_ != nullptr && !credentials_->anonymous()) return true;
    std::scoped_lock lock(mutex_);
    return current_ != nullptr && !current_->text.empty() && current_->text != authorization;
  }

  access_token token_of(const authorization_value& value, time_point now) {
    access_token token{value.text.substr(std::string_view("Bearer ").size()), system_time::max()};
    if (value.gone != never) {
      const auto left = std::chrono::duration_cast<system_time::duration>(value.gone - now);
      token.expires = wall_now() + left + gone_before;
    }
    return token;
  }

  result<void> set_token(const access_token& token) {
    if (auto good = check_token(token, wall_now()); !good) return good;  // may look for a file
    std::scoped_lock lock(mutex_);
    install(to_fresh(token));
    end_wait();
    return {};
  }

  result<void> fail_token(const error& why) {
    const bool set = credentials_ != nullptr && credentials_->set_by_application();
    if (!set) return error{errc::failed_precondition, "the client gets its tokens by itself"};
    std::scoped_lock lock(mutex_);
    remember(why);
    end_wait();
    return {};
  }

  void close() noexcept {
    std::unique_lock lock(mutex_);
    closed_ = true;
    executor->cancel(timer_);
    const bool under_way = in_flight_;
    result<authorization_ptr> why = detail::short_of_memory();
    detail::within_memory([&] {
      why = error{errc::cancelled, "the client was destroyed while it waited for a token"};
    });
    answer_all(why);
    lock.unlock();
    if (under_way) transport_.cancel(ref<http::exchange>::share(this));
  }

  // Called by the transport, on the executor.

  result<byte_sink*> on_head(const http::reply_head& head) override {
    reply_.status = head.status();
    reply_.headers.clear();
    for (const auto& field : head.fields()) reply_.headers.add(field.name, field.value);
    sink_.reset(longest_reply, collecting_sink::excess::refuse);
    return &sink_;
  }

  void on_done(http::exchange_report& report) noexcept override {
    within_memory([&] { ended(report); });
  }

 private:
  using waiter = token_waiter;
  using waiter_ptr = std::unique_ptr<waiter>;

  /// A step on the executor. Who waits is told where it is short of memory.
  template <class Step>
  void within_memory(Step&& step) noexcept {
    detail::within_memory(static_cast<Step&&>(step), [this] { finish(detail::short_of_memory()); });
  }

  void ended(http::exchange_report& report) {
    {
      std::scoped_lock lock(mutex_);
      in_flight_ = false;
      if (closed_) return;
    }
    reply_.body = as_text(sink_.bytes());
    sink_.reset(0, collecting_sink::excess::refuse);
    sink_.release_if_larger(0);
    if (report.failure == http::transport_failure::none) {
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

  // Call with the mutex held. Executors are alive then unless closed_.

  void start() {
    if (running_ || closed_) return;
    executor->post([self = ref<refresher>::share(this)] { self->begin(); });
    running_ = true;
    due_.store(never, std::memory_order_relaxed);
  }

  void end_wait() {  // of a flow, for what was set or failed just now perhaps
    if (!running_ || closed_) return;
    executor->post([self = ref<refresher>::share(this)] { self->stop_waiting(); });
  }

  void remember(const error& why) {
    const auto backoff = first_backoff * (1 << std::min(failures_++, 3));
    set_due(executor->now() + std::min<duration>(backoff, longest_backoff));
    last_error_ = why;
    error_until_ = executor->now() + error_remembered;
    answer_all(why);
  }

  void answer_all(const result<authorization_ptr>& outcome) noexcept {
    for (waiter_ptr& w : waiters_) {
      detail::within_memory([&] { deliver(std::move(w), outcome); });
    }
    waiters_.clear();
  }

  void replace(authorization_ptr value) {
    current_ = std::move(value);
    version_.fetch_add(1, std::memory_order_release);
  }

  void install(fresh_value fresh) {
    const time_point now = executor->now();
    const system_time today = wall_now();
    // A token without an end, as an application may set one, must not overflow the sum.
    const bool ends = fresh.expires < today + std::chrono::years(10);
    const duration life = ends ? duration{fresh.expires - today} : duration{0};
    auto value = std::make_shared<authorization_value>(std::move(fresh.value));
    value->gone = ends ? now + life - gone_before : never;
    const bool short_life = fresh.stale_part != 0 && life / fresh.stale_part < fresh.stale_before;
    const duration before = short_life ? life / fresh.stale_part : fresh.stale_before;
    const auto jitter = std::chrono::duration<double>(refresh_jitter) * chance();
    const time_point due = now + life - before + std::chrono::duration_cast<duration>(jitter);
    // A token that arrives stale must not be asked for again at once: it would be the same one.
    set_due(ends ? std::max(due, now + first_backoff) : never);
    failures_ = 0;
    last_error_.reset();
    replace(std::move(value));
    answer_all(current_);
  }

  void set_due(time_point when) {
    due_.store(credentials_ == nullptr ? never : when, std::memory_order_relaxed);
  }

  system_time wall_now() { return wall_clock_ ? wall_clock_() : std::chrono::system_clock::now(); }
  double chance() { return std::uniform_real_distribution<double>(0, 1)(chance_); }

  // On the executor, without the mutex.

  void begin() noexcept {
    within_memory([this] { advance(std::monostate{}); });
  }

  void advance(flow_event event) {
    std::unique_lock lock(mutex_);
    if (closed_) return;
    timer_ = timer_id::none;
    const flow_moment moment{wall_now(), chance()};
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

  error other_sort() const {
    const std::string what = credentials_->facts().describe();
    return {errc::invalid_argument,
            keys_ ? what + " give access tokens, and this service takes keys of AWS"
                  : what + " are keys of AWS, and this service takes access tokens"};
  }

  void submit(http_step& step) {
    request = std::move(step.request);
    body_ = std::move(step.body);
    request.body = http::request_body(as_bytes(body_));
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

  void sleep(duration wait) {
    std::scoped_lock lock(mutex_);
    if (closed_) return;
    timer_ = executor->at(deadline_after(executor->now(), wait),
                          [self = ref<refresher>::share(this)] { self->begin(); });
  }

  void stop_waiting() {
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

  void block_on(blocking_step step) {
    auto self = ref<refresher>::share(this);
    auto begun =
        run_blocking([self, work = std::move(step.work)]() mutable { self->do_blocking(work); });
    if (!begun) advance(result<std::string>{std::move(begun).error()});
  }

  /// On the helper thread: the executor is certain to be there only while the cache is.
  void do_blocking(unique_function<result<std::string>()>& work) {
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

  void finish(result<fresh_value> outcome) {
    flow_.reset();
    body_.clear();
    std::unique_lock lock(mutex_);
    if (closed_) return;
    running_ = false;
    if (outcome) return install(std::move(*outcome));
    remember(outcome.error());
    lock.unlock();
    if (observer_ == nullptr) return;
    observer_->on_log(log_level::warning, "no fresh token: " + outcome.error().to_string());
  }

  const credentials_ptr credentials_;
  http::transport& transport_;
  dataflux::observer* const observer_;
  const bool keys_;
  const std::uint64_t number_{next_cache_number()};

  std::atomic<std::uint64_t> version_{1};
  /// When a use of the token starts a refresh; `never` while one is under way.
  std::atomic<time_point> due_{never};

  std::mutex mutex_{};
  unique_function<system_time()> wall_clock_;
  std::mt19937_64 chance_;
  authorization_ptr current_{};
  std::vector<waiter_ptr> waiters_{};
  std::uint64_t last_wait_{0};
  std::optional<error> last_error_{};
  time_point error_until_{};
  int failures_{0};
  timer_id timer_{timer_id::none};
  bool running_{false};
  bool in_flight_{false};
  bool closed_{false};

  // Touched on the executor only.
  std::unique_ptr<token_flow> flow_{};
  std::string body_{};
  http_reply reply_{};
  collecting_sink sink_{buffer_pool(0)};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
