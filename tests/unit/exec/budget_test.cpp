#include <dataflux/exec/budget.hpp>

#include <support/catch.hpp>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace budget_test {

using dataflux::budget;
using dataflux::budget_share;
using dataflux::errc;
using dataflux::result;

namespace {

/// A callback that keeps its share in `place`.
auto keep_in(std::vector<budget_share>& place) {
  return [&place](result<budget_share> share) { place.push_back(std::move(share).value()); };
}

}  // namespace

TEST_CASE("budget: shares never exceed the bytes or the slots", "[exec]") {
  const budget b(100, 2);
  auto first = b.try_acquire(60);
  REQUIRE(first);
  CHECK_FALSE(b.try_acquire(41));
  auto second = b.try_acquire(40);
  REQUIRE(second);
  CHECK(b.used_bytes() == 100);
  CHECK(b.used_slots() == 2);
  CHECK_FALSE(b.try_acquire(0));
  first->release();
  CHECK(first->bytes() == 0);
  CHECK(b.used_bytes() == 40);
  second.reset();
  CHECK(b.used_bytes() == 0);
  CHECK(b.used_slots() == 0);
}

TEST_CASE("budget: who waits is served first come, first served", "[exec]") {
  const budget b(100, 10);
  auto held = b.try_acquire(80);
  std::vector<budget_share> got;
  b.acquire(50, keep_in(got));
  b.acquire(10, keep_in(got));
  CHECK(got.empty());
  CHECK(b.waiting() == 2);
  CHECK_FALSE(b.try_acquire(1));
  held->shrink_to(45);
  REQUIRE(got.size() == 1);
  CHECK(got[0].bytes() == 50);
  held->release();
  REQUIRE(got.size() == 2);
  CHECK(b.used_bytes() == 60);
}

TEST_CASE("budget: more than the cap is refused by name", "[exec]") {
  const budget b(100, 1);
  errc code = errc::ok;
  std::string message;
  b.acquire(101, [&](result<budget_share> share) {
    code = share.error().code();
    message = share.error().message();
  });
  CHECK(code == errc::resource_exhausted);
  CHECK(message.find("100") != std::string::npos);
  CHECK(b.used_slots() == 0);
}

TEST_CASE("budget: a waiter that gives up lets the line go on", "[exec]") {
  const budget b(100, 10);
  const auto held = b.try_acquire(50);
  std::vector<budget_share> got;
  auto mark = std::make_shared<int>();
  const auto large =
      b.acquire(100, [mark](result<budget_share>) { FAIL("cancelled, yet called"); });
  b.acquire(10, keep_in(got));
  CHECK(got.empty());
  CHECK(b.cancel(large));
  CHECK(mark.use_count() == 1);
  CHECK(got.size() == 1);
  CHECK_FALSE(b.cancel(large));
  CHECK_FALSE(b.cancel(budget::waiter::none));
}

TEST_CASE("budget: a share moves and outlives the handle", "[exec]") {
  budget_share kept;
  std::size_t released = 0;
  {
    const budget b(10, 1);
    kept = std::move(*b.try_acquire(10));
    CHECK(kept);
    b.acquire(5, [&](result<budget_share> share) { released = share->bytes(); });
  }
  budget_share moved = std::move(kept);
  CHECK(kept.bytes() == 0);
  CHECK(moved.bytes() == 10);
  moved.release();
  CHECK(released == 5);
}

TEST_CASE("budget: a long line of waiters that drop their share does not nest", "[exec]") {
  const budget b(1, 1);
  auto held = b.try_acquire(1);
  int served = 0;
  for (int i = 0; i < 200'000; ++i) b.acquire(1, [&served](result<budget_share>) { ++served; });
  held.reset();
  CHECK(served == 200'000);
  CHECK(b.used_slots() == 0);
}

TEST_CASE("budget: threads never exceed the cap and leave nothing behind", "[exec]") {
  const budget b(10, 3);
  std::atomic<int> inside{0};
  std::atomic<int> peak{0};
  std::atomic<int> served{0};
  const auto use = [&](result<budget_share>) {
    const int now = ++inside;
    int before = peak;
    while (now > before && !peak.compare_exchange_weak(before, now)) {
    }
    ++served;
    --inside;
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2'000; ++i) b.acquire(static_cast<std::size_t>(1 + (i + t) % 10), use);
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(served == 8'000);
  CHECK(peak <= 3);
  CHECK(b.used_bytes() == 0);
  CHECK(b.waiting() == 0);
}

}  // namespace budget_test
