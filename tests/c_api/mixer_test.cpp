#include <c_api/harness.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mixer_test {

using namespace c_api_test;

struct mix {
  explicit mix(const dataflux_mixer_options& options) {
    told why;
    status = dataflux_mixer_create(&options, &made, why);
  }
  mix(const mix&) = delete;
  mix& operator=(const mix&) = delete;
  ~mix() { dataflux_mixer_free(made); }

  dataflux_mixer* made{nullptr};
  dataflux_status status{DATAFLUX_OK};
};

inline dataflux_mixer_options options_for(const std::vector<std::uint64_t>& sizes,
                                          const std::vector<std::uint32_t>& parts) {
  dataflux_mixer_options options;
  dataflux_mixer_options_init(&options, sizeof options);
  options.sizes = sizes.data();
  options.parts = parts.data();
  options.sources = sizes.size();
  return options;
}

TEST_CASE("dataflux_mixer: draws are those of C++, in stretches of any length", "[c_api]") {
  const std::vector<std::uint64_t> sizes{1000, 1000, 1000};
  const std::vector<std::uint32_t> parts{7, 2, 1};
  const mix mixed(options_for(sizes, parts));
  REQUIRE(mixed.status == DATAFLUX_OK);
  std::uint64_t end = 0;
  told why;
  REQUIRE(dataflux_mixer_end(mixed.made, &end, why) == DATAFLUX_OK);
  CHECK(end == 1428);
  std::vector<std::uint32_t> sources(2000);
  std::vector<std::uint64_t> numbers(2000);
  std::size_t taken = 0;
  REQUIRE(dataflux_mixer_draws(mixed.made, 0, 1, sources.data(), numbers.data(), 2000, &taken,
                               why) == DATAFLUX_OK);
  CHECK(taken == end);
  sources.resize(10);
  CHECK(sources == std::vector<std::uint32_t>{0, 0, 0, 1, 0, 0, 1, 0, 0, 2});
  std::vector<std::uint64_t> counts(3);
  REQUIRE(dataflux_mixer_counts(mixed.made, 100, counts.data(), why) == DATAFLUX_OK);
  CHECK(counts == std::vector<std::uint64_t>{70, 20, 10});
  REQUIRE(dataflux_mixer_draws(mixed.made, 99, 1000, sources.data(), numbers.data(), 5, &taken,
                               why) == DATAFLUX_OK);
  CHECK(taken == 2);
  CHECK(numbers[1] == 109);
}

TEST_CASE("dataflux_mixer: weights that change, and a job that goes on", "[c_api]") {
  const std::vector<std::uint64_t> sizes{50, 50};
  const std::vector<std::uint32_t> parts{1, 1, 1, 3};
  const std::vector<std::uint64_t> froms{0, 20};
  auto options = options_for(sizes, parts);
  options.froms = froms.data();
  options.stages = 2;
  options.ended = DATAFLUX_ENDED_DROP;
  const mix whole(options);
  REQUIRE(whole.status == DATAFLUX_OK);
  const std::vector<std::uint64_t> counts{10, 10};
  options.stages = 1;
  options.froms = &froms[1];
  options.parts = &parts[2];
  options.counts = counts.data();
  const mix resumed(options);
  REQUIRE(resumed.status == DATAFLUX_OK);
  told why;
  std::vector<std::uint32_t> one(100), other(100);
  std::vector<std::uint64_t> numbers(100);
  std::size_t taken = 0;
  REQUIRE(dataflux_mixer_draws(whole.made, 20, 1, one.data(), numbers.data(), 100, &taken, why) ==
          DATAFLUX_OK);
  CHECK(taken == 80);
  REQUIRE(dataflux_mixer_draws(resumed.made, 20, 1, other.data(), numbers.data(), 100, &taken,
                               why) == DATAFLUX_OK);
  CHECK(one == other);
  CHECK(dataflux_mixer_draws(resumed.made, 19, 1, other.data(), numbers.data(), 1, &taken, why) ==
        DATAFLUX_OUT_OF_RANGE);
}

TEST_CASE("dataflux_mixer: bad input is refused", "[c_api]") {
  const std::vector<std::uint64_t> sizes{5, 5};
  const std::vector<std::uint32_t> parts{1, 1};
  const auto good = options_for(sizes, parts);
  const auto refused = [&](auto change) {
    auto options = good;
    change(options);
    const mix made(options);
    CHECK(made.status == DATAFLUX_INVALID_ARGUMENT);
    CHECK(made.made == nullptr);
  };
  refused([](auto& o) { o.sizes = nullptr; });
  refused([](auto& o) { o.parts = nullptr; });
  refused([](auto& o) { o.sources = 0; });
  refused([](auto& o) { o.sources = UINT64_MAX; });
  refused([](auto& o) { o.stages = 2; });
  refused([](auto& o) { o.stages = UINT32_MAX; });
  refused([](auto& o) { o.ended = 3; });
  told why;
  dataflux_mixer* made = nullptr;
  CHECK(dataflux_mixer_create(nullptr, &made, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_mixer_create(&good, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  std::uint64_t number = 0;
  std::size_t taken = 0;
  CHECK(dataflux_mixer_end(nullptr, &number, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_mixer_draws(nullptr, 0, 1, nullptr, nullptr, 0, &taken, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_mixer_counts(nullptr, 0, &number, why) == DATAFLUX_INVALID_ARGUMENT);
}

}  // namespace mixer_test
