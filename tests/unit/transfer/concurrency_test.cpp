#include <dataflux/transfer/detail/concurrency.hpp>

#include <support/catch.hpp>
#include <support/sanitized.hpp>

#include "link_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace concurrency_test {

using namespace std::chrono_literals;
using dataflux::duration;
using dataflux::time_point;
using dataflux::detail::concurrency_control;

namespace {

constexpr time_point start{100s};

link_fixture::sizes all_of(std::uint64_t bytes) {
  return [bytes](std::mt19937_64&) { return bytes; };
}
std::uint64_t small_to_large(std::mt19937_64& random) {  // as many of each order of magnitude
  std::uniform_real_distribution<double> exponent(std::log(1e4), std::log(8e6));
  return static_cast<std::uint64_t>(std::exp(exponent(random)));
}

double best_fixed(const link_settings& settings, const link_fixture::sizes& sizes) {
  double best = 0;
  for (int n = 1; n < 257; n = std::max(n + 1, n * 115 / 100)) {
    link_fixture fixture(settings, sizes, nullptr, n);
    fixture.run_for(2s);
    static_cast<void>(fixture.take_rates());
    fixture.run_for(4s);
    best = std::max(best, fixture.take_rates().bytes);
  }
  return best;
}

/// Ends `n` requests that all began at `began`.
void end(concurrency_control& control, int n, time_point began, duration took,
         std::uint64_t bytes = 10'000) {
  for (int i = 0; i < n; ++i) control.finished({began, began + took, began + took, bytes});
}

}  // namespace

TEST_CASE("concurrency_control: begins with 32, or with what there is", "[transfer]") {
  CHECK(concurrency_control().limit() == 32);
  CHECK(concurrency_control({.max = 3}).limit() == 3);
  CHECK(concurrency_control({.max = 0}).limit() == 1);
  concurrency_control control({.max = 2});
  control.started(start);
  CHECK(control.may_start());
  control.started(start);
  CHECK_FALSE(control.may_start());
  control.dropped(start + 1s);
  CHECK(control.may_start());
  CHECK(control.in_flight() == 1);
}

TEST_CASE("concurrency_control: finds within 10 % of the best fixed number", "[transfer]") {
  struct setting {
    const char* name;
    link_settings link;
    link_fixture::sizes sizes;
  };
  const link_settings far{.round_trip = 100ms, .sigma = 0.1};
  const link_settings region{.round_trip = 20ms, .sigma = 0.1};
  const link_settings rough{.round_trip = 20ms, .sigma = 0.5, .total_rate = 125e6};
  const link_settings near{
      .round_trip = 2ms, .sigma = 0.1, .connection_rate = 0, .total_rate = 125e6};
  const auto row = GENERATE_REF(values<setting>({
      {"20 ms, 10 Gbit/s, 10 KB", region, all_of(10'000)},
      {"20 ms, 10 Gbit/s, 100 KiB", region, all_of(100 << 10)},
      {"20 ms, 10 Gbit/s, 8 MiB", region, all_of(8 << 20)},
      {"20 ms, 10 Gbit/s, mixed", region, small_to_large},
      {"20 ms, 1 Gbit/s, jitter, 100 KiB", rough, all_of(100 << 10)},
      {"2 ms, 1 Gbit/s, 100 KiB", near, all_of(100 << 10)},
      {"2 ms, 1 Gbit/s, 8 MiB", near, all_of(8 << 20)},
      {"2 ms, 1 Gbit/s, mixed", near, small_to_large},
      {"100 ms, 10 Gbit/s, 8 MiB", far, all_of(8 << 20)},
      {"100 ms, 10 Gbit/s, mixed", far, small_to_large},
  }));
  if (sanitized && !std::string_view(row.name).ends_with("8 MiB")) return;  // of few requests
  concurrency_control control;
  link_fixture fixture(row.link, row.sizes, &control);
  fixture.run_for(5s);
  static_cast<void>(fixture.take_rates());
  fixture.run_for(20s);
  const double found = fixture.take_rates().bytes;
  const double best = best_fixed(row.link, row.sizes);
  INFO(row.name << ": " << found / 1e6 << " of " << best / 1e6 << " MB/s");
  CHECK(found >= 0.94 * best);
}

TEST_CASE("concurrency_control: all connections within the first second", "[transfer]") {
  concurrency_control control({.max = 200});
  link_fixture fixture({.round_trip = 20ms, .sigma = 0.1}, all_of(10'000), &control);
  fixture.run_for(1s);
  CHECK(control.limit() == 200);
  static_cast<void>(fixture.take_rates());
  fixture.run_for(20s);
  CHECK(control.limit() == 200);
  // One by one is 49 a second.
  CHECK(fixture.take_rates().requests >= 0.9 * 200 * 49);
}

TEST_CASE("concurrency_control: no queue where fewer do as much", "[transfer]") {
  concurrency_control control;
  link_fixture fixture({.round_trip = 2ms, .sigma = 0.1, .connection_rate = 0, .total_rate = 125e6},
                       all_of(100 << 10), &control);
  fixture.run_for(5s);
  for (int i = 0; i < 20; ++i) {
    fixture.run_for(1s);
    CHECK(control.limit() <= 25);  // 3.4 would fill the link if all were even
  }
}

TEST_CASE("concurrency_control: where the network is no limit it stays at 16 and more",
          "[transfer]") {
  // As on loopback: 10 us of a CPU for each, and hardly a round trip. Two would do.
  concurrency_control control;
  link_fixture fixture(
      {.round_trip = 20us, .sigma = 0.1, .connection_rate = 0, .total_rate = 1.6e9}, all_of(16'000),
      &control);
  for (int i = 0; i < 10; ++i) {
    fixture.run_for(1s);
    CHECK(control.limit() >= 16);
    CHECK(control.limit() <= 40);
  }
}

TEST_CASE("concurrency_control: a limit of the service is obeyed, and its end is found",
          "[transfer]") {
  const double allowed = GENERATE(500.0, 2'000.0, 4'000.0);
  if (sanitized && allowed > 500) return;  // the plain build looks at all
  concurrency_control control;
  link_fixture fixture({.round_trip = 20ms, .sigma = 0.1, .requests_per_second = allowed},
                       all_of(10'000), &control);
  fixture.run_for(2s);
  static_cast<void>(fixture.take_rates());
  fixture.run_for(30s);
  const auto limited = fixture.take_rates();
  INFO(allowed << " a second: " << limited.requests << ", refused " << limited.rejected);
  CHECK(limited.requests >= 0.9 * allowed);
  CHECK(limited.rejected <= 0.1 * (limited.requests + limited.rejected));

  fixture.settings().requests_per_second = 0;
  fixture.run_for(10s);
  CHECK(control.limit() == 256);
  static_cast<void>(fixture.take_rates());
  fixture.run_for(1s);
  CHECK(fixture.take_rates().requests >= 0.95 * 256 * 49);
}

TEST_CASE("concurrency_control: a rejection cuts once per round trip", "[transfer]") {
  concurrency_control control;
  for (int i = 0; i < 32; ++i) control.started(start);
  for (int i = 0; i < 32; ++i) control.throttled(start, start + 20ms);
  CHECK(control.limit() == 25);
  CHECK(control.in_flight() == 32);
  CHECK_FALSE(control.may_start());
  control.throttled(start + 19ms, start + 30ms);
  CHECK(control.limit() == 25);
  control.throttled(start + 21ms, start + 45ms);
  CHECK(control.limit() == 20);
  for (int i = 0; i < 20; ++i) control.throttled(start + 1s + i * 1s, start + 1s + i * 1s);
  CHECK(control.limit() == 1);
}

TEST_CASE("concurrency_control: after rejections it rests, longer if they go on", "[transfer]") {
  concurrency_control control;
  time_point now = start;
  const auto work_for = [&](duration time) {
    for (const time_point until = now + time; now < until; now += 10ms) {
      const int n = control.limit();
      for (int i = 0; i < n; ++i) control.started(now);
      end(control, n, now, 10ms);
    }
  };
  const auto rest_after_cut = [&] {
    control.throttled(now, now);
    const int cut = control.limit();
    const time_point since = now;
    while (control.limit() <= cut && now < since + 1min) work_for(10ms);
    return now - since;
  };
  work_for(1s);
  const duration first = rest_after_cut();
  CHECK(first >= 1s);
  CHECK(first < 2s);
  CHECK(rest_after_cut() >= 2s);
  CHECK(rest_after_cut() >= 4s);
  const duration last = rest_after_cut();
  CHECK(last >= 4s);
  CHECK(last < 6s);
  work_for(20s);
  CHECK(rest_after_cut() < 2s);
}

TEST_CASE("concurrency_control: steps that succeed become larger again", "[transfer]") {
  concurrency_control control;
  control.throttled(start, start);
  time_point now = start + 2s;
  std::vector<int> limits{control.limit()};
  for (int round = 0; round < 1'000; ++round, now += 10ms) {
    const int n = control.limit();
    for (int i = 0; i < n; ++i) control.started(now);
    end(control, n, now, 10ms);
    if (control.limit() != limits.back()) limits.push_back(control.limit());
  }
  CHECK(limits == std::vector<int>{25, 31, 46, 92, 184, 256});
}

TEST_CASE("concurrency_control: a trial that fails clearly ends soon", "[transfer]") {
  concurrency_control control({.max = 20});
  int at_16 = 0;
  duration took = 10ms;
  for (time_point now = start; now < start + 10s; now += took) {
    const int n = control.limit();
    for (int i = 0; i < n; ++i) control.started(now);
    end(control, n, now, took);
    if (took > 10ms && n == 16) at_16 += n;
    // From here on fewer might be faster. They are not.
    if (n == 20 && now > start + 300ms) took = 15ms;
  }
  CHECK(control.limit() == 20);
  CHECK(at_16 >= 32);  // all slots twice
  CHECK(at_16 <= 48);  // and not 256, as for a small difference
}

TEST_CASE("concurrency_control: requests from before a step are not counted for it", "[transfer]") {
  concurrency_control control;
  const auto round = [&](int n, time_point at) {
    for (int i = 0; i < n; ++i) control.started(at);
    end(control, n, at, 10ms);
  };
  for (int i = 0; i < 16; ++i) control.started(start);  // these take 60 ms
  for (int i = 0; i < 4; ++i) round(16, start + i * 10ms);
  REQUIRE(control.limit() == 64);
  round(48, start + 40ms);
  round(48, start + 50ms);
  end(control, 16, start, 60ms);
  round(64, start + 60ms);
  CHECK(control.limit() == 128);
}

TEST_CASE("concurrency_control: a reader that wants little changes nothing", "[transfer]") {
  concurrency_control control;
  link_fixture fixture({.round_trip = 20ms, .sigma = 0.1}, all_of(10'000), &control);
  fixture.want(4);
  fixture.run_for(20s);
  CHECK(control.limit() == 32);
  fixture.want(0);
  fixture.run_for(5s);
  CHECK(control.limit() == 256);
  fixture.want(10);
  fixture.run_for(20s);
  CHECK(control.limit() == 256);
}

TEST_CASE("concurrency_control: a step that could not be used is smaller the next time",
          "[transfer]") {
  concurrency_control control;
  link_fixture fixture({.round_trip = 20ms, .sigma = 0.1}, all_of(10'000), &control);
  fixture.want(36);  // of 64 it uses little
  fixture.run_for(10s);
  int most = 0;
  for (int i = 0; i < 1'000; ++i) {
    fixture.run_for(10ms);
    most = std::max(most, control.limit());
  }
  CHECK(most > 32);
  CHECK(most <= 50);
}

TEST_CASE("concurrency_control: requests that fail are not goodput", "[transfer]") {
  concurrency_control control;
  time_point now = start;
  for (int round = 0; round < 100; ++round, now += 10ms) {
    const int n = control.limit();
    for (int i = 0; i < n; ++i) control.started(now);
    for (int i = 0; i < n; ++i) control.dropped(now + 10ms);
  }
  CHECK(control.limit() == 32);
  CHECK(control.in_flight() == 0);
}

TEST_CASE("concurrency_control: says what the network is like", "[transfer]") {
  concurrency_control control({.max = 10});
  CHECK(control.estimate().round_trip == 0s);
  CHECK(control.estimate().connection_bandwidth == 0);
  link_fixture fixture({.round_trip = 20ms}, all_of(8 << 20), &control);
  fixture.run_for(5s);
  const auto e = control.estimate();
  CHECK(std::abs(std::chrono::duration<double>(e.round_trip).count() - 0.020) <= 0.0005);
  CHECK(std::abs(std::chrono::duration<double>(e.first_byte).count() - 0.020) <= 0.0005);
  CHECK(std::abs(e.connection_bandwidth / 50e6 - 1) <= 0.03);
  // Of each 188 ms a request has its body for 168.
  CHECK(std::abs(e.goodput / (10 * 50e6 * 168 / 188) - 1) <= 0.03);
}

TEST_CASE("concurrency_control: small bodies say nothing about bandwidth", "[transfer]") {
  concurrency_control control;
  link_fixture fixture({}, all_of(100 << 10), &control);
  fixture.run_for(2s);
  CHECK(control.estimate().connection_bandwidth == 0);
  CHECK(control.estimate().goodput > 0);
}

}  // namespace concurrency_test
