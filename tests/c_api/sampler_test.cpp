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
  for (const std::uint32_t kind :
       {0U + DATAFLUX_SHUFFLE_FULL, 0U + DATAFLUX_SHUFFLE_WINDOW, 0U + DATAFLUX_SHUFFLE_NONE}) {
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

}  // namespace sampler_test
