#include <dataflux/exec/awaitable.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace awaitable_test {

using dataflux::call_limits;
using dataflux::errc;
using dataflux::error;
using dataflux::operation;
using dataflux::result;
using dataflux::resume_by;
using dataflux::resume_on;
using dataflux::start_operation;

namespace {

/// A coroutine type of a user's: begins at once, is destroyed by its owner, tells whether it ended.
class [[nodiscard]] job {
 public:
  struct promise_type {
    job get_return_object() {
      return job(std::coroutine_handle<promise_type>::from_promise(*this), ended);
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept {
      *ended = true;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
    std::shared_ptr<std::atomic<bool>> ended{std::make_shared<std::atomic<bool>>(false)};
  };

  job(std::coroutine_handle<promise_type> handle, std::shared_ptr<std::atomic<bool>> ended)
      : handle_(handle), ended_(std::move(ended)) {}
  job(job&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), ended_(other.ended_) {}
  ~job() {
    if (handle_) handle_.destroy();
  }
  bool ended() const { return *ended_; }

 private:
  std::coroutine_handle<promise_type> handle_;
  std::shared_ptr<std::atomic<bool>> ended_;
};

/// A call whose end the test decides.
struct manual_call {
  std::shared_ptr<dataflux::unique_function<void(result<int>)>> done{
      std::make_shared<dataflux::unique_function<void(result<int>)>>()};
  std::optional<std::stop_callback<std::function<void()>>> on_stop{};

  operation<int> start(call_limits limits = {}) {
    return start_operation<int>(limits, [&](auto completion) {
      *done = std::move(completion);
      on_stop.emplace(limits.stop, [done = done] {
        if (*done) std::exchange(*done, nullptr)(error(errc::cancelled, "stopped"));
      });
    });
  }
  void end(int value) { std::exchange(*done, nullptr)(value); }
};

operation<int> ready(int value) {
  call_limits limits;
  return start_operation<int>(limits, [value](auto done) { done(value); });
}
operation<int> posted(dataflux::virtual_scheduler& clock, int value) {
  call_limits limits;
  return start_operation<int>(limits, [&](auto done) {
    clock.post([value, done = std::move(done)]() mutable { done(value); });
  });
}
/// How deep the stack is.
std::uintptr_t depth() { return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }

}  // namespace

TEST_CASE("awaitable: gives the value, and the error", "[exec]") {
  manual_call good;
  manual_call bad;
  std::vector<result<int>> got;
  auto run = [&]() -> job {
    got.push_back(co_await good.start());
    got.push_back(co_await bad.start());
  };
  const job running = run();
  CHECK(got.empty());
  good.end(42);
  REQUIRE(got.size() == 1);
  CHECK(got[0].value() == 42);
  std::exchange(*bad.done, nullptr)(error(errc::not_found, "none"));
  REQUIRE(got.size() == 2);
  CHECK(got[1].error().code() == errc::not_found);
  CHECK(running.ended());
}

TEST_CASE("awaitable: an operation of nothing, kept in a variable", "[exec]") {
  auto run = [&]() -> job {
    call_limits limits;
    auto op = start_operation<void>(limits, [](auto done) { done({}); });
    const result<void> got = co_await std::move(op);
    CHECK(got);
  };
  CHECK(run().ended());
}

TEST_CASE("awaitable: a hundred thousand ready operations do not deepen the stack", "[exec]") {
  constexpr int count = 100'000;
  std::uintptr_t low = depth();
  std::uintptr_t high = low;
  std::int64_t sum = 0;
  auto run = [&]() -> job {
    for (int i = 0; i < count; ++i) {
      sum += (co_await ready(i)).value();
      low = std::min(low, depth());
      high = std::max(high, depth());
    }
  };
  CHECK(run().ended());
  CHECK(sum == std::int64_t{count} * (count - 1) / 2);
  CHECK(high - low < 16 * 1024);
}

TEST_CASE("awaitable: nor do those that end while they are awaited", "[exec]") {
  constexpr int count = 100'000;
  dataflux::virtual_scheduler clock;
  std::uintptr_t low = depth();
  std::uintptr_t high = low;
  auto run = [&]() -> job {
    for (int i = 0; i < count; ++i) {
      const bool by_post = i % 2 == 0;
      const auto got = by_post ? co_await resume_on(clock, ready(i)) : co_await posted(clock, i);
      if (got.value() != i) co_return;
      low = std::min(low, depth());
      high = std::max(high, depth());
    }
  };
  const job running = run();
  clock.run();
  CHECK(running.ended());
  CHECK(high - low < 16 * 1024);
}

TEST_CASE("awaitable: goes on on the thread that brings the result", "[exec]") {
  manual_call call;
  std::thread::id resumed{};
  auto run = [&]() -> job {
    static_cast<void>(co_await call.start());
    resumed = std::this_thread::get_id();
  };
  const job running = run();
  std::thread io([&] { call.end(1); });
  const auto expected = io.get_id();
  io.join();
  CHECK(running.ended());
  CHECK(resumed == expected);
}

TEST_CASE("awaitable: goes on where it is told to, ready or not", "[exec]") {
  dataflux::virtual_scheduler clock;
  manual_call call;
  std::vector<int> got;
  std::vector<std::function<void()>> queue;
  const auto enqueue = [&queue](auto task) { queue.emplace_back(std::move(task)); };
  auto run = [&]() -> job {
    got.push_back((co_await resume_on(clock, call.start())).value());
    got.push_back((co_await resume_on(clock, ready(2))).value());
    got.push_back((co_await resume_by(enqueue, ready(3))).value());
    got.push_back((co_await resume_by(enqueue, call.start())).value());
  };
  const job running = run();
  call.end(1);
  CHECK(got.empty());
  REQUIRE(clock.run_one());
  CHECK(got == std::vector{1});
  REQUIRE(clock.run_one());
  CHECK(got == std::vector{1, 2});
  REQUIRE(queue.size() == 1);
  std::exchange(queue, {}).front()();
  CHECK(got == std::vector{1, 2, 3});
  call.end(4);
  REQUIRE(queue.size() == 1);
  CHECK(got.size() == 3);
  std::exchange(queue, {}).front()();
  CHECK(got == std::vector{1, 2, 3, 4});
  CHECK(running.ended());
}

TEST_CASE("awaitable: a coroutine that is destroyed cancels what it waits for", "[exec]") {
  for (const bool elsewhere : {false, true}) {
    dataflux::virtual_scheduler clock;
    manual_call call;
    bool resumed = false;
    {
      auto run = [&]() -> job {
        if (elsewhere) {
          static_cast<void>(co_await resume_on(clock, call.start()));
        } else {
          static_cast<void>(co_await call.start());
        }
        resumed = true;
      };
      const job running = run();
      CHECK_FALSE(running.ended());
    }
    CHECK_FALSE(*call.done);  // it has ended, by the stop
    clock.run();
    CHECK_FALSE(resumed);
  }
}

TEST_CASE("awaitable: a coroutine that is destroyed before its turn does not run", "[exec]") {
  dataflux::virtual_scheduler clock;
  bool resumed = false;
  {
    auto run = [&]() -> job {
      static_cast<void>(co_await resume_on(clock, ready(1)));
      resumed = true;
    };
    const job running = run();
  }
  clock.run();
  CHECK_FALSE(resumed);
}

TEST_CASE("awaitable: a stop of the limits is the result", "[exec]") {
  manual_call call;
  std::stop_source stop;
  std::optional<errc> got;
  auto run = [&]() -> job {
    auto op = call.start({.stop = stop.get_token()});
    const auto outcome = co_await std::move(op);
    if (!outcome) got = outcome.error().code();
  };
  const job running = run();
  stop.request_stop();
  CHECK(got == errc::cancelled);
  CHECK(running.ended());
}

TEST_CASE("awaitable: results that come while it is about to be suspended", "[exec]") {
  constexpr int count = 2'000;
  std::atomic<int> begun{0};
  std::vector<manual_call> calls(count);
  std::atomic<std::int64_t> sum{0};
  std::thread io([&] {
    for (int i = 0; i < count; ++i) {
      while (begun.load() <= i) std::this_thread::yield();
      calls[static_cast<std::size_t>(i)].end(i);
    }
  });
  std::vector<job> jobs;
  const auto run = [&sum](operation<int> op) -> job { sum += (co_await std::move(op)).value(); };
  for (int i = 0; i < count; ++i) {
    auto op = calls[static_cast<std::size_t>(i)].start();
    ++begun;
    jobs.push_back(run(std::move(op)));
  }
  io.join();
  CHECK(std::all_of(jobs.begin(), jobs.end(), [](const job& each) { return each.ended(); }));
  CHECK(sum == std::int64_t{count} * (count - 1) / 2);
}

}  // namespace awaitable_test
