#include <dataflux/codec/rfc3339.hpp>
#include <dataflux/download/composite.hpp>
#include <dataflux/version.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace composite_test {

using namespace std::chrono_literals;
using dataflux::composite_expired;
using dataflux::composite_group;
using dataflux::composite_label;
using dataflux::composite_name;
using dataflux::is_composite_name;
using dataflux::make_composite_label;
using dataflux::parse_composite_label;
using dataflux::timestamp;
using dataflux::to_metadata;

namespace {

timestamp at(const std::string& text) { return dataflux::codec::parse_rfc3339(text).value(); }

}  // namespace

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

TEST_CASE("composite_name: is known again, and nothing else is", "[download]") {
  const std::string name = composite_name(0x0123456789abcdefU, 0xfedcba9876543210U);
  CHECK(name == "dataflux-composed-objects/0123456789abcdeffedcba9876543210");
  CHECK(is_composite_name(name));
  CHECK(is_composite_name(composite_name(0, 0)));
  for (const std::string& other :
       {std::string("dataflux-composed-objects/"), name + "0", name.substr(0, name.size() - 1),
        name.substr(1), "x" + name, name.substr(0, name.size() - 1) + "g",
        name.substr(0, name.size() - 1) + "A", std::string(58, '0'), std::string(),
        std::string("dataflux-composed-objects/2ac9f0ce-5d5f-4b1e-9a39-000000000000")}) {
    INFO(other);
    CHECK_FALSE(is_composite_name(other));
  }
}

TEST_CASE("composite_label: comes back from an object's metadata", "[download]") {
  const auto label = make_composite_label(at("2026-11-21T22:47:27.123456789Z"), 90min);
  const auto metadata = to_metadata(label);
  using pairs = std::vector<std::pair<std::string, std::string>>;
  CHECK(metadata == pairs{{"dataflux-creator", "dataflux/" DATAFLUX_VERSION},
                          {"dataflux-created", "2026-11-21T22:47:27Z"},
                          {"dataflux-expires", "2026-11-22T00:17:27Z"}});
  pairs more = metadata;
  more.insert(more.begin(), {"other", "x"});
  const auto back = parse_composite_label(more);
  REQUIRE(back);
  CHECK(back->creator == label.creator);
  CHECK(back->created == label.created);
  CHECK(back->expires == label.expires);

  for (std::size_t i = 0; i < metadata.size(); ++i) {
    INFO(i);
    pairs cut = metadata;
    cut.erase(cut.begin() + static_cast<std::ptrdiff_t>(i));
    CHECK_FALSE(parse_composite_label(cut));
    pairs wrong = metadata;
    wrong[i].second = "somebody else's";
    CHECK_FALSE(parse_composite_label(wrong));
  }
  pairs backwards = metadata;
  std::swap(backwards[1].second, backwards[2].second);
  CHECK_FALSE(parse_composite_label(backwards));
  pairs ancient = metadata;
  ancient[1].second = "1969-12-31T23:59:59Z";
  CHECK_FALSE(parse_composite_label(ancient));
}

TEST_CASE("composite_expired: by the service's clock, whatever the maker's says", "[download]") {
  const timestamp created = at("2026-11-21T12:00:00Z");
  for (const char* const maker :
       {"2026-11-21T12:00:00Z", "1990-01-01T00:00:00Z", "2199-01-01T00:00:00Z"}) {
    INFO(maker);
    const composite_label label = make_composite_label(at(maker), 1h);
    CHECK_FALSE(composite_expired(label, created, created));
    CHECK_FALSE(composite_expired(label, created, created + 59min));
    CHECK(composite_expired(label, created, created + 1h));
    CHECK(composite_expired(label, created, created + 10min, 10min));
    CHECK(composite_expired(label, created, created, 0s));
    CHECK_FALSE(composite_expired(label, created, created + 24h, 25h));
    CHECK_FALSE(composite_expired(label, created, created - 48h, 0s));
  }
  const composite_label forever = make_composite_label(created, dataflux::duration::max());
  CHECK(forever.expires == timestamp::max());
  CHECK_FALSE(composite_expired(forever, created, at("2200-01-01T00:00:00Z")));
  CHECK_FALSE(composite_expired(forever, timestamp::min(), timestamp::min() + 1h));
}

}  // namespace composite_test
