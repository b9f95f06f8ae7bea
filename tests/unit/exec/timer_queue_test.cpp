#include <dataflux/exec/detail/timer_queue.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace timer_queue_test {

using dataflux::never;
using dataflux::task;
using dataflux::time_point;
using dataflux::timer_id;
using dataflux::detail::timer_queue;
using namespace std::chrono_literals;

namespace {
time_point at(int ms) { return time_point(std::chrono::milliseconds(ms)); }
}  // namespace

TEST_CASE("timer_queue: tasks come by time, then by order of insertion", "[exec]") {
  timer_queue queue;
  std::vector<int> order;
  const auto note = [&order](int n) { return [&order, n] { order.push_back(n); }; };
  queue.add(at(20), note(3));
  queue.add(at(10), note(1));
  queue.add(at(20), note(4));
  queue.add(at(10), note(2));
  CHECK(queue.next() == at(10));
  CHECK_FALSE(queue.take_due(at(9)));
  while (task work = queue.take_due(at(10))) work();
  CHECK(order == std::vector<int>{1, 2});
  CHECK(queue.next() == at(20));
  while (task work = queue.take_due(at(99))) work();
  CHECK(order == std::vector<int>{1, 2, 3, 4});
  CHECK(queue.next() == never);
  CHECK(queue.size() == 0);
}

TEST_CASE("timer_queue: a cancelled task is destroyed at once and never comes", "[exec]") {
  timer_queue queue;
  auto held = std::make_shared<int>(1);
  const timer_id id = queue.add(at(10), [held] {});
  CHECK(held.use_count() == 2);
  CHECK(queue.cancel(id));
  CHECK(held.use_count() == 1);
  CHECK_FALSE(queue.cancel(id));
  CHECK_FALSE(queue.take_due(at(99)));
}

TEST_CASE("timer_queue: ids that wait no more are refused, even when the slot is reused",
          "[exec]") {
  timer_queue queue;
  CHECK_FALSE(queue.cancel(timer_id::none));
  CHECK_FALSE(queue.cancel(timer_id{12345}));
  const timer_id fired = queue.add(at(1), [] {});
  CHECK(queue.take_due(at(1)));
  CHECK_FALSE(queue.cancel(fired));
  const timer_id second = queue.add(at(2), [] {});
  CHECK(second != fired);
  CHECK_FALSE(queue.cancel(fired));
  CHECK(queue.size() == 1);
  CHECK(queue.cancel(second));
}

TEST_CASE("timer_queue: it agrees with a sorted map over random steps", "[exec]") {
  std::mt19937 random(7);  // NOLINT: a fixed seed is the point
  timer_queue queue;
  std::map<std::pair<time_point, int>, timer_id> model;
  int added = 0;
  int fired = -1;
  for (int step = 0; step < 20'000; ++step) {
    const auto what = random() % 8;
    if (what < 4) {
      const auto when = at(static_cast<int>(random() % 1000));
      const int n = added++;
      model[{when, n}] = queue.add(when, [&fired, n] { fired = n; });
    } else if (what < 6 && !model.empty()) {
      auto victim = model.begin();
      std::advance(victim, static_cast<std::ptrdiff_t>(random() % model.size()));
      REQUIRE(queue.cancel(victim->second));
      model.erase(victim);
    } else {
      task work = queue.take_due(at(static_cast<int>(random() % 1000)));
      if (!work) continue;
      work();
      REQUIRE(fired == model.begin()->first.second);
      model.erase(model.begin());
    }
    REQUIRE(queue.size() == model.size());
    REQUIRE(queue.next() == (model.empty() ? never : model.begin()->first.first));
  }
  REQUIRE(added > 5'000);
}

}  // namespace timer_queue_test
