#include "fast_list_fixture.hpp"

#include <support/sanitized.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace fast_lister_test {

using dataflux::errc;
using dataflux::fast_list_request;
using dataflux::fast_lister;
using dataflux::list_order;
using dataflux::taken;
using namespace std::chrono_literals;

namespace {

struct streamed {
  std::vector<std::string> names;
  std::vector<std::string> prefixes;
  std::optional<dataflux::error> failure;
  std::size_t pages{0};
};

/// Pulls until the end; each page takes the reader `pause`.
streamed read_all(fixture& w, fast_lister& lister, dataflux::duration pause = 0ms) {
  streamed all;
  while (true) {
    auto op = lister.submit_next_page();
    while (!op.poll()) REQUIRE(w.clock.run_one());
    auto page = op.take();
    if (!page) {
      all.failure = page.error();
      return all;
    }
    if (!*page) return all;
    ++all.pages;
    for (auto& name : names_of((*page)->objects)) all.names.push_back(std::move(name));
    for (auto& prefix : (*page)->prefixes) all.prefixes.push_back(std::move(prefix));
    if (pause > 0ms) w.clock.run_for(pause);
  }
}

}  // namespace

TEST_CASE("fast_lister: both orders hand out everything", "[list]") {
  fixture w(numbered(30'000));
  for (const list_order order : {list_order::any, list_order::by_name}) {
    fast_lister lister(w.store, {.bucket = "bucket", .order = order});
    streamed all = read_all(w, lister);
    REQUIRE_FALSE(all.failure);
    CHECK(lister.summary().objects == 30'000);
    CHECK(lister.summary().ranges > 1);
    if (order == list_order::any) std::sort(all.names.begin(), all.names.end());
    CHECK(all.names == w.source->names());
    auto again = lister.submit_next_page();
    REQUIRE(again.poll());
    CHECK_FALSE(again.take().value());
  }
}

TEST_CASE("fast_lister: the first page comes after one call", "[list]") {
  fixture w(numbered(100'000));
  const auto begin = w.clock.now();
  fast_lister lister(w.store, {.bucket = "bucket"});
  auto op = lister.submit_next_page();
  while (!op.poll()) REQUIRE(w.clock.run_one());
  CHECK(op.take().value()->objects.size() > 0);
  CHECK(w.clock.now() - begin <= fixture_rtt + 1s);
}

TEST_CASE("fast_lister: folded prefixes are part of the pages", "[list]") {
  std::vector<std::string> names;
  for (int i = 0; i < 500; ++i) {
    names.push_back("f" + std::to_string(i) + "/x");
    names.push_back("o" + std::to_string(i));
  }
  fixture w(names);
  fast_lister lister(
      w.store,
      {.bucket = "bucket", .delimiter = "/", .page_size = 50, .order = list_order::by_name});
  const streamed all = read_all(w, lister);
  CHECK(all.names.size() == 500);
  CHECK(all.prefixes.size() == 500);
  CHECK(std::is_sorted(all.names.begin(), all.names.end()));
  CHECK(std::is_sorted(all.prefixes.begin(), all.prefixes.end()));
}

TEST_CASE("fast_lister: nobody reads, nothing goes on beyond the cap", "[list]") {
  fixture w(numbered(sanitized ? 100'000 : 300'000));
  for (const list_order order : {list_order::any, list_order::by_name}) {
    const auto before = w.store.calls;
    fast_lister lister(w.store, {.bucket = "bucket", .memory_cap = 2'000'000, .order = order});
    w.clock.run();  // ends: nothing is under way
    const auto stopped = w.store.calls - before;
    CHECK(stopped > 5);
    CHECK(stopped < 100);
    streamed all = read_all(w, lister);
    REQUIRE_FALSE(all.failure);
    std::sort(all.names.begin(), all.names.end());
    CHECK(all.names == w.source->names());
  }
}

TEST_CASE("fast_lister: a slow reader and the smallest cap still get everything", "[list]") {
  fixture w(numbered(12'000));
  for (const list_order order : {list_order::any, list_order::by_name}) {
    for (const std::uint64_t cap : {1ULL, 300'000ULL}) {
      INFO(cap);
      fast_lister lister(w.store, {.bucket = "bucket", .memory_cap = cap, .order = order});
      streamed all = read_all(w, lister, 300ms);
      REQUIRE_FALSE(all.failure);
      if (order == list_order::any) std::sort(all.names.begin(), all.names.end());
      CHECK(all.names == w.source->names());
    }
  }
}

TEST_CASE("fast_lister: never holds more than its cap and a page, whatever the reader does",
          "[list]") {
  // In rows: those taken from the store, those under way, less those that the reader has.
  struct watcher final : dataflux::observer {
    void on_list(const dataflux::list_event& e) noexcept override {
      held = e.objects - taken;
      most = std::max(most, held + page * e.calls_in_flight);
    }
    std::uint64_t page{0};
    std::uint64_t taken{0};
    std::uint64_t held{0};
    std::uint64_t most{0};
  };
  constexpr std::uint64_t row_bytes = 24 + 14;
  fixture w(numbered(12'000));
  for (const list_order order : {list_order::any, list_order::by_name}) {
    for (const std::uint64_t cap : {1'000ULL, 60'000ULL, 400'000ULL}) {
      for (const auto pause : {0ms, 90ms, 5000ms}) {
        INFO(cap << " bytes, pause " << pause.count() << " ms");
        watcher seen;
        seen.page = 200;
        fast_lister lister(w.store, {.bucket = "bucket",
                                     .page_size = 200,
                                     .memory_cap = cap,
                                     .order = order,
                                     .observer = &seen});
        while (true) {
          w.clock.run_for(pause);
          auto op = lister.submit_next_page();
          while (!op.poll() && w.clock.run_one()) {
          }
          auto next = op.take();
          REQUIRE(next);
          if (!*next) break;
          seen.taken += (*next)->objects.size();
        }
        CHECK(seen.taken == 12'000);
        CHECK(seen.most <= cap / row_bytes + 2 * seen.page);
        if (cap > 60'000 && pause == 5000ms) CHECK(seen.most * row_bytes > cap / 2);
      }
    }
  }
}

TEST_CASE("fast_lister: destroying it ends the listing at once", "[list]") {
  fixture w(numbered(300'000));
  for (const auto when : {0ms, 50ms, 300ms, 1500ms}) {
    std::optional<fast_lister> lister(std::in_place, w.store,
                                      fast_list_request{.bucket = "bucket"});
    w.clock.run_for(when);
    const auto calls = w.store.calls;
    lister.reset();
    w.clock.run_for(0ms);
    CHECK(w.inner.in_flight() == 0);
    w.clock.run();
    CHECK(w.store.calls == calls);
  }
}

TEST_CASE("fast_lister: cancelling it, or a pull, or by the caller's token", "[list]") {
  fixture w(numbered(300'000));
  for (const int way : {0, 1, 2, 3}) {
    INFO(way);
    std::stop_source stop;
    fast_lister lister(w.store, {.bucket = "bucket", .limits = {.stop = stop.get_token()}});
    auto first = lister.submit_next_page();
    if (way != 3) {
      while (!first.poll()) REQUIRE(w.clock.run_one());
      CHECK(first.take().value());
      first = lister.submit_next_page();
    }
    if (way == 0) lister.cancel();
    if (way == 1 || way == 3) first.cancel();
    if (way == 2) stop.request_stop();
    w.clock.run_for(0ms);
    REQUIRE(first.poll());
    if (auto last = first.take(); last) {  // it was there already
      auto op = lister.submit_next_page();
      w.clock.run_for(0ms);
      CHECK(op.take().error().code() == errc::cancelled);
    } else {
      CHECK(last.error().code() == errc::cancelled);
    }
    CHECK(w.inner.in_flight() == 0);
  }
}

TEST_CASE("fast_lister: what came before an error is handed out before it", "[list]") {
  fixture w(numbered(20'000));
  w.fault = [](const dataflux::list_page_request& r) {
    return r.start_offset.empty() && r.page_token.empty() ? page_fault::none : page_fault::denied;
  };
  fast_lister lister(w.store, {.bucket = "bucket"});
  w.clock.run();
  const streamed all = read_all(w, lister);
  REQUIRE(all.failure);
  CHECK(all.failure->code() == errc::permission_denied);
  CHECK(all.pages == 1);
  const streamed again = read_all(w, lister);
  CHECK(again.pages == 0);
  CHECK(again.failure->code() == errc::permission_denied);
}

TEST_CASE("fast_lister: several may wait; moving it keeps it", "[list]") {
  fixture w(numbered(3'000));
  fast_lister first(w.store, {.bucket = "bucket", .page_size = 500});
  fast_lister lister(std::move(first));
  std::size_t rows = 0;
  int ends = 0;
  for (int i = 0; i < 30; ++i) {
    lister.start_next_page([&](dataflux::result<fast_lister::page> page) {
      REQUIRE(page);
      if (*page) {
        rows += (*page)->objects.size();
      } else {
        ++ends;
      }
    });
  }
  w.clock.run();
  CHECK(rows == 3'000);
  CHECK(ends > 0);
  lister = fast_lister(w.store, {.bucket = "bucket", .prefix = "none/"});
  CHECK(read_all(w, lister).names.empty());
}

TEST_CASE("fast_lister: a completion may destroy it", "[list]") {
  fixture w(numbered(50'000));
  auto lister = std::make_unique<fast_lister>(w.store, fast_list_request{.bucket = "bucket"});
  bool called = false;
  lister->start_next_page([&](dataflux::result<fast_lister::page>) {
    called = true;
    lister.reset();
  });
  w.clock.run();
  CHECK(called);
  CHECK(w.inner.in_flight() == 0);
  CHECK(w.store.calls < 5);
}

TEST_CASE("fast_lister: a queue tells when a try has a page", "[list]") {
  fixture w(numbered(30'000));
  dataflux::completion_queue queue;
  std::array<dataflux::completion_event, 4> events;
  fast_lister lister(w.store, {.bucket = "bucket", .order = list_order::by_name});
  dataflux::listed_page page;
  CHECK(lister.try_next_page(page).value() == taken::nothing);
  std::vector<std::string> names;
  for (bool more = true; more;) {
    lister.notify(queue, 9);
    std::size_t count = 0;
    while ((count = queue.next(events, 0s)) == 0) REQUIRE(w.clock.run_one());
    CHECK(count == 1);
    CHECK(events[0].tag == 9);
    const taken what = lister.try_next_page(page).value();
    CHECK(what != taken::nothing);
    more = what == taken::some;
    if (more) {
      for (auto& name : names_of(page.objects)) names.push_back(std::move(name));
    }
  }
  CHECK(names == w.source->names());
  CHECK(queue.next(events, 0s) == 0);
  CHECK(lister.try_next_page(page).value() == taken::ended);
}

TEST_CASE("fast_lister: a queue hears of a cancel, and of nothing from one that is gone",
          "[list]") {
  fixture w(numbered(30'000));
  dataflux::completion_queue queue;
  std::array<dataflux::completion_event, 4> events;
  dataflux::listed_page page;
  fast_lister lister(w.store, {.bucket = "bucket"});
  lister.notify(queue, 1);
  lister.cancel();
  w.clock.run();
  REQUIRE(queue.next(events, 0s) == 1);
  CHECK(lister.try_next_page(page).error().code() == errc::cancelled);
  {
    fast_lister dropped(w.store, {.bucket = "bucket"});
    dropped.notify(queue, 2);
  }
  w.clock.run();
  CHECK(queue.next(events, 0s) == 0);
}

}  // namespace fast_lister_test
