#include "fast_list_fixture.hpp"

#include <support/sanitized.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <set>

namespace fast_list_partial_test {

using dataflux::fast_list_request;
using dataflux::list_on_error;
using dataflux::listing;
using dataflux::detail::name_range;

// What a partial listing has, and what it says is missing, are the whole, exactly once.

namespace {

/// Names in folders of folders, and between them.
std::vector<std::string> random_names(std::mt19937_64& random) {
  std::set<std::string> names;
  const auto digits = [&](std::uint64_t bound) { return std::to_string(random() % bound); };
  for (auto left = random() % 600; left > 0; --left) {
    std::string name = "f" + digits(40);
    if (random() % 4 != 0) name += "/" + digits(5) + (random() % 2 == 0 ? "/" : "-") + digits(30);
    names.insert(std::move(name));
  }
  return {names.begin(), names.end()};
}

struct seen {
  std::vector<std::string> objects{};
  std::vector<std::string> prefixes{};

  void take(const listing& part) {
    for (auto& name : names_of(part.objects)) objects.push_back(std::move(name));
    prefixes.insert(prefixes.end(), part.prefixes.begin(), part.prefixes.end());
  }
  void sort() {
    std::sort(objects.begin(), objects.end());
    std::sort(prefixes.begin(), prefixes.end());
  }
};

fast_list_request random_request(std::mt19937_64& random) {
  fast_list_request r{.on_error = list_on_error::give_partial};
  if (random() % 2 == 0) r.delimiter = "/";
  r.include_trailing_delimiter = random() % 2 == 0;
  r.parallelism = static_cast<std::uint32_t>(1 + random() % 20);
  r.page_size = static_cast<std::uint32_t>(1 + random() % 40);
  r.calls_per_page = std::numeric_limits<double>::max();
  return r;
}

}  // namespace

TEST_CASE("fast_list: a partial listing and what it misses are the whole, 500 times", "[list]") {
  std::uint64_t pieces = 0;
  for (std::uint64_t seed = 1; seed <= (sanitized ? 100U : 500U); ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    fixture w(random_names(random));
    fast_list_request request = random_request(random);
    const listing truth = w.good(request);
    REQUIRE(truth.summary.missing.empty());
    const std::uint64_t rate = 2 + random() % 20;
    if (random() % 4 == 0) request.max_calls = 1 + random() % 20;
    w.fault = [&](const dataflux::list_page_request&) {
      return random() % rate == 0 ? page_fault::denied : page_fault::none;
    };
    seen all;
    std::vector<name_range> missing{{}};
    for (int attempt = 0; !missing.empty(); ++attempt) {
      if (attempt == 6) {
        w.fault = {};
        request.max_calls = 0;
      }
      std::vector<name_range> still;
      for (const name_range& piece : missing) {
        request.start_offset = piece.start;
        request.end_offset = piece.end;
        const listing part = w.good(request);
        CHECK(part.summary.missing.empty() == !part.summary.cause);
        all.take(part);
        still.insert(still.end(), part.summary.missing.begin(), part.summary.missing.end());
      }
      pieces += still.size();
      missing = std::move(still);
    }
    all.sort();
    if (request.include_trailing_delimiter) {
      // The object that is called as its folder may be missing where the folder is not.
      all.prefixes.erase(std::unique(all.prefixes.begin(), all.prefixes.end()), all.prefixes.end());
    }
    CHECK(all.objects == names_of(truth.objects));
    CHECK(all.prefixes == truth.prefixes);
  }
  CHECK(pieces > (sanitized ? 100U : 500U));
}

}  // namespace fast_list_partial_test
