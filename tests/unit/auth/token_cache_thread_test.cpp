#include <dataflux/auth/detail/token_cache.hpp>

#include <support/catch.hpp>
#include <support/flag.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace token_cache_thread_test {

using dataflux::result;
using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;

namespace {

/// A scheduler with a thread of its own and the real clock; timers are not needed here.
class thread_scheduler final : public dataflux::scheduler {
 public:
  thread_scheduler() : thread_([this] { run(); }) {}
  ~thread_scheduler() override {
    {
      std::scoped_lock lock(mutex_);
      stopping_ = true;
    }
    arrived_.notify_one();
    thread_.join();
  }
  dataflux::time_point now() const noexcept override { return dataflux::clock::now(); }
  void post(dataflux::task work) override {
    if (short_.exchange(false)) throw std::bad_alloc();
    std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(work));
    arrived_.notify_one();
  }
  dataflux::timer_id at(dataflux::time_point, dataflux::task) override { return {}; }
  bool cancel(dataflux::timer_id) noexcept override { return false; }
  bool is_current() const noexcept override {
    return std::this_thread::get_id() == thread_.get_id();
  }
  /// The next post finds no memory.
  void be_short_once() noexcept { short_ = true; }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      arrived_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      auto work = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      work();
      lock.lock();
    }
  }

  std::mutex mutex_{};
  std::condition_variable arrived_{};
  std::deque<dataflux::task> waiting_{};
  bool stopping_{false};
  std::atomic<bool> short_{false};
  std::thread thread_;
};

/// Only its executor is used: the flow below sends nothing.
class silent_transport final : public dataflux::detail::http::transport {
 public:
  void submit(dataflux::detail::ref<dataflux::detail::http::exchange>) override {}
  void cancel(dataflux::detail::ref<dataflux::detail::http::exchange>) noexcept override {}
  thread_scheduler& next_executor() noexcept override { return executor_; }
  bool is_current() const noexcept override { return false; }

 private:
  thread_scheduler executor_{};
};

/// Counts the flows; each takes its token on the helper thread for what may block.
class counting_credentials final : public dataflux::credentials {
 public:
  /// `inside` is called by each step that may block.
  explicit counting_credentials(std::function<void()> inside = [] {})
      : credentials({.kind = "counting"}), inside_(std::move(inside)) {}

  std::unique_ptr<auth::token_flow> start() const override {
    class flow final : public auth::token_flow {
     public:
      flow(int number, std::function<void()> inside)
          : number_(number), inside_(std::move(inside)) {}
      auth::flow_step resume(auth::flow_event event, const auth::flow_moment& moment) override {
        if (auto* text = std::get_if<result<std::string>>(&event)) {
          return dataflux::access_token{**text, moment.now + 1h};
        }
        return auth::blocking_step{[number = number_, inside = inside_]() -> result<std::string> {
          inside();
          return "t" + std::to_string(number);
        }};
      }

     private:
      int number_;
      std::function<void()> inside_;
    };
    return std::make_unique<flow>(++started, inside_);
  }
  mutable std::atomic<int> started{0};

 private:
  const std::function<void()> inside_;
};

std::string fetch(auth::token_cache& cache, dataflux::scheduler& executor) {
  std::string value;
  flag told;
  cache.await(executor, [&](result<std::string_view> outcome) {
    value = outcome ? std::string{*outcome} : outcome.error().message();
    told.raise();
  });
  told.wait();
  return value;
}

}  // namespace

TEST_CASE("token_cache: many threads look, wait and invalidate at once", "[auth][thread]") {
  silent_transport net;
  thread_scheduler callers;
  const auto credentials = std::make_shared<counting_credentials>();
  auth::token_cache cache(credentials, net);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      std::string last;
      while (!stop) {
        const auto value = cache.try_get(dataflux::clock::now());
        last = value ? std::string{*value} : fetch(cache, callers);
        if (!last.starts_with("Bearer t")) ++wrong;
      }
    });
  }
  for (int round = 0; round < 200; ++round) {
    const std::string current = fetch(cache, callers);
    cache.invalidate(current);
    CHECK(cache.try_get(dataflux::clock::now()) != current);
    if (round % 10 == 0) {
      CHECK(cache.set_token({"t-set", std::chrono::system_clock::now() + 1h}));
    }
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  // One flow for each token that was thrown away, however many threads asked.
  CHECK(credentials->started <= 201);
  CHECK(credentials->started >= 1);
}

TEST_CASE("token_cache: a blocking step that nobody hears of for want of memory ends the wait",
          "[auth][thread]") {
  silent_transport net;
  thread_scheduler callers;
  auth::token_cache cache(
      std::make_shared<counting_credentials>([&net] { net.next_executor().be_short_once(); }), net);
  CHECK(fetch(cache, callers).starts_with("out of memory"));
}

TEST_CASE("token_cache: destruction while a blocking step runs", "[auth][thread]") {
  class slow_credentials final : public dataflux::credentials {
   public:
    slow_credentials(flag& begun, flag& go)
        : credentials({.kind = "slow"}), begun_(begun), go_(go) {}
    std::unique_ptr<auth::token_flow> start() const override {
      class flow final : public auth::token_flow {
       public:
        flow(flag& begun, flag& go) : begun_(begun), go_(go) {}
        auth::flow_step resume(auth::flow_event, const auth::flow_moment&) override {
          return auth::blocking_step{
              [this_begun = &begun_, this_go = &go_]() -> result<std::string> {
                this_begun->raise();
                this_go->wait();
                return std::string{"late"};
              }};
        }

       private:
        flag& begun_;
        flag& go_;
      };
      return std::make_unique<flow>(begun_, go_);
    }

   private:
    flag& begun_;
    flag& go_;
  };

  flag begun;
  flag go;
  flag told;
  dataflux::errc code{};
  thread_scheduler callers;
  {
    silent_transport net;
    auth::token_cache cache(std::make_shared<slow_credentials>(begun, go), net);
    cache.await(callers, [&](result<std::string_view> outcome) {
      code = outcome ? dataflux::errc::ok : outcome.error().code();
      told.raise();
    });
    begun.wait();
  }
  told.wait();
  CHECK(code == dataflux::errc::cancelled);
  go.raise();
  // The helper thread is free again, and has touched nothing that is gone.
  silent_transport net;
  auth::token_cache next(std::make_shared<counting_credentials>(), net);
  CHECK(fetch(next, callers) == "Bearer t1");
}

}  // namespace token_cache_thread_test
