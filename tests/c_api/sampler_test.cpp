#include <c_api/harness.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace sampler_test {

using namespace c_api_test;

inline dataflux_sampler_options options_for(std::uint64_t count) {
  dataflux_sampler_options options;
  dataflux_sampler_options_init(&options, sizeof options);
  options.count = count;
  return options;
}

TEST_CASE("dataflux_sampler_rows: the ranks together read each row once", "[c_api]") {
  for (const std::uint32_t kind : {0U + DATAFLUX_SHUFFLE_FULL, 0U + DATAFLUX_SHUFFLE_WINDOW,
                                   0U + DATAFLUX_SHUFFLE_NONE, 0U + DATAFLUX_SHUFFLE_BLOCKS}) {
    auto options = options_for(1000);
    options.shuffle = kind;
    options.world_size = 4;
    std::vector<std::uint64_t> all;
    told why;
    for (options.rank = 0; options.rank < 4; ++options.rank) {
      std::uint64_t size = 0;
      REQUIRE(dataflux_sampler_size(&options, &size, why) == DATAFLUX_OK);
      REQUIRE(size == 250);
      std::vector<std::uint64_t> rows(size);
      REQUIRE(dataflux_sampler_rows(&options, 0, rows.data(), 100, why) == DATAFLUX_OK);
      REQUIRE(dataflux_sampler_rows(&options, 100, &rows[100], 150, why) == DATAFLUX_OK);
      all.insert(all.end(), rows.begin(), rows.end());
    }
    std::vector<std::uint64_t> counted(1000);
    std::iota(counted.begin(), counted.end(), 0);
    CHECK((all == counted) == false);
    std::sort(all.begin(), all.end());
    CHECK(all == counted);
  }
}

TEST_CASE("dataflux_sampler_rows: the order is that of C++, in every version", "[c_api]") {
  auto options = options_for(10);
  options.seed = 1;
  std::vector<std::uint64_t> rows(10);
  told why;
  REQUIRE(dataflux_sampler_rows(&options, 0, rows.data(), 10, why) == DATAFLUX_OK);
  CHECK(rows == std::vector<std::uint64_t>{1, 4, 7, 5, 6, 8, 2, 0, 9, 3});
}

TEST_CASE("dataflux_sampler: no ranks are one, and bad input is refused by name", "[c_api]") {
  told why;
  std::uint64_t size = 7;
  auto options = options_for(3);
  CHECK(dataflux_sampler_size(&options, &size, why) == DATAFLUX_OK);
  CHECK(size == 3);
  std::uint64_t rows[4] = {9, 9, 9, 9};
  CHECK(dataflux_sampler_rows(&options, 0, nullptr, 0, why) == DATAFLUX_OK);
  CHECK(dataflux_sampler_rows(&options, 3, rows, 0, why) == DATAFLUX_OK);
  CHECK(dataflux_sampler_rows(&options, 0, rows, 4, why) == DATAFLUX_OUT_OF_RANGE);
  CHECK(dataflux_sampler_rows(&options, UINT64_MAX, rows, 1, why) == DATAFLUX_OUT_OF_RANGE);
  CHECK(rows[0] == 9);
  CHECK(dataflux_sampler_rows(&options, 0, nullptr, 1, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message().find("rows") != std::string::npos);
  CHECK(dataflux_sampler_size(&options, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_sampler_size(nullptr, &size, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_sampler_rows(nullptr, 0, rows, 1, why) == DATAFLUX_INVALID_ARGUMENT);
  const auto refused = [&](const char* word) {
    size = 7;
    CHECK(dataflux_sampler_size(&options, &size, why) == DATAFLUX_INVALID_ARGUMENT);
    CHECK(why.message().find(word) != std::string::npos);
    CHECK(size == 0);
    CHECK(dataflux_sampler_rows(&options, 0, rows, 1, why) == DATAFLUX_INVALID_ARGUMENT);
    options = options_for(3);
  };
  options.shuffle = 256;
  refused("shuffle");
  options.equalize = 258;
  refused("equalize");
  options.rank = 1;
  refused("rank");
  options.block = 1;
  refused("block");
  options.struct_size = 3;
  refused("struct_size");
}

TEST_CASE("dataflux_sampler_rows_at: positions that lie apart", "[c_api]") {
  auto options = options_for(1000);
  options.shuffle = DATAFLUX_SHUFFLE_BLOCKS;
  options.block = 7;
  options.window = 5;
  std::vector<std::uint64_t> rows(1000), some{3, 40, 41, 999, 0};
  told why;
  REQUIRE(dataflux_sampler_rows(&options, 0, rows.data(), 1000, why) == DATAFLUX_OK);
  REQUIRE(dataflux_sampler_rows_at(&options, some.data(), some.size(), why) == DATAFLUX_OK);
  CHECK(some == std::vector<std::uint64_t>{rows[3], rows[40], rows[41], rows[999], rows[0]});
  std::uint64_t end = 0;
  REQUIRE(dataflux_sampler_window_end(&options, 0, &end, why) == DATAFLUX_OK);
  CHECK((end == 35 || end == 34));
  std::uint64_t beyond = 1000;
  CHECK(dataflux_sampler_rows_at(&options, &beyond, 1, why) == DATAFLUX_OUT_OF_RANGE);
  CHECK(beyond == 1000);
  CHECK(dataflux_sampler_rows_at(&options, nullptr, 1, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_sampler_window_end(&options, 0, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
}

TEST_CASE("dataflux_sampler_cost: of blocks in shards", "[c_api]") {
  auto options = options_for(100'000);
  options.shuffle = DATAFLUX_SHUFFLE_BLOCKS;
  options.block = 40;
  dataflux_epoch_reads reads;
  dataflux_epoch_reads_init(&reads, sizeof reads);
  reads.sample_bytes = 100'000;
  reads.shard_samples = 1000;
  reads.memory = 1U << 30U;
  dataflux_order_cost cost;
  told why;
  REQUIRE(dataflux_sampler_cost(&options, &reads, &cost, sizeof cost, why) == DATAFLUX_OK);
  CHECK(cost.requests < 0.05);
  CHECK(cost.bytes_read == 1);
  reads.sample_bytes = -1;
  CHECK(dataflux_sampler_cost(&options, &reads, &cost, sizeof cost, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_sampler_cost(&options, &reads, &cost, 8, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_sampler_cost(&options, &reads, nullptr, 8, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_sampler_cost(nullptr, &reads, &cost, sizeof cost, why) ==
        DATAFLUX_INVALID_ARGUMENT);
}

}  // namespace sampler_test
