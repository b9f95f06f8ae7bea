#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/detail/shared_link.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace memory_store_link_test {

using dataflux::timer_id;
using dataflux::virtual_scheduler;
using dataflux::detail::shared_link;
using namespace std::chrono_literals;

namespace {

double seconds(dataflux::duration d) { return std::chrono::duration<double>(d).count(); }

struct transfer {
  double start{0};
  double size{0};
  double weight{1};
};

/// The same model, computed the slow way: shares by weight, step by step from end to end.
std::vector<double> fluid_model(const std::vector<transfer>& plan, double per_transfer,
                                double total) {
  std::vector<double> left(plan.size());
  std::vector<double> ends(plan.size(), -1);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = plan[i].size;
  double now = 0;
  for (;;) {
    double weights = 0;
    double next = 1e30;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (ends[i] >= 0) continue;
      if (plan[i].start <= now) {
        weights += plan[i].weight;
      } else {
        next = std::min(next, plan[i].start);
      }
    }
    if (weights == 0 && next >= 1e30) return ends;
    const double rate = weights == 0 ? 0 : std::min(per_transfer, total / weights);
    double step = next - now;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (ends[i] < 0 && plan[i].start <= now) {
        step = std::min(step, left[i] / (rate * plan[i].weight));
      }
    }
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (ends[i] >= 0 || plan[i].start > now) continue;
      left[i] -= rate * plan[i].weight * step;
      if (left[i] < 1e-6) ends[i] = now + step;
    }
    now += step;
  }
}

}  // namespace

TEST_CASE("shared_link: one transfer goes at its own limit", "[store]") {
  virtual_scheduler s;
  shared_link link(s, 50e6, 1e9);
  const auto start = s.now();
  double took = 0;
  link.start(100'000'000, [&] { took = seconds(s.now() - start); });
  CHECK(link.active() == 1);
  CHECK(took == 0);
  s.run();
  CHECK(took == Approx(2.0));
  CHECK(link.active() == 0);
}

TEST_CASE("shared_link: many transfers share the total equally", "[store]") {
  virtual_scheduler s;
  shared_link link(s, 50e6, 100e6);
  const auto start = s.now();
  std::vector<double> took;
  for (int i = 0; i < 10; ++i) {
    link.start(10'000'000, [&] { took.push_back(seconds(s.now() - start)); });
  }
  s.run();
  REQUIRE(took.size() == 10);
  for (const double t : took) CHECK(t == Approx(1.0));
}

TEST_CASE("shared_link: unlimited means now, but never inside start", "[store]") {
  virtual_scheduler s;
  shared_link link(s, 0, 0);
  bool done = false;
  const auto start = s.now();
  link.start(std::uint64_t{1} << 40U, [&] { done = true; });
  CHECK_FALSE(done);
  s.run();
  CHECK(done);
  CHECK(s.now() == start);
}

TEST_CASE("shared_link: a cancelled transfer leaves its share to the others", "[store]") {
  virtual_scheduler s;
  shared_link link(s, 0, 100);
  const auto start = s.now();
  double took = 0;
  bool never_runs = true;
  link.start(100, [&] { took = seconds(s.now() - start); });
  const timer_id other = link.start(1000, [&] { never_runs = false; });
  s.run_for(1s);  // 50 bytes each
  CHECK(link.cancel(other));
  CHECK_FALSE(link.cancel(other));
  CHECK_FALSE(link.cancel(timer_id::none));
  s.run();
  CHECK(never_runs);
  CHECK(took == Approx(1.5));
}

TEST_CASE("shared_link: the share follows the weight, of one that is cancelled too", "[store]") {
  virtual_scheduler s;
  shared_link link(s, 60, 100);
  const auto start = s.now();
  double took = 0;
  link.start(
      100, [&] { took = seconds(s.now() - start); }, 0.5);
  const timer_id heavy = link.start(
      1000, [] { FAIL("it was cancelled"); }, 4.5);
  s.run_for(2s);  // 10 and 90 bytes a second
  CHECK(link.cancel(heavy));
  s.run();
  CHECK(took == Approx(2 + 80.0 / 30));  // alone it has half of what a connection carries
}

TEST_CASE("shared_link: a transfer that starts when another ends takes its full time", "[store]") {
  virtual_scheduler s;
  shared_link link(s, 100, 0);
  const auto start = s.now();
  std::vector<double> took;
  link.start(100, [&] {
    took.push_back(seconds(s.now() - start));
    link.start(100, [&] { took.push_back(seconds(s.now() - start)); });
  });
  s.run();
  REQUIRE(took.size() == 2);
  CHECK(took[0] == Approx(1.0));
  CHECK(took[1] == Approx(2.0));
}

TEST_CASE("shared_link: its end leaves nothing on the scheduler", "[store]") {
  virtual_scheduler s;
  {
    shared_link link(s, 10, 0);
    link.start(1000, [] { FAIL("the link is gone"); });
  }
  CHECK(s.pending() == 0);
  s.run();
}

TEST_CASE("shared_link: it agrees with a fluid model over random transfers", "[store]") {
  std::mt19937 random(5);  // NOLINT: a fixed seed is the point
  for (int round = 0; round < 20; ++round) {
    const double per_transfer = static_cast<double>(1000 + random() % 5000);
    const double total = static_cast<double>(2000 + random() % 20'000);
    std::vector<transfer> plan;
    for (int i = 0; i < 40; ++i) {
      plan.push_back({.start = static_cast<double>(random() % 20'000) / 1000,
                      .size = static_cast<double>(1 + random() % 20'000),
                      .weight = round % 2 == 0 ? 1 : static_cast<double>(1 + random() % 40) / 10});
    }
    virtual_scheduler s;
    shared_link link(s, per_transfer, total);
    const auto start = s.now();
    std::vector<double> ends(plan.size(), -1);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      s.at(start + std::chrono::milliseconds(std::llround(plan[i].start * 1000)), [&, i] {
        link.start(
            static_cast<std::uint64_t>(plan[i].size),
            [&, i] { ends[i] = seconds(s.now() - start); }, plan[i].weight);
      });
    }
    s.run();
    const auto expected = fluid_model(plan, per_transfer, total);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      REQUIRE(ends[i] == Approx(expected[i]).epsilon(0.001).margin(1e-4));
    }
  }
}

}  // namespace memory_store_link_test
