#include <dataflux/detail/latency_recorder.hpp>
#include <dataflux/latency_histogram.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace latency_histogram_test {

using namespace std::chrono_literals;
using dataflux::duration;
using dataflux::latency_histogram;

namespace {

latency_histogram histogram_of(const std::vector<duration>& times) {
  dataflux::detail::latency_recorder recorder;
  for (const duration time : times) recorder.add(time);
  latency_histogram out;
  recorder.add_to(out);
  return out;
}

}  // namespace

TEST_CASE("latency_histogram: buckets are four to a doubling, without a gap", "[core]") {
  CHECK(latency_histogram::limit_of(0) == duration(65'536));
  CHECK(latency_histogram::limit_of(84) == duration(std::int64_t{1} << 37));
  CHECK(latency_histogram::limit_of(85) == duration::max());
  for (std::size_t i = 4; i < 85; ++i) {
    CHECK(latency_histogram::limit_of(i) == 2 * latency_histogram::limit_of(i - 4));
  }
  for (std::size_t i = 0; i + 1 < latency_histogram::buckets; ++i) {
    const duration limit = latency_histogram::limit_of(i);
    CHECK(limit < latency_histogram::limit_of(i + 1));
    CHECK(latency_histogram::bucket_of(limit) == i);
    CHECK(latency_histogram::bucket_of(limit + 1ns) == i + 1);
  }
  CHECK(latency_histogram::bucket_of(0ns) == 0);
  CHECK(latency_histogram::bucket_of(duration::max()) == 85);
}

TEST_CASE("latency_histogram: a quantile is not below the sorted one, nor a quarter above",
          "[core]") {
  std::mt19937 dice(7);
  std::vector<duration> times;
  std::lognormal_distribution<double> spread(17, 1.5);  // around 24 ms
  for (int i = 0; i < 3'000; ++i)
    times.emplace_back(static_cast<std::int64_t>(spread(dice)) + 65'537);
  const latency_histogram all = histogram_of(times);
  CHECK(all.count() == 3'000);
  duration sum{};
  for (const duration time : times) sum += time;
  CHECK(all.sum == sum);
  std::sort(times.begin(), times.end());
  for (const std::size_t rank : {1U, 300U, 1'500U, 2'970U, 3'000U}) {
    const duration found = all.quantile(static_cast<double>(rank) / 3'000);
    const duration sorted = times[rank - 1];
    CHECK(found >= sorted);
    CHECK(found.count() <= sorted.count() / 4 * 5 + 5);
  }
}

TEST_CASE("latency_histogram: none, one, and one that is too long", "[core]") {
  CHECK(latency_histogram{}.quantile(0.5) == 0ns);
  CHECK(latency_histogram{}.count() == 0);
  CHECK(histogram_of({0ns}).quantile(0) == latency_histogram::limit_of(0));
  CHECK(histogram_of({1h}).quantile(1) == duration::max());
  CHECK(histogram_of({1h}).sum == 1h);
}

}  // namespace latency_histogram_test
