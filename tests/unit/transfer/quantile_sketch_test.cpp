#include <dataflux/transfer/detail/quantile_sketch.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace quantile_sketch_test {

using dataflux::detail::quantile_sketch;

namespace {

/// Without decay, for as many values as a test adds.
constexpr double keep_all = 1e12;

/// The value that sorting gives.
double exact(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(q * static_cast<double>(values.size()));
  return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

bool within(double value, double truth, double share) {
  return std::abs(value - truth) <= share * truth;
}

}  // namespace

TEST_CASE("quantile_sketch: every quantile is within 2 % of the sorted one", "[transfer]") {
  std::mt19937_64 random(7);
  for (const double spread : {0.01, 0.5, 2.0, 4.0}) {
    std::lognormal_distribution<double> times(std::log(0.1), spread);
    quantile_sketch sketch(1e-5, keep_all);
    std::vector<double> values;
    for (int i = 0; i < 5'001; ++i) {
      values.push_back(std::clamp(times(random), 1e-5, 1e3));
      sketch.add(values.back());
    }
    for (const double q : {0.001, 0.05, 0.5, 0.95, 0.99, 0.999, 1.0}) {
      INFO("spread " << spread << " quantile " << q << ": " << sketch.quantile(q) << " for "
                     << exact(values, q));
      CHECK(within(sketch.quantile(q), exact(values, q), 0.0201));
    }
  }
}

TEST_CASE("quantile_sketch: the whole range from end to end", "[transfer]") {
  for (int i = 0; i <= 1'600; ++i) {
    const double value = std::pow(10, -5 + i * 0.005);
    quantile_sketch sketch;
    sketch.add(value);
    CHECK(within(sketch.quantile(0.5), value, 0.0201));
  }
}

TEST_CASE("quantile_sketch: what lies outside counts as the nearest end", "[transfer]") {
  for (const double value : {0.0, -1.0, 1e-9, std::numeric_limits<double>::quiet_NaN()}) {
    quantile_sketch sketch;
    sketch.add(value);
    CHECK(within(sketch.quantile(1), 1e-5, 0.0201));
  }
  for (const double value : {1e6, std::numeric_limits<double>::infinity()}) {
    quantile_sketch sketch;
    sketch.add(value);
    CHECK(within(sketch.quantile(0), 1e3, 0.05));
  }
}

TEST_CASE("quantile_sketch: other units by another lowest value", "[transfer]") {
  quantile_sketch rate(100);
  for (int i = 0; i < 10; ++i) rate.add(50e6);
  CHECK(within(rate.quantile(0.5), 50e6, 0.0201));
}

TEST_CASE("quantile_sketch: an empty one answers zero", "[transfer]") {
  const quantile_sketch sketch;
  CHECK(sketch.count() == 0);
  CHECK(sketch.quantile(0.5) == 0);
}

TEST_CASE("quantile_sketch: after a half-life older values count half", "[transfer]") {
  quantile_sketch sketch(1e-5, 100);
  for (int i = 0; i < 100'000; ++i) sketch.add(1);
  for (int i = 0; i < 100; ++i) sketch.add(10);
  // Half of the weight is old now: the median is on the edge.
  CHECK(within(sketch.quantile(0.48), 1, 0.0201));
  CHECK(within(sketch.quantile(0.52), 10, 0.0201));
  for (int i = 0; i < 600; ++i) sketch.add(10);
  CHECK(within(sketch.quantile(0.02), 10, 0.0201));
  CHECK(sketch.count() == 100'700);
}

}  // namespace quantile_sketch_test
