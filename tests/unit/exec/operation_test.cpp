#include <dataflux/exec/operation.hpp>
#include <dataflux/unique_function.hpp>

#include <support/catch.hpp>
#include <support/run_child.hpp>
#include <support/short_memory.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>

namespace operation_test {

using dataflux::call_limits;
using dataflux::completion_event;
using dataflux::completion_queue;
using dataflux::duration;
using dataflux::errc;
using dataflux::error;
using dataflux::operation;
using dataflux::result;
using dataflux::start_operation;
using dataflux::test::short_memory;
using namespace std::chrono_literals;

namespace {

/// A call in callback form whose end the test decides.
struct manual_call {
  dataflux::unique_function<void(result<int>)> done{};
  std::optional<std::stop_callback<dataflux::unique_function<void()>>> on_stop{};

  operation<int> start(call_limits limits = {}) {
    return start_operation<int>(limits, [&](auto completion) {
      done = std::move(completion);
      on_stop.emplace(limits.stop, dataflux::unique_function<void()>([this] {
                        if (done) std::exchange(done, nullptr)(error(errc::cancelled, "stopped"));
                      }));
    });
  }
};

}  // namespace

TEST_CASE("operation: the result is there once the call completes", "[exec]") {
  manual_call call;
  auto op = call.start();
  REQUIRE(op.valid());
  CHECK_FALSE(op.poll());
  CHECK_FALSE(op.wait_for(1ms));
  std::exchange(call.done, nullptr)(42);
  CHECK(op.poll());
  CHECK(op.wait_for(duration::max()));
  CHECK(op.take().value() == 42);
  CHECK_FALSE(op.valid());
}

TEST_CASE("operation: one that completed inside its start is finished", "[exec]") {
  call_limits limits;
  auto op = start_operation<void>(limits, [](auto done) { done(error(errc::not_found, "none")); });
  CHECK(op.poll());
  CHECK(op.take().error().code() == errc::not_found);
}

TEST_CASE("operation: cancel asks the call to stop", "[exec]") {
  manual_call call;
  auto op = call.start();
  op.cancel();
  REQUIRE(op.poll());
  op.cancel();
  CHECK(op.take().error().code() == errc::cancelled);
}

TEST_CASE("operation: the caller's own stop token cancels, too", "[exec]") {
  std::stop_source caller;
  manual_call call;
  auto op = call.start({.timeout = duration::zero(), .stop = caller.get_token()});
  CHECK_FALSE(op.poll());
  caller.request_stop();
  REQUIRE(op.poll());
  CHECK(op.take().error().code() == errc::cancelled);

  manual_call late;
  auto stopped = late.start({.timeout = duration::zero(), .stop = caller.get_token()});
  CHECK(stopped.take().error().code() == errc::cancelled);
}

TEST_CASE("operation: its end cancels and waits", "[exec]") {
  manual_call first;
  manual_call second;
  {
    auto op = first.start();
    op = second.start();
    CHECK_FALSE(first.done);
    CHECK(second.done);
  }
  CHECK_FALSE(second.done);
}

TEST_CASE("operation: the last holder may be the call that a stop completes", "[exec]") {
  std::stop_source caller;
  auto call = std::make_unique<manual_call>();
  auto op = std::make_unique<operation<int>>(
      call->start({.timeout = duration::zero(), .stop = caller.get_token()}));
  call->done = [done = std::move(call->done), &op](result<int> outcome) mutable {
    done(std::move(outcome));
    CHECK(op->take().error().code() == errc::cancelled);
    op.reset();
    done = nullptr;  // the shared state goes here, inside request_stop
  };
  caller.request_stop();
  CHECK(op == nullptr);
}

TEST_CASE("operation: a queue hears of the end, before or after it was named", "[exec]") {
  completion_queue queue;
  std::array<completion_event, 4> out;
  manual_call call;
  auto op = call.start();
  op.notify(queue, 5);
  CHECK(queue.next(out, duration::zero()) == 0);
  std::exchange(call.done, nullptr)(error(errc::data_loss, "bytes"));
  REQUIRE(queue.next(out, duration::zero()) == 1);
  CHECK(out[0].tag == 5);
  CHECK(out[0].code == errc::data_loss);

  manual_call other;
  auto finished = other.start();
  std::exchange(other.done, nullptr)(1);
  finished.notify(queue, 6);
  REQUIRE(queue.next(out, duration::zero()) == 1);
  CHECK(out[0].tag == 6);
  CHECK(out[0].code == errc::ok);
}

TEST_CASE("operation: its end is told where there is no memory any more", "[exec]") {
  const bool moved = GENERATE(false, true);
  completion_queue queue;
  completion_queue other;
  std::array<manual_call, 20> calls;
  std::vector<operation<int>> all;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    all.push_back(calls[i].start());
    all.back().notify(moved ? other : queue, i);
    all.back().notify(queue, i);
    // What is pushed besides does not take the room.
    if (i % 5 == 0) queue.push({100 + i, errc::ok});
  }
  {
    const short_memory now(0);
    for (manual_call& call : calls) std::exchange(call.done, nullptr)(42);
    CHECK_FALSE(short_memory::felt());
  }
  std::array<completion_event, 30> out;
  REQUIRE(queue.next(out, 0s) == 24);
  CHECK(out[23].tag == 19);
  CHECK(other.next(out, 0s) == 0);
}

TEST_CASE("operation: a queue that another has replaced keeps no room for it", "[exec]") {
  manual_call call;
  completion_queue first;
  completion_queue second;
  const auto op = call.start();
  op.notify(first, 1);
  op.notify(second, 2);
  {
    const short_memory now(0);
    first.push({3, errc::ok});
  }
  std::array<completion_event, 2> out;
  CHECK(first.next(out, 0s) == 1);
  std::exchange(call.done, nullptr)(42);
  CHECK(first.next(out, 0s) == 0);
  REQUIRE(second.next(out, 0s) == 1);
  CHECK(out[0].tag == 2);
}

TEST_CASE("operation: a queue may be destroyed right after its last operation", "[exec]") {
  for (int i = 0; i < 300; ++i) {
    std::thread producer;
    {
      completion_queue queue;
      call_limits limits;
      dataflux::unique_function<void(result<int>)> done;
      auto op =
          start_operation<int>(limits, [&](auto completion) { done = std::move(completion); });
      op.notify(queue, 1);
      producer = std::thread([done = std::move(done), i]() mutable { done(i); });
      CHECK(op.take().value() == i);
    }
    producer.join();
  }
}

TEST_CASE("operation: cancel from another thread while one waits", "[exec]") {
  for (int i = 0; i < 300; ++i) {
    call_limits limits;
    std::thread producer;
    auto op = start_operation<int>(limits, [&](auto completion) {
      producer = std::thread([done = std::move(completion), stop = limits.stop]() mutable {
        while (!stop.stop_requested()) std::this_thread::yield();
        done(error(errc::cancelled, "stopped"));
      });
    });
    std::thread canceller([&op] { op.cancel(); });
    op.wait();
    canceller.join();
    CHECK(op.take().error().code() == errc::cancelled);
    producer.join();
  }
}

#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes
TEST_CASE("operation: in the child of a fork a queue hears at once, without a lock (mend 10)",
          "[exec][fork]") {
  auto state = std::make_shared<dataflux::detail::operation_state<int>>(std::stop_token());
  dataflux::operation<int> inherited(state);
  completion_queue old;
  std::unique_lock as_if_by_another_thread(state->mutex);
  CHECK(run_child([&] {
          completion_queue queue;
          inherited.notify(queue, 7);
          std::array<completion_event, 2> got{};
          if (queue.next(got, 0ms) != 1) return 1;
          if (got[0].tag != 7 || got[0].code != errc::failed_precondition) return 2;
          // The parent must not hear of it: the descriptor is the same.
          inherited.notify(old, 8);
          return 0;
        }) == 0);
  pollfd p{old.descriptor(), POLLIN, 0};
  CHECK(::poll(&p, 1, 0) == 0);
  as_if_by_another_thread.unlock();
  state->complete(1);
}

TEST_CASE("completion_queue: one that a thread waits for may be dropped in a child (mend 10)",
          "[exec][fork]") {
  auto queue = std::make_unique<completion_queue>();
  std::thread waits([&] {
    std::array<completion_event, 1> got{};
    queue->next(got, dataflux::duration::max());
  });
  int bad = 0;
  for (int i = 0; i < 20 && bad == 0; ++i) {
    std::this_thread::sleep_for(1ms);
    bad = run_child([&] {
      queue.reset();
      return 0;
    });
  }
  queue->push({1, errc::ok});
  waits.join();
  CHECK(bad == 0);
}
#endif

namespace {

/// A callback whose end asks the operation that held it.
struct asks_at_its_end {
  const dataflux::operation<int>* of;
  asks_at_its_end(const dataflux::operation<int>* o) : of(o) {}
  asks_at_its_end(asks_at_its_end&& other) noexcept : of(std::exchange(other.of, nullptr)) {}
  asks_at_its_end& operator=(asks_at_its_end&&) = delete;
  ~asks_at_its_end() {
    if (of != nullptr) static_cast<void>(of->poll());
  }
  void operator()() const {}
};

}  // namespace

TEST_CASE("operation: a callback that is replaced ends outside of the lock", "[exec]") {
  dataflux::call_limits limits{};
  dataflux::unique_function<void(dataflux::result<int>)> finish;
  auto op = dataflux::start_operation<int>(limits, [&](auto done) { finish = std::move(done); });
  CHECK(op.on_ready(asks_at_its_end(&op)));
  CHECK(op.on_ready({}));
  finish(1);
  CHECK(op.take().value() == 1);
}

}  // namespace operation_test
