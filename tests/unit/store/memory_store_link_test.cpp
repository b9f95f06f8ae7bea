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

using dataflux::timer_id;
using dataflux::virtual_scheduler;
using dataflux::detail::shared_link;
using namespace std::chrono_literals;

namespace {

double seconds(dataflux::duration d) { return std::chrono::duration<double>(d).count(); }

/// The same model, computed the slow way: equal shares, step by step from end to end.
std::vector<double> fluid_model(const std::vector<std::pair<double, double>>& starts_and_sizes,
                                double per_transfer, double total) {
  std::vector<double> left(starts_and_sizes.size());
  std::vector<double> ends(starts_and_sizes.size(), -1);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = starts_and_sizes[i].second;
  double now = 0;
  for (;;) {
    std::size_t active = 0;
    double next = 1e30;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (ends[i] >= 0) continue;
      if (starts_and_sizes[i].first <= now) {
        ++active;
      } else {
        next = std::min(next, starts_and_sizes[i].first);
      }
    }
    if (active == 0 && next >= 1e30) return ends;
    const double rate =
        active == 0 ? 0 : std::min(per_transfer, total / static_cast<double>(active));
    double step = next - now;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (ends[i] < 0 && starts_and_sizes[i].first <= now) step = std::min(step, left[i] / rate);
    }
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (ends[i] >= 0 || starts_and_sizes[i].first > now) continue;
      left[i] -= rate * step;
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
    std::vector<std::pair<double, double>> plan;
    for (int i = 0; i < 40; ++i) {
      plan.emplace_back(static_cast<double>(random() % 20'000) / 1000,
                        static_cast<double>(1 + random() % 20'000));
    }
    virtual_scheduler s;
    shared_link link(s, per_transfer, total);
    const auto start = s.now();
    std::vector<double> ends(plan.size(), -1);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      s.at(start + std::chrono::milliseconds(std::llround(plan[i].first * 1000)), [&, i] {
        link.start(static_cast<std::uint64_t>(plan[i].second),
                   [&, i] { ends[i] = seconds(s.now() - start); });
      });
    }
    s.run();
    const auto expected = fluid_model(plan, per_transfer, total);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      REQUIRE(ends[i] == Approx(expected[i]).epsilon(0.001).margin(1e-4));
    }
  }
}
