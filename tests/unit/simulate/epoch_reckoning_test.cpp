#include <dataflux/simulate/detail/epoch_reckoning.hpp>

#include <support/catch.hpp>

#include <cstdint>
#include <set>
#include <string_view>

namespace epoch_reckoning_test {

using dataflux::epoch_bound;
using dataflux::detail::bound_of;
using dataflux::detail::epoch_outcome;
using dataflux::detail::epoch_plan;
using dataflux::detail::forecast_of;

TEST_CASE("epoch_reckoning: what is used up is what bounds", "[simulate]") {
  CHECK(bound_of({.steps = true, .waited = 0.05, .link = 0.95}) == epoch_bound::step);
  CHECK(bound_of({.steps = true, .waited = 0.5, .waited_later = 0.5, .link = 0.95}) ==
        epoch_bound::link);
  CHECK(bound_of({.steps = true, .waited = 0.5, .waited_later = 0.05, .link = 0.95}) ==
        epoch_bound::start);
  CHECK(bound_of({.waited = 0, .link = 0.95}) == epoch_bound::link);
  CHECK(bound_of({.waited = 1, .link = 0.9, .io_threads = 0.95}) == epoch_bound::processors);
  CHECK(bound_of({.waited = 1, .processors = 0.95}) == epoch_bound::processors);
  CHECK(bound_of({.waited = 1, .processors = 0.95, .decoders = 0.95}) == epoch_bound::decoding);
  CHECK(bound_of({.waited = 1, .memory = 0.9, .concurrency = 0.2}) == epoch_bound::memory);
  CHECK(bound_of({.waited = 1, .memory = 0.1, .concurrency = 0.2}) == epoch_bound::concurrency);
  CHECK(bound_of({.waited = 1, .memory = 0.9, .short_lived = true}) == epoch_bound::start);
  CHECK(bound_of({.waited = 1, .link = 0.95, .short_lived = true}) == epoch_bound::link);
}

TEST_CASE("epoch_reckoning: each bound has a name and a sentence of its own", "[simulate]") {
  std::set<std::string_view> all;
  for (int i = 0; i <= static_cast<int>(epoch_bound::start); ++i) {
    const auto bound = static_cast<epoch_bound>(i);
    CHECK(all.insert(to_string(bound)).second);
    CHECK(all.insert(explain(bound)).second);
  }
  CHECK(to_string(static_cast<epoch_bound>(99)) == "unknown");
}

/// Ten batches of 10 samples of 100 bytes: the first five take 2 s each, the others 1 s.
inline epoch_outcome ten_batches() {
  epoch_outcome made;
  made.samples.push_back({});
  double time = 0;
  for (std::uint64_t i = 1; i <= 10; ++i) {
    time += i <= 5 ? 2 : 1;
    made.batches.push_back({.time = time, .waited = time / 2, .items = 10 * i});
    made.samples.push_back({.time = time, .received = 1000 * i, .items = 10 * i});
  }
  made.reads = {.reads = 100, .bytes = 10'000};
  made.hedged = 2;
  return made;
}

const epoch_plan plan{.items = 100, .batch = 10, .step = 0.5};

TEST_CASE("epoch_reckoning: what was not simulated goes on as the second half did", "[simulate]") {
  const auto told = forecast_of(ten_batches(), {.total_rate = 1000}, plan,
                                {.samples = 1000, .bytes = 100'000, .listed = 1000},
                                {.class_a = 5, .class_b = 0.4, .gib = 1024});
  CHECK(told.seconds == Approx(15 + 90));
  CHECK(told.waited == Approx(0.5));
  CHECK(told.first_batch == Approx(2));
  CHECK(told.samples_per_second == Approx(1000 / 105.0));
  CHECK(told.link_share == Approx(100'000 / 105.0 / 1000));
  CHECK(told.simulated == Approx(0.1));
  CHECK(told.hedged == 20);
  CHECK(told.class_b == 1020);
  CHECK(told.class_a == 1);
  CHECK(told.price == Approx((5 + 0.4 * 1020) / 1e6 + 100'000 / 0x1p30 * 1024));
}

TEST_CASE("epoch_reckoning: an epoch that was simulated as a whole is what it was", "[simulate]") {
  const auto told =
      forecast_of(ten_batches(), {.total_rate = 1000}, plan, {.samples = 100, .bytes = 10'000}, {});
  CHECK(told.seconds == Approx(15));
  CHECK(told.simulated == 1);
  CHECK(told.class_a == 0);
  CHECK(told.class_b == 102);
}

TEST_CASE("epoch_reckoning: one batch, and samples of no bytes, divide by nothing", "[simulate]") {
  epoch_outcome one;
  one.samples = {{}, {.time = 0.5, .items = 4}};
  one.batches = {{.time = 0.5, .waited = 0.5, .items = 4}};
  const auto told = forecast_of(one, {}, plan, {.samples = 4}, {});
  CHECK(told.seconds == Approx(0.5));
  CHECK(told.class_b == 0);
  CHECK(told.price == 0);
  CHECK(told.bound == epoch_bound::start);
}

}  // namespace epoch_reckoning_test
