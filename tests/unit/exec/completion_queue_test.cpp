#include <dataflux/exec/completion_queue.hpp>

#include <support/catch.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <thread>
#include <vector>

#include <poll.h>
#include <pthread.h>

namespace completion_queue_test {

using dataflux::completion_event;
using dataflux::completion_queue;
using dataflux::duration;
using dataflux::errc;
using namespace std::chrono_literals;

namespace {

bool readable(const completion_queue& queue) {
  pollfd p{queue.descriptor(), POLLIN, 0};
  return ::poll(&p, 1, 0) == 1 && (p.revents & POLLIN) != 0;
}

}  // namespace

TEST_CASE("completion_queue: events come in batches, oldest first", "[exec]") {
  completion_queue queue;
  for (std::uint64_t tag = 0; tag < 10; ++tag) {
    queue.push({tag, tag % 2 == 0 ? errc::ok : errc::cancelled});
  }
  std::array<completion_event, 4> out;
  std::uint64_t expected = 0;
  for (const std::size_t count : {4U, 4U, 2U, 0U}) {
    REQUIRE(queue.next(out, duration::zero()) == count);
    for (std::size_t i = 0; i < count; ++i, ++expected) {
      CHECK(out[i].tag == expected);
      CHECK(out[i].code == (expected % 2 == 0 ? errc::ok : errc::cancelled));
    }
  }
}

TEST_CASE("completion_queue: an empty span takes nothing", "[exec]") {
  completion_queue queue;
  queue.push({1, errc::ok});
  CHECK(queue.next({}, 1h) == 0);
  std::array<completion_event, 1> out;
  CHECK(queue.next(out, duration::zero()) == 1);
}

TEST_CASE("completion_queue: next gives up after its limit", "[exec]") {
  completion_queue queue;
  std::array<completion_event, 1> out;
  const auto start = dataflux::clock::now();
  CHECK(queue.next(out, 5ms) == 0);
  CHECK(dataflux::clock::now() - start >= 5ms);
  CHECK(queue.next(out, -1s) == 0);
}

TEST_CASE("completion_queue: the descriptor is readable exactly while events wait", "[exec]") {
  completion_queue queue;
  std::array<completion_event, 2> out;
  CHECK_FALSE(readable(queue));
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t tag = 0; tag < 3; ++tag) queue.push({tag, errc::ok});
    CHECK(readable(queue));
    CHECK(queue.next(out, duration::zero()) == 2);
    CHECK(readable(queue));
    CHECK(queue.next(out, duration::zero()) == 1);
    CHECK_FALSE(readable(queue));
  }
}

TEST_CASE("completion_queue: order holds when pushes and pulls alternate for long", "[exec]") {
  completion_queue queue;
  std::array<completion_event, 3> out;
  std::uint64_t pushed = 0;
  std::uint64_t seen = 0;
  for (int round = 0; round < 5'000; ++round) {
    for (int i = 0; i < 4 && pushed - seen < 200; ++i) queue.push({pushed++, errc::ok});
    const std::size_t count = queue.next(out, duration::zero());
    for (std::size_t i = 0; i < count; ++i) REQUIRE(out[i].tag == seen++);
  }
  while (const std::size_t count = queue.next(out, duration::zero())) {
    for (std::size_t i = 0; i < count; ++i) REQUIRE(out[i].tag == seen++);
  }
  CHECK(seen == pushed);
}

TEST_CASE("completion_queue: a waiting thread is woken without a time limit", "[exec]") {
  completion_queue queue;
  std::array<completion_event, 1> out;
  std::thread producer([&queue] { queue.push({77, errc::not_found}); });
  CHECK(queue.next(out, duration::max()) == 1);
  producer.join();
  CHECK(out[0].tag == 77);
  CHECK(out[0].code == errc::not_found);
}

TEST_CASE("completion_queue: wait says whether there is something, and takes nothing", "[exec]") {
  using wait_end = completion_queue::wait_end;
  completion_queue queue;
  CHECK(queue.wait(0s) == wait_end::timed_out);
  CHECK(queue.wait(-1s) == wait_end::timed_out);
  CHECK(queue.wait(2ms) == wait_end::timed_out);
  queue.push({5, errc::ok});
  CHECK(queue.wait(duration::max()) == wait_end::ready);
  CHECK(queue.wait(0s) == wait_end::ready);
  std::array<completion_event, 2> out;
  CHECK(queue.next(out, 0s) == 1);
  CHECK(queue.wait(0s) == wait_end::timed_out);
}

TEST_CASE("completion_queue: a signal ends a wait", "[exec]") {
  static std::atomic<int> caught{0};
  struct sigaction counts {};
  struct sigaction before {};
  counts.sa_handler = [](int) { ++caught; };
  counts.sa_flags = SA_RESTART;
  REQUIRE(::sigaction(SIGUSR2, &counts, &before) == 0);
  completion_queue queue;
  std::array<completion_event, 1> out;
  const bool by_next = GENERATE(false, true);
  std::atomic<bool> ended{false};
  const pthread_t waiter = ::pthread_self();
  std::thread sender([&] {
    // Again and again: the first one may come before the wait.
    while (!ended) {
      ::pthread_kill(waiter, SIGUSR2);
      std::this_thread::sleep_for(1ms);
    }
  });
  if (by_next) {
    CHECK(queue.next(out, duration::max()) == 0);
  } else {
    CHECK(queue.wait(duration::max()) == completion_queue::wait_end::interrupted);
  }
  ended = true;
  sender.join();
  CHECK(caught > 0);
  ::sigaction(SIGUSR2, &before, nullptr);
}

TEST_CASE("completion_queue: many producers and consumers lose and repeat nothing", "[exec]") {
  constexpr std::uint64_t each = 5'000;
  constexpr std::uint64_t producers = 3;
  completion_queue queue;
  std::vector<std::atomic<int>> seen(each * producers);
  std::atomic<std::uint64_t> total{0};
  std::vector<std::thread> threads;
  for (std::uint64_t p = 0; p < producers; ++p) {
    threads.emplace_back([&queue, p] {
      for (std::uint64_t i = 0; i < each; ++i) queue.push({p * each + i, errc::ok});
    });
  }
  // A lost wake-up would leave a consumer in next() for good: the last events wait for no limit.
  for (int c = 0; c < 3; ++c) {
    threads.emplace_back([&] {
      std::array<completion_event, 7> out;
      for (;;) {
        const std::size_t count = queue.next(out, duration::max());
        bool stop = false;
        for (std::size_t i = 0; i < count; ++i) {
          if (out[i].code == errc::cancelled) {
            if (stop) queue.push(out[i]);  // another consumer's sign to stop
            stop = true;
            continue;
          }
          ++seen[static_cast<std::size_t>(out[i].tag)];
          ++total;
        }
        if (stop) return;
      }
    });
  }
  for (std::uint64_t p = 0; p < producers; ++p) threads[static_cast<std::size_t>(p)].join();
  for (int c = 0; c < 3; ++c) queue.push({0, errc::cancelled});
  for (std::size_t t = producers; t < threads.size(); ++t) threads[t].join();
  CHECK(total == each * producers);
  CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& n) { return n == 1; }));
  CHECK_FALSE(readable(queue));
}

}  // namespace completion_queue_test
