#include <dataflux/checkpoint/detail/claimed_ranges.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace claimed_ranges_test {

using dataflux::detail::claimed_ranges;

TEST_CASE("claimed_ranges: as a field of flags says", "[checkpoint]") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    const std::uint64_t size = 1 + random() % 60;
    std::vector<bool> taken(size);
    claimed_ranges ranges;
    std::uint64_t bytes = 0;
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t begin = random() % size;
      const std::uint64_t length = 1 + random() % std::min<std::uint64_t>(size - begin, 9);
      bool met = false;
      for (std::uint64_t at = begin; at < begin + length; ++at) met = met || taken[at];
      const auto overlap = ranges.overlap({begin, length});
      REQUIRE(overlap.has_value() == met);
      if (overlap) {
        CHECK(overlap->offset < begin + length);
        CHECK(overlap->offset + overlap->length > begin);
        for (std::uint64_t at = 0; at < overlap->length; ++at) CHECK(taken[overlap->offset + at]);
      } else {
        ranges.add({begin, length});
        bytes += length;
        for (std::uint64_t at = begin; at < begin + length; ++at) taken[at] = true;
      }
      bool all = true;
      for (std::uint64_t at = begin; at < begin + length; ++at) all = all && taken[at];
      if (all && random() % 3 == 0) {
        ranges.remove({begin, length});
        bytes -= length;
        for (std::uint64_t at = begin; at < begin + length; ++at) taken[at] = false;
      }
      CHECK(ranges.bytes() == bytes);
      std::uint64_t first = 0;
      while (first < size && taken[first]) ++first;
      std::uint64_t last = first;
      while (last < size && !taken[last]) ++last;
      const auto gap = ranges.first_gap(size);
      REQUIRE(gap.has_value() == (first < size));
      if (gap) CHECK((gap->offset == first && gap->length == last - first));
    }
  }
}

}  // namespace claimed_ranges_test
