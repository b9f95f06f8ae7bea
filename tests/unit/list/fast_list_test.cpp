#include "fast_list_fixture.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <stop_token>

namespace fast_list_test {

using dataflux::errc;
using dataflux::fast_list_request;
using dataflux::fast_lister;
using dataflux::listing;
using dataflux::memory_store;
using namespace std::chrono_literals;

namespace {

double seconds(dataflux::duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace

TEST_CASE("fast_list: gives all objects in order, with what they are", "[list]") {
  fixture w(numbered(30'000));
  const listing all = w.good();
  REQUIRE(names_of(all.objects) == w.source->names());
  for (std::size_t i = 0; i < all.objects.size(); i += 777) {
    CHECK(all.objects[i].size == sorted_names::size_of(all.objects.name(i), i));
    CHECK(all.objects[i].generation == static_cast<std::int64_t>(i + 1));
    CHECK(all.objects[i].crc32c == 7U);
  }
  CHECK(all.summary.objects == 30'000);
  CHECK(all.summary.calls == w.store.calls);
  CHECK(all.summary.missing.empty());
  CHECK(all.summary.dropped.total() == 0);
  std::uint64_t bytes = 0;
  for (const auto& row : all.objects) bytes += row.size;
  CHECK(all.summary.bytes == bytes);
}

TEST_CASE("fast_list: many names take far less time than page after page", "[list]") {
  fixture w(numbered(200'000));
  const auto begin = w.clock.now();
  const listing all = w.good({.parallelism = 48});
  REQUIRE(all.objects.size() == 200'000);
  // Page after page: 200 x 1.1 s. The clock is simulated.
  CHECK(seconds(w.clock.now() - begin) < 220 / 10.0);
  CHECK(w.store.peak_in_flight <= 48);
  CHECK(w.store.peak_in_flight > 30);
}

TEST_CASE("fast_list: an empty bucket, an empty prefix, an empty range", "[list]") {
  fixture w(numbered(10));
  CHECK(w.good({.prefix = "nothing/"}).objects.empty());
  const auto before = w.store.calls;
  CHECK(w.good({.start_offset = "x", .end_offset = "x"}).objects.empty());
  CHECK(w.good({.prefix = "a", .start_offset = "b"}).objects.empty());
  CHECK(w.store.calls == before);
  fixture none({});
  const listing all = none.good();
  CHECK(all.objects.empty());
  CHECK(all.summary.calls == 1);
}

TEST_CASE("fast_list: prefix and offsets bound what is listed", "[list]") {
  auto names = numbered(5'000);
  for (auto& name : numbered(5'000, "test/")) names.push_back(std::move(name));
  fixture w(names);
  CHECK(w.good({.prefix = "test/"}).objects.size() == 5'000);
  const listing part = w.good(
      {.prefix = "train/", .start_offset = "train/00001000", .end_offset = "train/00003000"});
  REQUIRE(part.objects.size() == 2'000);
  CHECK(part.objects.name(0) == "train/00001000");
  CHECK(part.objects.last_name() == "train/00002999");
  CHECK(w.good({.start_offset = "test/00004990", .end_offset = "train/00000010"}).objects.size() ==
        20);
}

TEST_CASE("fast_list: folds names behind a delimiter, whatever is cut", "[list]") {
  std::vector<std::string> names;
  std::vector<std::string> folders;
  for (int folder = 0; folder < 3'000; ++folder) {
    char name[32];
    std::snprintf(name, sizeof name, "d/%05d/", folder);
    folders.emplace_back(name);
    for (int i = 0; i < 3; ++i) names.push_back(name + std::to_string(i));
    if (folder % 2 == 0) names.emplace_back(name);
    std::snprintf(name, sizeof name, "d/%05d", folder);
    names.emplace_back(name);
  }
  fixture w(names);
  for (const bool trailing : {false, true}) {
    INFO(trailing);
    const listing all = w.good({.prefix = "d/",
                                .delimiter = "/",
                                .include_trailing_delimiter = trailing,
                                .filter = {.skip_markers = false},
                                .page_size = 70});
    CHECK(all.prefixes == folders);
    CHECK(all.objects.size() == (trailing ? 4'500U : 3'000U));
    CHECK(all.summary.prefixes == 3'000);
    CHECK(all.summary.ranges > 1);
  }
  const listing from = w.good({.prefix = "d/", .start_offset = "d/00010/1", .delimiter = "/"});
  CHECK(from.prefixes.front() == "d/00010/");
  CHECK(from.prefixes.size() == 2'990);
}

TEST_CASE("fast_list: markers and leftovers are dropped and counted", "[list]") {
  fixture w({"a", "a/", "b/", "b/x", "dataflux-composed-objects/1", "dataflux-composed-objects/2"});
  const listing all = w.good();
  CHECK(names_of(all.objects) == std::vector<std::string>{"a", "b/x"});
  CHECK(all.summary.objects == 2);
  CHECK(all.summary.dropped.markers == 2);
  CHECK(all.summary.dropped.composed == 2);
  const listing raw = w.good({.filter = {.skip_markers = false, .skip_composed = false}});
  CHECK(raw.objects.size() == 6);
}

TEST_CASE("fast_list: what is wrong with a request is found before any call", "[list]") {
  fixture w(numbered(10));
  const auto refused = [&](fast_list_request r, const std::string& word) {
    r.bucket = r.bucket.empty() ? "bucket" : r.bucket;
    auto op = dataflux::submit_fast_list(w.store, r);
    REQUIRE(op.poll());
    const auto outcome = op.take();
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code() == errc::invalid_argument);
    INFO(outcome.error().message());
    CHECK(outcome.error().message().find(word) != std::string::npos);
    CHECK(outcome.error().bucket() == r.bucket);
    fast_lister lister(w.store, r);
    CHECK_FALSE(lister.next_page());
    CHECK_FALSE(lister.next_page());
  };
  refused({.bucket = "B"}, "B");
  refused({.prefix = "\xff"}, "prefix");
  refused({.start_offset = "\xff"}, "start_offset");
  refused({.page_size = 10'001}, "10001");
  refused({.parallelism = 1025}, "parallelism");
  refused({.calls_per_page = 0.5}, "calls_per_page");
  refused({.calls_per_page = std::numeric_limits<double>::quiet_NaN()}, "calls_per_page");
  refused({.filter = {.regex = "("}}, "regex");
  refused({.filter = {.min_size = 2, .max_size = 1}}, "min_size");
  CHECK(w.store.calls == 0);
}

TEST_CASE("fast_list: max_calls and memory_cap end a listing by name", "[list]") {
  fixture w(numbered(20'000));
  auto few = w.list({.max_calls = 5});
  REQUIRE_FALSE(few);
  CHECK(few.error().code() == errc::resource_exhausted);
  CHECK(few.error().message().find("max_calls") != std::string::npos);
  CHECK(w.store.calls == 5);
  auto small = w.list({.memory_cap = 100'000});
  REQUIRE_FALSE(small);
  CHECK(small.error().code() == errc::resource_exhausted);
  CHECK(small.error().message().find("memory_cap") != std::string::npos);
  CHECK(w.good({.memory_cap = 2'000'000}).objects.size() == 20'000);
}

TEST_CASE("fast_list: cancelling ends it at once and leaves nothing under way", "[list]") {
  fixture w(numbered(100'000));
  for (const auto when : {0ms, 50ms, 110ms, 700ms, 2000ms}) {
    INFO(when.count());
    auto op = dataflux::submit_fast_list(w.store, {.bucket = "bucket"});
    w.clock.run_for(when);
    REQUIRE_FALSE(op.poll());
    const auto calls = w.store.calls;
    op.cancel();
    w.clock.run_for(0ms);
    REQUIRE(op.poll());
    const auto outcome = op.take();
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code() == errc::cancelled);
    CHECK(w.inner.in_flight() == 0);
    w.clock.run();
    CHECK(w.store.calls == calls);
  }
}

TEST_CASE("fast_list: a stop asked for beforehand, or by the caller's own token", "[list]") {
  fixture w(numbered(100'000));
  std::stop_source stop;
  auto op = dataflux::submit_fast_list(w.store,
                                       {.bucket = "bucket", .limits = {.stop = stop.get_token()}});
  w.clock.run_for(500ms);
  stop.request_stop();
  w.clock.run_for(0ms);
  REQUIRE(op.poll());
  CHECK(op.take().error().code() == errc::cancelled);
  const auto calls = w.store.calls;
  op = dataflux::submit_fast_list(w.store,
                                  {.bucket = "bucket", .limits = {.stop = stop.get_token()}});
  REQUIRE(op.poll());
  CHECK(op.take().error().code() == errc::cancelled);
  CHECK(w.store.calls == calls);
}

TEST_CASE("fast_list: a time limit covers the whole listing", "[list]") {
  fixture w(numbered(100'000));
  for (const auto limit : {50ms, 1500ms}) {
    const auto begin = w.clock.now();
    auto op =
        dataflux::submit_fast_list(w.store, {.bucket = "bucket", .limits = {.timeout = limit}});
    w.clock.run_for(limit);
    REQUIRE(op.poll());
    CHECK(op.take().error().code() == errc::deadline_exceeded);
    CHECK(w.inner.in_flight() == 0);
    w.clock.run();
    CHECK(w.clock.now() - begin <= limit + fixture_rtt + 2s);
  }
  CHECK(w.good({.limits = {.timeout = 1h}}).objects.size() == 100'000);
}

TEST_CASE("fast_list: a store that ends takes the listing with it", "[list]") {
  dataflux::virtual_scheduler clock;
  auto store =
      std::make_unique<memory_store>(clock, dataflux::memory_store_options{.rtt = fixture_rtt});
  store->create_bucket("bucket", std::make_shared<sorted_names>(numbered(100'000)));
  auto op = dataflux::submit_fast_list(*store, {.bucket = "bucket"});
  clock.run_for(250ms);
  REQUIRE_FALSE(op.poll());
  store.reset();
  clock.run();
  REQUIRE(op.poll());
  CHECK(op.take().error().code() == errc::cancelled);
}

TEST_CASE("fast_list: tasks that are dropped unrun still end it", "[list]") {
  auto clock = std::make_unique<dataflux::virtual_scheduler>();
  auto store =
      std::make_unique<memory_store>(*clock, dataflux::memory_store_options{.rtt = fixture_rtt});
  store->create_bucket("bucket", std::make_shared<sorted_names>(numbered(10)));
  auto op = dataflux::submit_fast_list(*store, {.bucket = "bucket"});
  store.reset();
  clock.reset();
  REQUIRE(op.poll());
  CHECK(op.take().error().code() == errc::cancelled);
}

TEST_CASE("fast_list: the observer sees progress", "[list]") {
  struct watcher final : dataflux::observer {
    void on_list(const dataflux::list_event& e) noexcept override {
      ++pages;
      rising = rising && e.objects >= objects && e.listed <= e.expected;
      objects = e.objects;
      bucket = e.bucket;
      prefix = e.prefix;
    }
    std::uint64_t pages{0};
    std::uint64_t objects{0};
    bool rising{true};
    std::string bucket{};
    std::string prefix{};
  } seen;
  fixture w(numbered(20'000));
  const listing all = w.good({.prefix = "train/", .observer = &seen});
  CHECK(seen.pages == all.summary.pages);
  CHECK(seen.objects == 20'000);
  CHECK(seen.rising);
  CHECK(seen.bucket == "bucket");
  CHECK(seen.prefix == "train/");
}

TEST_CASE("fast_list: what a page brings behind a cut is not waited for again", "[list]") {
  for (const std::size_t size : {300U, 500U, 1'000U, 1'001U, 1'500U, 2'000U}) {
    INFO(size);
    for (const auto order : {dataflux::list_order::any, dataflux::list_order::by_name}) {
      fixture w(numbered(size));
      const auto begin = w.clock.now();
      std::vector<std::string> names;
      dataflux::fast_lister lister(w.store, {.bucket = "bucket", .order = order});
      dataflux::time_point end = begin;
      bool more = true;
      while (more) {
        auto next = lister.submit_next_page();
        while (!next.poll() && w.clock.run_one()) {
        }
        auto page = next.take().value();
        more = page.has_value();
        if (!more) break;
        end = w.clock.now();
        for (auto& name : names_of(page->objects)) names.push_back(std::move(name));
      }
      if (order == dataflux::list_order::any) std::sort(names.begin(), names.end());
      CHECK(names == w.source->names());
      const std::size_t pages = (size + 999) / 1000;
      CHECK(end - begin <= pages * fixture_rtt + size * std::chrono::milliseconds(1));
    }
  }
}

}  // namespace fast_list_test
