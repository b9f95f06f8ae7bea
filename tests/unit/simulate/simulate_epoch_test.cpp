#include <dataflux/simulate/simulate_epoch.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <stop_token>
#include <string>

namespace simulate_epoch_test {

using namespace std::chrono_literals;
using dataflux::epoch_bound;
using dataflux::epoch_model;
using dataflux::errc;
using dataflux::simulate_epoch;

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = kib * kib;

/// Without dice, so that what comes out can be reckoned.
inline epoch_model plain(std::uint64_t bytes, std::uint64_t count) {
  return {.objects = {{bytes, count}},
          .link = 200e6,
          .connection_rate = 200e6,
          .round_trip = 20ms,
          .spread = -1,
          .batch = 32};
}

TEST_CASE("simulate_epoch: a full link is what bounds large samples", "[simulate]") {
  const auto told = simulate_epoch(plain(mib, 2000)).value();
  CHECK(told.bound == epoch_bound::link);
  CHECK(told.link_share > 0.97);
  CHECK(told.link_share <= 1);
  CHECK(told.seconds == Approx(2000 * static_cast<double>(mib) / 200e6).epsilon(0.03));
  CHECK(told.waited > 0.99);  // nothing but waiting is done
  CHECK(told.samples == 2000);
  CHECK(told.class_b == 2000);
  CHECK(told.class_a == 0);
  CHECK(told.simulated == 1);
  CHECK(told.first_batch >= 0.06);  // connecting, and a request
}

TEST_CASE("simulate_epoch: a step that takes longer than reading is what bounds", "[simulate]") {
  epoch_model model = plain(100 * kib, 6400);
  model.step = 50ms;  // the link needs 16
  const auto told = simulate_epoch(model).value();
  CHECK(told.bound == epoch_bound::step);
  CHECK(told.waited < 0.05);
  CHECK(told.seconds == Approx(200 * 0.05).epsilon(0.03));
}

TEST_CASE("simulate_epoch: reads in flight by the time of each bound small samples", "[simulate]") {
  epoch_model model = plain(kib, 20'000);
  model.link = 1e9;
  model.concurrency = 40;
  model.request_time = 1us;
  const auto told = simulate_epoch(model).value();
  CHECK(told.bound == epoch_bound::concurrency);
  CHECK(told.samples_per_second == Approx(40 / 0.02).epsilon(0.05));
  CHECK(told.in_flight == Approx(40).epsilon(0.05));
}

TEST_CASE("simulate_epoch: memory bounds where reads that the link needs do not fit into it",
          "[simulate]") {
  epoch_model model = plain(mib, 2000);
  model.link = 2e9;
  model.connection_rate = 2e9;
  model.byte_nanoseconds = 0.01;
  model.memory = 8 * mib;
  const auto told = simulate_epoch(model).value();
  CHECK(told.bound == epoch_bound::memory);
  CHECK(told.bytes_per_second < 8 * static_cast<double>(mib) / 0.02 * 1.05);
  CHECK(told.peak_memory <= 8 * mib);
}

TEST_CASE("simulate_epoch: the I/O thread's time bounds, and more processors bring more threads",
          "[simulate]") {
  epoch_model model = plain(16 * kib, 40'000);
  model.link = 10e9;
  model.request_time = 100us;
  model.byte_nanoseconds = 0.001;
  model.processors = 2;
  const auto told = simulate_epoch(model).value();
  CHECK(told.bound == epoch_bound::processors);
  CHECK(told.samples_per_second == Approx(1e4).epsilon(0.08));  // it begins with few reads
  CHECK(told.processors_share == Approx(0.5).epsilon(0.1));
  model.processors = 8;
  CHECK(simulate_epoch(model).value().samples_per_second > 1.1 * told.samples_per_second);
  model.processors = 2;
  model.workers = 2;  // each has an I/O thread of its own
  CHECK(simulate_epoch(model).value().samples_per_second > 1.1 * told.samples_per_second);
}

TEST_CASE("simulate_epoch: decoding bounds by its threads, and processors that they share",
          "[simulate]") {
  epoch_model model = plain(10 * kib, 8000);
  model.decode = 2ms;
  const auto told = simulate_epoch(model).value();
  CHECK(told.bound == epoch_bound::decoding);
  CHECK(told.samples_per_second == Approx(500).epsilon(0.05));
  model.decode_threads = 4;
  CHECK(simulate_epoch(model).value().samples_per_second == Approx(2000).epsilon(0.1));
  model.processors = 2;
  CHECK(simulate_epoch(model).value().samples_per_second == Approx(1000).epsilon(0.1));
}

TEST_CASE("simulate_epoch: workers share the link, and what they read is all samples once",
          "[simulate]") {
  epoch_model model = plain(mib, 1003);  // the last batch is short
  model.workers = 3;
  const auto told = simulate_epoch(model).value();
  CHECK(told.link_share > 0.95);
  CHECK(told.class_b == 1003);
  CHECK(told.simulated == 1);
}

TEST_CASE("simulate_epoch: a large epoch is reckoned from its beginning", "[simulate]") {
  const auto whole = simulate_epoch(plain(100 * kib, 25'000)).value();
  const auto large = simulate_epoch(plain(100 * kib, 100'000'000)).value();
  CHECK(large.simulated < 0.01);
  CHECK(large.samples_per_second == Approx(whole.samples_per_second).epsilon(0.02));
  CHECK(large.class_b == 100'000'000);
  CHECK(large.bytes == 100 * kib * 100'000'000);
  CHECK(large.price == Approx(40));
}

TEST_CASE("simulate_epoch: several epochs are one after the other, and listed once", "[simulate]") {
  epoch_model model = plain(kib, 2000);
  model.epochs = 3;
  model.listed = true;
  const auto told = simulate_epoch(model).value();
  CHECK(told.samples == 6000);
  CHECK(told.class_b == 6000);
  CHECK(told.class_a == 2);
}

TEST_CASE("simulate_epoch: equal models give equal forecasts, other seeds others", "[simulate]") {
  epoch_model model = plain(100 * kib, 3000);
  model.spread = 0.3;
  const double first = simulate_epoch(model).value().seconds;
  CHECK(simulate_epoch(model).value().seconds == first);
  model.seed = 2;
  CHECK(simulate_epoch(model).value().seconds != first);
}

TEST_CASE("simulate_epoch: objects of no bytes, one object, one that takes many reads",
          "[simulate]") {
  const auto empty = simulate_epoch(plain(0, 100)).value();
  CHECK(empty.samples == 100);
  CHECK(empty.class_b == 0);
  CHECK(simulate_epoch(plain(kib, 1)).value().bound == epoch_bound::start);
  const auto large = simulate_epoch(plain(150 * mib, 4)).value();
  CHECK(large.class_b >= 4 * 19);  // a slice is 8 MiB at most
}

TEST_CASE("simulate_epoch: what cannot be is refused, by the member's name", "[simulate]") {
  const auto refused = [](auto change, const std::string& member) {
    epoch_model model = plain(kib, 10);
    change(model);
    const auto told = simulate_epoch(model);
    INFO(member);
    REQUIRE(!told);
    CHECK(told.error().code() == errc::invalid_argument);
    CHECK(told.error().message().find(member) == 0);
  };
  refused([](auto& m) { m.objects.clear(); }, "objects");
  refused([](auto& m) { m.objects = {{kib, 0}}; }, "objects");
  refused([](auto& m) { m.objects = {{UINT64_MAX, 1}}; }, "objects");
  refused([](auto& m) { m.objects = {{1, UINT64_MAX}}; }, "objects");
  refused([](auto& m) { m.objects.push_back({300 * mib, 1}); }, "memory");
  refused([](auto& m) { m.epochs = UINT64_MAX; }, "epochs");
  refused([](auto& m) { m.link = 0; }, "link");
  refused([](auto& m) { m.link = -1; }, "link");
  refused([](auto& m) { m.link = std::numeric_limits<double>::quiet_NaN(); }, "link");
  refused([](auto& m) { m.link = std::numeric_limits<double>::infinity(); }, "link");
  refused([](auto& m) { m.connection_rate = -1; }, "connection_rate");
  refused([](auto& m) { m.round_trip = -1ms; }, "round_trip");
  refused([](auto& m) { m.round_trip = 2h; }, "round_trip");
  refused([](auto& m) { m.spread = 5; }, "spread");
  refused([](auto& m) { m.spread = std::numeric_limits<double>::quiet_NaN(); }, "spread");
  refused([](auto& m) { m.workers = 5000; }, "workers");
  refused([](auto& m) { m.batch = UINT64_MAX; }, "batch");
  refused([](auto& m) { m.step = -1ms; }, "step");
  refused([](auto& m) { m.step = dataflux::duration::max(); }, "step");
  refused([](auto& m) { m.concurrency = UINT32_MAX; }, "concurrency");
  refused([](auto& m) { m.prices.class_b = -1; }, "prices.class_b");
}

TEST_CASE("simulate_epoch: it ends when it is asked to", "[simulate]") {
  std::stop_source stop;
  stop.request_stop();
  const auto told = simulate_epoch(plain(kib, 1000), stop.get_token());
  REQUIRE(!told);
  CHECK(told.error().code() == errc::cancelled);
}

}  // namespace simulate_epoch_test
