#include <dataflux/download/detail/composite.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace composite_test {

using dataflux::detail::composite_group;

TEST_CASE("composite_group: no limit is ever passed, whatever the sizes", "[download]") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    INFO(seed);
    std::mt19937_64 dice(seed);
    const std::uint64_t most_bytes = 1 + dice() % 100'000;
    const std::size_t most_objects = 2 + dice() % 31;
    std::vector<std::uint64_t> sizes(200);
    for (auto& size : sizes) {
      size = dice() % 4 == 0 ? dice() % 3 * most_bytes : dice() % (most_bytes / 8 + 2);
      if (dice() % 50 == 0) size = UINT64_MAX - dice() % 2;
    }
    std::size_t taken = 0;
    for (std::size_t i = 0; i < sizes.size();) {
      composite_group group(most_bytes, most_objects);
      const std::size_t first = i;
      while (i < sizes.size() && group.add(sizes[i])) ++i;
      const auto begin = sizes.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = sizes.begin() + static_cast<std::ptrdiff_t>(i);
      CHECK(group.objects() == i - first);
      CHECK(group.bytes() == std::accumulate(begin, end, std::uint64_t{0}));
      CHECK(group.bytes() <= most_bytes);
      CHECK(group.objects() <= most_objects);
      CHECK(std::count(begin, end, 0U) == 0);
      taken += i - first;
      // What ended it was one of the limits, or an object that is in none.
      if (i == sizes.size()) break;
      const bool unfit = sizes[i] == 0 || sizes[i] > most_bytes;
      const bool full = group.objects() == most_objects || sizes[i] > most_bytes - group.bytes();
      CHECK((unfit || full));
      if (i == first) {
        CHECK(unfit);
        ++i;
      }
    }
    const auto fit = std::count_if(sizes.begin(), sizes.end(), [&](std::uint64_t size) {
      return size > 0 && size <= most_bytes;
    });
    CHECK(taken == static_cast<std::size_t>(fit));
  }
}

TEST_CASE("composite_group: a large object that follows a small one is not swallowed",
          "[download]") {
  composite_group group(100, 32);
  CHECK(group.add(1));
  CHECK_FALSE(group.add(10'000'000));
  CHECK_FALSE(group.add(100));
  CHECK(group.add(99));
  CHECK(group.objects() == 2);
}

}  // namespace composite_test
