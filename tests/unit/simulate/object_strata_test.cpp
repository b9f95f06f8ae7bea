#include <dataflux/simulate/detail/object_strata.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace object_strata_test {

using dataflux::detail::object_strata;
using dataflux::detail::size_tally;
using size_pair = std::pair<std::uint64_t, std::uint64_t>;
using sizes = std::vector<std::uint64_t>;

inline sizes sorted(sizes all) {
  std::sort(all.begin(), all.end());
  return all;
}

TEST_CASE("object_strata: few objects stand for themselves", "[simulate]") {
  CHECK(sorted(object_strata({{7, 2}, {3, 1}}, 3, 4096, 1)) == sizes{3, 7, 7});
  CHECK(object_strata({{0, 1}}, 1, 4096, 1) == sizes{0});
}

TEST_CASE("object_strata: many stand for runs of them by size, and their mean stays",
          "[simulate]") {
  const std::uint64_t count = 1'000'003;
  const auto all = object_strata({{100, 900'000}, {1'000'000, 100'003}}, count, 1000, 1);
  REQUIRE(all.size() == 1000);
  const double mean =
      static_cast<double>(std::accumulate(all.begin(), all.end(), std::uint64_t{0})) / 1000;
  const double true_mean = (100.0 * 900'000 + 1e6 * 100'003) / static_cast<double>(count);
  CHECK(mean == Approx(true_mean).epsilon(1e-3));
  // A rare giant is a part of the mean of the run that it is in.
  const auto rare = sorted(object_strata({{1, 999'999}, {1'000'000'000, 1}}, 1'000'000, 100, 1));
  CHECK(rare.front() == 1);
  CHECK(rare.back() == 100'001);
}

TEST_CASE("object_strata: the seed tells the order", "[simulate]") {
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> given{{1, 50}, {2, 50}};
  const auto one = object_strata(given, 100, 4096, 1);
  CHECK(one == object_strata(given, 100, 4096, 1));
  CHECK(one != object_strata(given, 100, 4096, 2));
  CHECK(one != sorted(one));
}

TEST_CASE("size_tally: sizes that are near become their mean, others stay", "[simulate]") {
  size_tally tally;
  for (const std::uint64_t bytes : {0ULL, 0ULL, 63ULL, 64ULL, 1'000'000ULL, 1'000'100ULL}) {
    tally.add(bytes);
  }
  tally.add(UINT64_MAX / 2);
  const auto all = tally.sizes();
  REQUIRE(all.size() == 5);
  CHECK(all[0] == size_pair{0, 2});
  CHECK(all[1] == size_pair{63, 1});
  CHECK(all[2] == size_pair{64, 1});
  CHECK(all[3] == size_pair{1'000'050, 2});
  CHECK(all[4].second == 1);
}

TEST_CASE("size_tally: classes are in order, and none is wider than a 64th", "[simulate]") {
  std::uint64_t before = 0;
  for (std::uint64_t bytes = 1; bytes < 1ULL << 60U; bytes += bytes / 50 + 1) {
    size_tally one;
    one.add(bytes);
    one.add(bytes + bytes / 50 + 1);
    CHECK(one.sizes().size() == 2);
    CHECK(one.sizes().front().first > before);
    before = one.sizes().front().first;
  }
}

}  // namespace object_strata_test
