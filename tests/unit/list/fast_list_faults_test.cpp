#include "fast_list_fixture.hpp"

#include <cstdint>
#include <limits>
#include <random>

namespace fast_list_faults_test {

using dataflux::errc;
using dataflux::list_on_error;
using dataflux::listing;
using dataflux::detail::name_range;

namespace {

/// `fault` for the nth page of the listing, all else well.
std::function<page_fault(const dataflux::list_page_request&)> once(page_fault fault, int nth) {
  return [fault, left = nth](const dataflux::list_page_request&) mutable {
    return --left == 0 ? fault : page_fault::none;
  };
}

std::string printed(const name_range& range) { return range.start + " .. " + range.end; }

}  // namespace

TEST_CASE("fast_list: faults that a service may have do not show", "[list]") {
  fixture w(numbered(20'000));
  for (const page_fault fault : {page_fault::late, page_fault::fewer, page_fault::more,
                                 page_fault::empty, page_fault::expired}) {
    for (const int nth : {1, 2, 7, 30}) {
      INFO(static_cast<int>(fault) << " at " << nth);
      w.fault = once(fault, nth);
      CHECK(names_of(w.good().objects) == w.source->names());
    }
  }
  CHECK(w.store.faults == 20);
}

TEST_CASE("fast_list: pages that break their contract end it", "[list]") {
  fixture w(numbered(20'000));
  for (const page_fault fault : {page_fault::token_again, page_fault::out_of_order,
                                 page_fault::twice, page_fault::outside}) {
    for (const int nth : {1, 3, 20}) {
      INFO(static_cast<int>(fault) << " at " << nth);
      // From the nth on, since not each page has something to damage.
      w.fault = [&, left = nth](const dataflux::list_page_request&) mutable {
        return --left > 0 ? page_fault::none : fault;
      };
      const auto outcome = w.list({.on_error = list_on_error::fail});
      REQUIRE_FALSE(outcome);
      INFO(outcome.error().to_string());
      CHECK(outcome.error().code() == errc::internal);
      CHECK(outcome.error().bucket() == "bucket");
      CHECK(outcome.error().message().find("names from") != std::string::npos);
    }
  }
}

TEST_CASE("fast_list: what its store has given up on is not asked for again", "[list]") {
  fixture w(numbered(5'000));
  int asked = 0;
  w.fault = [&](const dataflux::list_page_request& r) {
    // The first page, not the peek beside it.
    const bool first = r.start_offset.empty() && r.max_results == 1000;
    return first && ++asked == 1 ? page_fault::unavailable : page_fault::none;
  };
  const auto outcome = w.list();
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code() == errc::unavailable);
  CHECK(outcome.error().http_status() == 503);
  CHECK(outcome.error().message().find("try again") != std::string::npos);
  CHECK(asked == 1);
}

TEST_CASE("fast_list: a glob may match nothing on ten thousand pages (mend 17)", "[list]") {
  fixture w(numbered(3000));
  int left = 10'050;
  w.fault = [&left](const dataflux::list_page_request&) {
    return left-- > 0 ? page_fault::empty : page_fault::none;
  };
  const listing all = w.good({.match_glob = "**", .parallelism = 1});
  CHECK(all.objects.size() == 3000);
}

TEST_CASE("fast_list: empty pages without an end are an error", "[list]") {
  fixture w(numbered(5'000));
  w.fault = [](const dataflux::list_page_request&) { return page_fault::empty; };
  const auto outcome = w.list();
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code() == errc::internal);
  CHECK(outcome.error().message().find("empty pages") != std::string::npos);
}

TEST_CASE("fast_list: a range that fails takes the listing with it, by name", "[list]") {
  fixture w(numbered(20'000));
  w.fault = [](const dataflux::list_page_request& r) {
    return r.start_offset >= "train/00015" ? page_fault::denied : page_fault::none;
  };
  const auto outcome = w.list({.prefix = "train/"});
  REQUIRE_FALSE(outcome);
  const auto& e = outcome.error();
  CHECK(e.code() == errc::permission_denied);
  CHECK(e.http_status() == 403);
  CHECK(e.bucket() == "bucket");
  INFO(e.message());
  CHECK(e.message().find("prefix 'train/'") != std::string::npos);
  CHECK(e.message().find("names from 'train/00") != std::string::npos);
  CHECK(w.inner.in_flight() == 0);
}

TEST_CASE("fast_list: a partial result says what is missing, and the rest can be listed",
          "[list]") {
  fixture w(numbered(20'000));
  w.fault = [](const dataflux::list_page_request& r) {
    const bool bad = r.start_offset >= "train/00007" && r.start_offset < "train/00009";
    return bad ? page_fault::denied : page_fault::none;
  };
  const listing part = w.good({.parallelism = 8, .on_error = list_on_error::give_partial});
  REQUIRE_FALSE(part.summary.missing.empty());
  REQUIRE(part.summary.cause);
  CHECK(part.summary.cause->code() == errc::permission_denied);
  CHECK(part.objects.size() < 20'000);
  CHECK(part.objects.size() > 10'000);
  w.fault = {};
  std::vector<std::string> all = names_of(part.objects);
  std::string behind;
  for (const name_range& missing : part.summary.missing) {
    INFO(printed(missing));
    CHECK(missing.start >= behind);
    behind = missing.end;
    const listing rest =
        w.good({.start_offset = missing.start, .end_offset = missing.end, .parallelism = 4});
    CHECK_FALSE(rest.objects.empty());
    for (auto& name : names_of(rest.objects)) all.push_back(std::move(name));
  }
  std::sort(all.begin(), all.end());
  CHECK(all == w.source->names());
}

TEST_CASE("fast_list: limits give a partial result when one is asked for", "[list]") {
  using namespace std::chrono_literals;
  fixture w(numbered(50'000));
  for (const bool by_calls : {true, false}) {
    dataflux::fast_list_request request{.parallelism = 4, .on_error = list_on_error::give_partial};
    if (by_calls) {
      request.max_calls = 12;
    } else {
      request.limits.timeout = 5s;
    }
    const listing part = w.good(request);
    REQUIRE_FALSE(part.summary.missing.empty());
    CHECK(part.summary.cause->code() ==
          (by_calls ? errc::resource_exhausted : errc::deadline_exceeded));
    std::size_t total = part.objects.size();
    CHECK(total > 1'000);
    for (const name_range& missing : part.summary.missing) {
      total += w.good({.start_offset = missing.start, .end_offset = missing.end}).objects.size();
    }
    CHECK(total == 50'000);
  }
}

TEST_CASE("fast_list: names of the greatest length, around which pages break", "[list]") {
  std::vector<std::string> names;
  for (char c = 'a'; c <= 'z'; ++c) {
    names.push_back(std::string(1023, 'x') + c);
    names.push_back(std::string(1020, 'x') + "\xf0\x9f\x98" + static_cast<char>('\x80' + c - 'a'));
  }
  fixture w(names);
  for (const std::uint32_t size : {1U, 2U, 5U}) {
    int n = 0;
    w.fault = [&n](const dataflux::list_page_request&) {
      return ++n % 3 == 0 ? page_fault::expired : page_fault::none;
    };
    CHECK(names_of(w.good({.page_size = size}).objects) == w.source->names());
  }
  w.fault = [n = 0](const dataflux::list_page_request&) mutable {
    return ++n >= 4 ? page_fault::denied : page_fault::none;
  };
  const listing part =
      w.good({.parallelism = 1, .page_size = 5, .on_error = list_on_error::give_partial});
  REQUIRE(part.summary.missing.size() == 1);
  w.fault = {};
  const name_range rest = part.summary.missing.front();
  CHECK(part.objects.size() +
            w.good({.start_offset = rest.start, .end_offset = rest.end}).objects.size() ==
        52);
}

TEST_CASE("fast_list: an object that is overwritten between two pages is there once", "[list]") {
  dataflux::virtual_scheduler clock;
  dataflux::memory_store inner(clock);
  inner.create_bucket("bucket");
  for (const char* name : {"a", "b", "c"}) inner.put("bucket", name, dataflux::bytes_view{});
  int calls = 0;
  scripted_store store(inner, [&](const dataflux::list_page_request&) {
    if (++calls != 2) return page_fault::none;
    inner.put("bucket", "a", dataflux::bytes_view{});  // the next page begins with it once more
    return page_fault::expired;
  });
  auto op =
      dataflux::submit_fast_list(store, {.bucket = "bucket",
                                         .parallelism = 1,
                                         .page_size = 1,
                                         .calls_per_page = std::numeric_limits<double>::max()});
  clock.run();
  CHECK(names_of(op.take().value().objects) == std::vector<std::string>{"a", "b", "c"});
  CHECK(calls > 3);
}

TEST_CASE("fast_list: generations of a name span pages, whatever happens to the pages", "[list]") {
  std::mt19937_64 random(4);
  for (int round = 0; round < 400; ++round) {
    INFO(round);
    fixture w({});
    std::int64_t generation = 0;
    for (auto& name : numbered(random() % 60, "v/")) {
      for (auto left = 1 + random() % (random() % 6 == 0 ? 40 : 4); left > 0; --left) {
        w.store.versions.emplace_back(name, ++generation);
      }
    }
    w.fault = [&](const dataflux::list_page_request&) {
      return static_cast<page_fault>(random() % 5 == 0 ? 1 + random() % 5 : 0);
    };
    const listing all = w.good({.prefix = "v/",
                                .versions = true,
                                .parallelism = static_cast<std::uint32_t>(1 + random() % 20),
                                .page_size = static_cast<std::uint32_t>(1 + random() % 30),
                                .calls_per_page = std::numeric_limits<double>::max()});
    std::vector<std::pair<std::string, std::int64_t>> got;
    for (const auto& row : all.objects) got.emplace_back(row.name, row.generation);
    const bool same = got == w.store.versions;
    CHECK(same);
  }
}

}  // namespace fast_list_faults_test
