#pragma once

#include <dataflux/auth/detail/authorization_value.hpp>
#include <dataflux/auth/detail/mutual_tls.hpp>
#include <dataflux/auth/detail/signing_clock.hpp>
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
        mutual_tls_(options.mutual_tls),
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
    // Whoever gives tokens has given the same again: requests that were under way with it would ask
    // for it once each.
    const time_point now = executor->now();
    if (authorization == refused_ && now < refused_until_) return;
    refused_ = authorization;
    refused_until_ = now + error_remembered;
    replace(nullptr);
  }

  void correct_clock(std::string_view date, duration age) {
    std::scoped_lock lock(mutex_);
    clock_.correct({.date = date, .now = wall_now(), .age = age});
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
    install(to_fresh(token), wall_now());
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

  /// `today`: by the clock that has told its end.
  void install(fresh_value fresh, system_time today) {
    const time_point now = executor->now();
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

  // On the executor, without the mutex: token_cache_steps.ipp.

  void begin() noexcept;
  void advance(flow_event event);
  error other_sort() const;
  static void ask_for_certificate(std::shared_ptr<const http::origin>& where);
  void submit(http_step& step);
  void ended(http::exchange_report& report);
  void look_at_clock();
  void sleep(duration wait);
  void stop_waiting();
  void block_on(blocking_step step);
  void do_blocking(unique_function<result<std::string>()>& work);
  void finish(result<fresh_value> outcome);

  const credentials_ptr credentials_;
  http::transport& transport_;
  dataflux::observer* const observer_;
  const bool keys_;
  const bool mutual_tls_;
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
  /// The value that the service has refused last, and how long it is not forgotten a second time.
  std::string refused_{};
  time_point refused_until_{};
  signing_clock clock_{};
  timer_id timer_{timer_id::none};
  bool running_{false};
  bool in_flight_{false};
  bool closed_{false};

  // Touched on the executor only.
  std::unique_ptr<token_flow> flow_{};
  std::string body_{};
  time_point sent_at_{};
  bool corrected_{false};   ///< by a reply of this flow
  bool asks_again_{false};  ///< for that
  http_reply reply_{};
  collecting_sink sink_{buffer_pool(0)};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
