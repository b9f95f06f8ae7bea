#include <dataflux/exec/virtual_scheduler.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace virtual_scheduler_test {

using dataflux::never;
using dataflux::timer_id;
using dataflux::virtual_scheduler;
using dataflux::virtual_thread;
using namespace std::chrono_literals;

TEST_CASE("virtual_scheduler: posts come before timers, timers move the clock", "[exec]") {
  virtual_scheduler s;
  std::string order;
  const auto start = s.now();
  s.at(start + 2s, [&] { order += 'c'; });
  s.at(start + 1s, [&] {
    CHECK(s.now() == start + 1s);
    order += 'b';
    s.post([&] { order += 'p'; });
  });
  s.post([&] { order += 'a'; });
  CHECK(s.pending() == 3);
  CHECK(s.run() == 4);
  CHECK(order == "abpc");
  CHECK(s.now() == start + 2s);
  CHECK_FALSE(s.run_one());
}

TEST_CASE("virtual_scheduler: a timer in the past runs now and never turns the clock back",
          "[exec]") {
  virtual_scheduler s;
  s.run_for(10s);
  const auto now = s.now();
  bool ran = false;
  s.at(now - 5s, [&] { ran = true; });
  CHECK(s.run_one());
  CHECK(ran);
  CHECK(s.now() == now);
}

TEST_CASE("virtual_scheduler: run_until stops at its time and sets the clock", "[exec]") {
  virtual_scheduler s;
  const auto start = s.now();
  int ran = 0;
  s.at(start + 1s, [&] { ++ran; });
  s.at(start + 2s, [&] { ++ran; });
  s.at(start + 2s + 1ns, [&] { ++ran; });
  CHECK(s.run_until(start + 2s) == 2);
  CHECK(ran == 2);
  CHECK(s.now() == start + 2s);
  CHECK(s.pending() == 1);
  CHECK(s.run_for(1h) == 1);
  CHECK(s.now() == start + 2s + 1h);
}

TEST_CASE("virtual_scheduler: a self-renewing timer is bounded by run_until", "[exec]") {
  virtual_scheduler s;
  int ticks = 0;
  struct renew {
    virtual_scheduler& s;
    int& ticks;
    void operator()() const {
      ++ticks;
      s.at(s.now() + 1s, renew{s, ticks});
    }
  };
  s.at(s.now() + 1s, renew{s, ticks});
  s.run_for(10s);
  CHECK(ticks == 10);
}

TEST_CASE("virtual_scheduler: a cancelled timer does not run, `never` does not fire", "[exec]") {
  virtual_scheduler s;
  int ran = 0;
  const timer_id id = s.at(s.now() + 1s, [&] { ++ran; });
  CHECK(s.cancel(id));
  CHECK_FALSE(s.cancel(id));
  s.at(never, [&] { ++ran; });
  const auto start = s.now();
  CHECK(s.run() == 0);
  CHECK(s.run_until(never) == 0);
  CHECK(s.now() == start);
  CHECK(ran == 0);
}

TEST_CASE("virtual_scheduler: what waits at its end is destroyed without being run", "[exec]") {
  bool ran = false;
  int dropped = 0;
  {
    virtual_scheduler s;
    struct reenter {
      virtual_scheduler& s;
      timer_id timer;
      int& dropped;
      reenter(virtual_scheduler& on, timer_id other, int& count)
          : s(on), timer(other), dropped(count) {}
      ~reenter() {
        ++dropped;
        s.cancel(timer);
      }
    };
    const timer_id timer = s.at(s.now() + 1s, [&ran] { ran = true; });
    s.post([r = std::make_unique<reenter>(s, timer, dropped), &ran] { ran = true; });
    s.at(s.now() + 2s, [r = std::make_unique<reenter>(s, timer, dropped), &ran] { ran = true; });
  }
  CHECK_FALSE(ran);
  CHECK(dropped == 2);
}

TEST_CASE("virtual_thread: runs posts and timers in their order, without waiting for the clock",
          "[exec]") {
  std::mutex mutex;
  std::string order;
  std::promise<void> ended;
  virtual_thread s;
  const auto note = [&](char c) {
    std::scoped_lock lock(mutex);
    order += c;
  };
  const auto start = s.now();
  CHECK_FALSE(s.is_current());
  s.post([&] {
    CHECK(s.is_current());
    s.at(start + 48h, [&] {
      CHECK(s.now() == start + 48h);
      note('c');
      ended.set_value();
    });
    const timer_id forgotten = s.at(start + 1h, [&] { note('x'); });
    s.at(start + 24h, [&] { note('b'); });
    s.post([&] { note('a'); });
    CHECK(s.cancel(forgotten));
    CHECK_FALSE(s.cancel(forgotten));
  });
  ended.get_future().wait();
  std::scoped_lock lock(mutex);
  CHECK(order == "abc");
}

TEST_CASE("virtual_thread: what waits when it ends is destroyed without being run", "[exec]") {
  const auto alive = std::make_shared<int>(0);
  {
    virtual_thread s;
    std::promise<void> inside;
    std::promise<void> go;
    s.post([&, going = go.get_future().share()] {
      inside.set_value();
      going.wait();
      s.post([alive] { ++*alive; });
      s.at(s.now() + 1s, [alive] { ++*alive; });
    });
    inside.get_future().wait();
    std::thread ender([&go] { go.set_value(); });
    ender.join();
  }
  CHECK(alive.use_count() == 1);
}

}  // namespace virtual_scheduler_test
