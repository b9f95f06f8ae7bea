#include <c_api/harness.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <string>

namespace simulate_test {

using namespace c_api_test;

inline dataflux_epoch_model model_for(const std::uint64_t& bytes, const std::uint64_t& count) {
  dataflux_epoch_model model;
  dataflux_epoch_model_init(&model, sizeof model);
  model.sizes = &bytes;
  model.counts = &count;
  model.size_count = 1;
  model.link = 200e6;
  model.batch = 32;
  return model;
}

TEST_CASE("dataflux_simulate_epoch: a large epoch whose link is full", "[c_api]") {
  const std::uint64_t bytes = 1U << 20U;
  const std::uint64_t count = 100'000'000;
  auto model = model_for(bytes, count);
  dataflux_epoch_forecast forecast;
  told why;
  REQUIRE(dataflux_simulate_epoch(&model, &forecast, sizeof forecast, why) == DATAFLUX_OK);
  CHECK(forecast.bound == DATAFLUX_BOUND_LINK);
  CHECK(forecast.link_share > 0.95);
  CHECK(forecast.samples == count);
  CHECK(forecast.class_b >= count);
  CHECK(forecast.price == Approx(static_cast<double>(forecast.class_b) * 0.4 / 1e6));
  CHECK(forecast.simulated < 0.01);
  model.class_b_price = -1;
  model.listed = 1;
  REQUIRE(dataflux_simulate_epoch(&model, &forecast, sizeof forecast, why) == DATAFLUX_OK);
  CHECK(forecast.price == Approx(0.5));  // 100,000 pages
}

TEST_CASE("dataflux_simulate_epoch: sizes without counts are one object each", "[c_api]") {
  const std::array<std::uint64_t, 3> sizes{1000, 2000, 3000};
  auto model = model_for(sizes[0], sizes[0]);
  model.sizes = sizes.data();
  model.counts = nullptr;
  model.size_count = sizes.size();
  dataflux_epoch_forecast forecast;
  told why;
  REQUIRE(dataflux_simulate_epoch(&model, &forecast, sizeof forecast, why) == DATAFLUX_OK);
  CHECK(forecast.samples == 3);
  CHECK(forecast.bytes == 6000);
  CHECK(forecast.bound == DATAFLUX_BOUND_START);
}

TEST_CASE("dataflux_simulate_epoch: bad input is refused by name", "[c_api]") {
  const std::uint64_t bytes = 1000;
  const std::uint64_t count = 10;
  auto model = model_for(bytes, count);
  dataflux_epoch_forecast forecast;
  told why;
  const auto refused = [&](const char* word) {
    std::memset(&forecast, 7, sizeof forecast);
    CHECK(dataflux_simulate_epoch(&model, &forecast, sizeof forecast, why) ==
          DATAFLUX_INVALID_ARGUMENT);
    CHECK(why.message().find(word) != std::string::npos);
    CHECK(forecast.seconds == 0);
    model = model_for(bytes, count);
  };
  model.link = 0;
  refused("link");
  model.link = std::numeric_limits<double>::quiet_NaN();
  refused("link");
  model.sizes = nullptr;
  refused("sizes");
  model.size_count = 0;
  refused("objects");
  model.order = 2;
  refused("order");
  model.step_ns = -1;
  refused("step");
  model.step_ns = INT64_MAX;
  refused("step");
  model.struct_size = 3;
  refused("struct_size");
  CHECK(dataflux_simulate_epoch(nullptr, &forecast, sizeof forecast, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_simulate_epoch(&model, nullptr, sizeof forecast, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_simulate_epoch(&model, &forecast, 8, why) == DATAFLUX_INVALID_ARGUMENT);
}

TEST_CASE("dataflux_epoch_bound_text: a sentence for each", "[c_api]") {
  std::set<std::string> all;
  for (std::uint64_t i = 0; i <= DATAFLUX_BOUND_START; ++i) {
    CHECK(all.insert(dataflux_epoch_bound_text(i)).second);
  }
  CHECK(dataflux_epoch_bound_text(UINT64_MAX) != nullptr);
}

}  // namespace simulate_test
