#include <dataflux/codec/timestamp.hpp>
#include <dataflux/transfer/detail/composite_label.hpp>
#include <dataflux/version.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace composite_label_test {

using namespace std::chrono_literals;
using dataflux::timestamp;
using dataflux::detail::composite_expired;
using dataflux::detail::composite_label;
using dataflux::detail::composite_name;
using dataflux::detail::is_composite_name;
using dataflux::detail::make_composite_label;
using dataflux::detail::parse_composite_label;
using dataflux::detail::to_metadata;

namespace {

timestamp at(const std::string& text) { return dataflux::parse_timestamp(text).value(); }

}  // namespace

TEST_CASE("composite_name: is known again, and nothing else is", "[transfer]") {
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

TEST_CASE("composite_label: comes back from an object's metadata", "[transfer]") {
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

TEST_CASE("composite_expired: by the service's clock, whatever the maker's says", "[transfer]") {
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

}  // namespace composite_label_test
