#include <dataflux/transfer/detail/concurrency_ramp.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace concurrency_ramp_test {

using namespace std::chrono_literals;
using dataflux::duration;
using dataflux::time_point;
using dataflux::detail::concurrency_ramp;

namespace {

constexpr time_point start{100s};

/// Bodies without end over a link: each begins a round trip after its request.
class bodies {
 public:
  bodies(duration round_trip, double connection, double link)
      : round_trip_(round_trip), connection_(connection), link_(link) {}

  /// The limit by the time it is settled, looked at every 5 ms; `took` says when.
  int settle(concurrency_ramp& ramp, int limit, int most) {
    std::vector<time_point> sent;
    double bytes = 0;
    time_point now = start;
    for (; now < start + 5s && !ramp.over(); now += 5ms) {
      sent.resize(std::max(sent.size(), static_cast<std::size_t>(limit)), now);
      const auto begun = static_cast<int>(std::count_if(
          sent.begin(), sent.end(), [&](time_point at) { return now >= at + round_trip_; }));
      bytes += std::min(begun * connection_, link_) * 0.005;
      limit = ramp.on_arrivals(limit, most, {static_cast<std::uint64_t>(bytes), begun}, now);
    }
    took = now - start;
    return limit;
  }
  duration took{};

 private:
  duration round_trip_;
  double connection_;
  double link_;
};

}  // namespace

TEST_CASE("concurrency_ramp: doubles in two round trips while each step pays", "[transfer]") {
  const duration round_trip = GENERATE(duration{20ms}, duration{100ms});
  bodies on(round_trip, 50e6, 1e12);
  concurrency_ramp ramp;
  CHECK(on.settle(ramp, 32, 256) == 256);
  CHECK(ramp.over());
  // Four times begun and measured, the last of them at 256.
  CHECK(on.took <= 4 * (2 * round_trip + 10ms));
}

TEST_CASE("concurrency_ramp: ends at the last limit that has paid", "[transfer]") {
  struct row {
    double link;
    int limit;
  };
  const row r =
      GENERATE(row{400e6, 32}, row{1.6e9, 32}, row{2.5e9, 64}, row{3.2e9, 64}, row{5e9, 128});
  bodies on(20ms, 50e6, r.link);
  concurrency_ramp ramp;
  CHECK(on.settle(ramp, 32, 256) == r.limit);
  CHECK(ramp.over());
}

TEST_CASE("concurrency_ramp: a last step of less than twice is judged by what it is",
          "[transfer]") {
  bodies on(20ms, 50e6, 1e12);
  concurrency_ramp ramp;
  CHECK(on.settle(ramp, 32, 40) == 40);
}

TEST_CASE("concurrency_ramp: waits until bodies have begun", "[transfer]") {
  concurrency_ramp ramp;
  time_point now = start;
  for (; now < start + 1s; now += 5ms) CHECK(ramp.on_arrivals(32, 256, {1'000, 20}, now) == 32);
  CHECK(ramp.on_arrivals(32, 256, {1'000, 32}, now) == 32);
  CHECK(ramp.on_arrivals(32, 256, {1'000'000, 32}, now + 5ms) == 32);
  CHECK(ramp.on_arrivals(32, 256, {9'000'000, 32}, now + 1s) == 64);
  CHECK_FALSE(ramp.over());
}

TEST_CASE("concurrency_ramp: nothing is no growth over nothing", "[transfer]") {
  concurrency_ramp ramp;
  ramp.on_arrivals(32, 256, {1'000, 32}, start);
  CHECK(ramp.on_arrivals(32, 256, {1'000, 32}, start + 1s) == 64);
  ramp.on_arrivals(64, 256, {1'000, 64}, start + 2s);
  CHECK(ramp.on_arrivals(64, 256, {1'000, 64}, start + 4s) == 32);
  CHECK(ramp.over());
}

TEST_CASE("concurrency_ramp: bytes that are taken back are no growth", "[transfer]") {
  concurrency_ramp ramp;
  time_point now = start;
  const auto pass = [&](std::uint64_t bytes, int begun, int limit) {
    now += 50ms;
    return ramp.on_arrivals(limit, 256, {bytes, begun}, now);
  };
  pass(1'000'000, 32, 32);
  REQUIRE(pass(9'000'000, 32, 32) == 64);
  CHECK(pass(9'000'000, 64, 64) == 64);
  CHECK(pass(2'000'000, 64, 64) == 32);
  CHECK(ramp.over());
  CHECK(pass(99'000'000, 32, 32) == 32);
}

}  // namespace concurrency_ramp_test
