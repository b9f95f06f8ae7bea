#include <dataflux/download/get_one.hpp>

#include "get_fixture.hpp"

#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <stop_token>

namespace getter_test {

using namespace std::chrono_literals;
using dataflux::byte_range;
using dataflux::completion_queue;
using dataflux::errc;
using dataflux::get_on_error;
using dataflux::get_order;
using dataflux::get_request;
using dataflux::getter;
using dataflux::got_item;
using dataflux::injected_fault;
using dataflux::store_verb;
using dataflux::taken;

namespace {

/// The named object is late, or fails, as often as it is asked for.
dataflux::fault_script only(std::string name, injected_fault fault) {
  return [name = std::move(name), fault = std::move(fault)](
             store_verb, std::string_view object, std::uint64_t) -> std::optional<injected_fault> {
    if (object != name) return std::nullopt;
    return fault;
  };
}

}  // namespace

TEST_CASE("getter: items come in the order of the requests", "[download]") {
  get_fixture w({}, {.rtt = 20ms, .jitter = 1});
  std::uint64_t n = 0;
  {
    getter items(w.context, {.bucket = "bucket"}, w.put_many(500, 3'000));
    const auto failed = w.read_all(items, 7, [&](const got_item& item) {
      REQUIRE_FALSE(item.failure);
      CHECK(item.index == n);
      CHECK(item.object == std::to_string(n));
      CHECK(item.generation > 0);
      CHECK(item.verified);
      CHECK(item.crc32c == dataflux::crc32c(item.bytes));
      CHECK(same(item.bytes, body_of(3'000, n)));
      CHECK(w.context.counters().borrowed >= 3'000);
      ++n;
    });
    CHECK_FALSE(failed);
    CHECK(w.next(items).value().empty());  // and again
  }
  CHECK(n == 500);
  CHECK(w.reads() == 500);
  CHECK(w.store.counters().peak_in_flight > 100);
  w.at_rest();
  CHECK(w.context.counters().items == 500);
  CHECK(w.context.counters().bytes == 500 * 3'000);
}

TEST_CASE("getter: as ready, a late object holds nobody up", "[download]") {
  get_fixture w;
  auto requests = w.put_many(300, 1'000);
  w.store.set_faults(only("5", {.delay = 3s}));
  const bool ordered = GENERATE(true, false);
  getter items(w.context,
               {.bucket = "bucket", .order = ordered ? get_order::as_asked : get_order::as_ready},
               requests);
  std::set<std::uint64_t> seen;
  const auto began = w.clock.now();
  std::uint64_t early = 0;
  CHECK_FALSE(w.read_all(items, 10, [&](const got_item& item) {
    REQUIRE_FALSE(item.failure);
    CHECK(same(item.bytes, body_of(1'000, item.index)));
    seen.insert(item.index);
    if (w.clock.now() - began < 1s) ++early;
  }));
  CHECK(seen.size() == 300);
  CHECK(early == (ordered ? 5 : 299));
}

TEST_CASE("getter: a failed request is an item in its place", "[download]") {
  get_fixture w;
  auto requests = w.put_many(50, 100);
  requests[7].generation += 1'000;
  requests[20].object = "missing";
  requests[30].range = byte_range::span(101, 5);
  requests[31].range = byte_range::span(0, 0);
  requests[40].crc32c = *requests[40].crc32c ^ 1;
  w.store.set_faults(only("45", {.corrupt = true}));
  const std::map<std::uint64_t, errc> wanted{{7, errc::not_found},     {20, errc::not_found},
                                             {30, errc::out_of_range}, {31, errc::invalid_argument},
                                             {40, errc::data_loss},    {45, errc::data_loss}};
  SECTION("and all others go on") {
    std::uint64_t n = 0;
    getter items(w.context, {.bucket = "bucket"}, requests);
    CHECK_FALSE(w.read_all(items, 8, [&](const got_item& item) {
      INFO(n);
      CHECK(item.index == n);
      const auto bad = wanted.find(n);
      REQUIRE(item.failure.has_value() == (bad != wanted.end()));
      if (item.failure) {
        CHECK(item.failure->code() == bad->second);
        CHECK(item.failure->object() == requests[n].object);
        CHECK(item.failure->bucket() == "bucket");
        CHECK(item.object == requests[n].object);
        CHECK(item.bytes.empty());
      } else {
        CHECK(same(item.bytes, body_of(100, n)));
      }
      ++n;
    }));
    CHECK(n == 50);
  }
  SECTION("or ends the stream, after those before it") {
    std::uint64_t n = 0;
    getter items(w.context, {.bucket = "bucket", .on_error = get_on_error::stop}, requests);
    for (int again = 0; again < 2; ++again) {
      const auto failed = w.read_all(items, 8, [&](const got_item& item) {
        CHECK_FALSE(item.failure);
        ++n;
      });
      REQUIRE(failed);
      CHECK(failed->code() == errc::not_found);
      CHECK(failed->object() == "7");
    }
    CHECK(n == 7);
  }
  w.at_rest();
}

TEST_CASE("getter: what is ready comes before the error that ends it", "[download]") {
  get_fixture w;
  auto requests = w.put_many(50, 100);
  requests[7].object = "missing";
  // The first one comes last of those before the error, and others are still under way then.
  w.store.set_faults(
      [](store_verb, std::string_view object, std::uint64_t) -> std::optional<injected_fault> {
        if (object == "0") return injected_fault{.delay = 100ms};
        if (object.size() == 2) return injected_fault{.delay = 10s};
        return std::nullopt;
      });
  getter items(w.context, {.bucket = "bucket", .on_error = get_on_error::stop}, requests);
  std::uint64_t n = 0;
  const auto failed = w.read_all(items, 50, [&](const got_item& item) {
    CHECK(item.index == n++);
    CHECK_FALSE(item.failure);
  });
  REQUIRE(failed);
  CHECK(failed->object() == "missing");
  CHECK(n == 7);
}

TEST_CASE("getter: cancelled, late, or dropped in the midst", "[download]") {
  get_fixture w;
  const auto requests = w.put_many(2'000, 10'000);
  SECTION("cancel") {
    getter items(w.context, {.bucket = "bucket"}, requests);
    REQUIRE(w.next(items, 5));
    items.cancel();
    for (int again = 0; again < 2; ++again) {
      const auto failed = w.read_all(items, 5, [](const got_item&) {});
      REQUIRE(failed);
      CHECK(failed->code() == errc::cancelled);
    }
    w.at_rest();
  }
  SECTION("the caller's stop token") {
    std::stop_source stop;
    getter items(w.context, {.bucket = "bucket", .limits = {.stop = stop.get_token()}}, requests);
    REQUIRE(w.next(items, 5));
    stop.request_stop();
    const auto failed = w.read_all(items, 5, [](const got_item&) {});
    REQUIRE(failed);
    CHECK(failed->code() == errc::cancelled);
  }
  SECTION("an operation that is cancelled") {
    getter items(w.context, {.bucket = "bucket"}, requests);
    auto op = items.submit_next_batch(5);
    op.cancel();
    w.clock.run();
    CHECK(op.take().error().code() == errc::cancelled);
  }
  SECTION("time limit") {
    w.store.set_faults(only("9", {.delay = 60s}));
    getter items(w.context, {.bucket = "bucket", .limits = {.timeout = 2s}}, requests);
    std::uint64_t n = 0;
    const auto failed = w.read_all(items, 5, [&](const got_item&) { ++n; });
    REQUIRE(failed);
    CHECK(failed->code() == errc::deadline_exceeded);
    CHECK(failed->object() == "9");  // it tells which read was late
    CHECK(n == 9);
  }
  SECTION("dropped at any moment, items outlive it") {
    for (std::size_t steps = 0; steps < 600; steps += 23) {
      get_fixture::batch kept;
      {
        getter items(w.context, {.bucket = "bucket"}, requests);
        auto op = items.submit_next_batch(3);
        for (std::size_t i = 0; i < steps && w.clock.run_one(); ++i) {
        }
        if (op.poll()) kept = op.take().value();
        items = getter(w.context, {.bucket = "bucket"}, std::vector<get_request>{});
        w.clock.run();
      }
      for (const got_item& item : kept) CHECK(same(item.bytes, body_of(10'000, item.index)));
      CHECK(w.context.counters().borrowed == kept.size() * 10'000);
      kept.clear();
      w.at_rest();
    }
  }
  SECTION("dropped with a completion that waits") {
    std::optional<errc> code;
    {
      getter items(w.context, {.bucket = "bucket"}, requests);
      items.start_next_batch(1, [&](dataflux::result<get_fixture::batch> r) {
        code = r ? errc::ok : r.error().code();
      });
    }
    w.clock.run();
    CHECK(code == errc::cancelled);
  }
  w.at_rest();
}

TEST_CASE("getter: a reader that takes nothing stops the network within the cap", "[download]") {
  get_fixture w({.memory_cap = 1'000'000});
  getter items(w.context, {.bucket = "bucket"}, w.put_many(1'000, 10'000));
  w.clock.run();
  CHECK(w.reads() >= 60);
  CHECK(w.reads() <= 100);
  CHECK(w.context.counters().held <= 1'000'000);
  CHECK(w.context.counters().borrowed == 0);
  SECTION("what it keeps is borrowed, and no part of the cap") {
    get_fixture::batch kept;
    while (kept.size() < 1'000) {
      auto got = w.next(items, 64).value();
      REQUIRE_FALSE(got.empty());
      std::move(got.begin(), got.end(), std::back_inserter(kept));
    }
    CHECK(w.context.counters().borrowed == 10'000'000);
    for (const got_item& item : kept) CHECK(same(item.bytes, body_of(10'000, item.index)));
    kept.clear();
    CHECK(w.context.counters().borrowed == 0);
    CHECK(w.next(items).value().empty());
    w.at_rest();
  }
  CHECK(w.context.counters().peak_held <= 1'000'000);
}

TEST_CASE("getter: objects larger than a slice come in parallel ranges", "[download]") {
  get_fixture w({.memory_cap = 1'000'000, .slice = 1'000});
  std::vector<get_request> requests{w.put("large", 10'001, 1), w.put("small", 10, 2)};
  SECTION("size known") {}
  SECTION("size unknown") {
    for (auto& r : requests) r.object_size.reset();
  }
  SECTION("generation unknown") {
    for (auto& r : requests) r.generation = 0;
  }
  getter items(w.context, {.bucket = "bucket"}, requests);
  const auto large = w.next(items).value();
  CHECK(large[0].verified);
  CHECK(same(large[0].bytes, body_of(10'001, 1)));
  CHECK(large[0].crc32c == *requests[0].crc32c);
  CHECK(same(w.next(items).value()[0].bytes, body_of(10, 2)));
  CHECK(w.store.counters().peak_in_flight >= 10);
}

TEST_CASE("getter: what is larger than the cap fails, or goes into the caller's memory",
          "[download]") {
  get_fixture w({.memory_cap = 50'000, .slice = 4'000});
  const bool known = GENERATE(true, false);
  std::vector<get_request> requests{w.put("a", 60'000, 1), w.put("b", 60'000, 2),
                                    w.put("c", 100, 3)};
  if (!known) {
    for (auto& r : requests) r.object_size.reset();
  }
  std::vector<std::byte> memory(60'000);
  requests[1].into = memory;
  getter items(w.context, {.bucket = "bucket"}, requests);
  const auto got = w.next(items).value();
  REQUIRE(got[0].failure);
  CHECK(got[0].failure->code() == errc::resource_exhausted);
  CHECK(got[0].failure->message().find("50000") != std::string::npos);
  const auto mine = w.next(items).value();
  REQUIRE_FALSE(mine[0].failure);
  CHECK(mine[0].bytes.data() == memory.data());
  CHECK(mine[0].verified);
  CHECK(same(memory, body_of(60'000, 2)));
  CHECK(same(w.next(items).value()[0].bytes, body_of(100, 3)));
}

TEST_CASE("getter: sizes that nobody knows", "[download]") {
  get_fixture w({.memory_cap = 3'000'000, .slice = 100'000});
  std::mt19937 dice(5);
  std::vector<get_request> requests;
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < 200; ++i) {
    sizes.push_back(i % 10 == 0 ? 0 : i % 17 == 0 ? 2'000'000 : dice() % 50'000);
    requests.push_back(w.put(std::to_string(i), sizes[i], i));
    requests[i].object_size.reset();
    if (i % 2 == 0) requests[i].generation = 0;
    if (i % 3 == 0) requests[i].crc32c.reset();
  }
  std::uint64_t n = 0;
  getter items(w.context, {.bucket = "bucket"}, requests);
  CHECK_FALSE(w.read_all(items, 3, [&](const got_item& item) {
    INFO(n);
    REQUIRE_FALSE(item.failure);
    CHECK(item.verified);
    CHECK(same(item.bytes, body_of(sizes[n], n)));
    ++n;
  }));
  CHECK(n == 200);
  w.at_rest();
}

TEST_CASE("getter: nothing is asked for empty objects", "[download]") {
  get_fixture w;
  getter items(w.context, {.bucket = "bucket"}, w.put_many(10, 0));
  std::uint64_t n = 0;
  CHECK_FALSE(w.read_all(items, 3, [&](const got_item& item) {
    CHECK_FALSE(item.failure);
    CHECK(item.verified);
    CHECK(item.bytes.empty());
    CHECK(item.crc32c == 0);
    ++n;
  }));
  CHECK(n == 10);
  CHECK(w.reads() == 0);
}

TEST_CASE("getter: objects that changed after they were listed", "[download]") {
  get_fixture w({.slice = 1'000});
  const std::size_t size = GENERATE(std::size_t{500}, std::size_t{5'000});
  auto requests = w.put_many(5, size);
  const bool pinned = GENERATE(true, false);
  if (!pinned) {
    for (auto& r : requests) r.generation = 0;
  }
  w.put("1", size, 77);     // overwritten
  w.put("2", size / 2, 2);  // shortened
  w.put("3", size + 9, 3);  // longer
  w.store.start_remove({.bucket = "bucket", .object = "4"}, [](dataflux::result<void>) {});
  w.clock.run();
  getter items(w.context, {.bucket = "bucket"}, requests);
  const auto got = w.next(items, 1).value();
  CHECK(same(got[0].bytes, body_of(size, 0)));
  const errc wanted[] = {pinned ? errc::not_found : errc::data_loss,
                         pinned ? errc::not_found : errc::out_of_range,
                         pinned ? errc::not_found : errc::out_of_range, errc::not_found};
  for (const errc code : wanted) {
    const auto bad = w.next(items).value();
    INFO(bad[0].index);
    REQUIRE(bad[0].failure);
    CHECK(bad[0].failure->code() == code);
  }
}

TEST_CASE("getter: ranges into memory of the library and of the caller", "[download]") {
  get_fixture w;
  const auto whole = body_of(1'000, 1);
  const get_request o = w.put("o", 1'000, 1);
  struct row {
    byte_range range;
    std::size_t offset, length;
  };
  const row rows[] = {{byte_range::span(10, 20), 10, 20},  {byte_range::from(990), 990, 10},
                      {byte_range::last(30), 970, 30},     {byte_range::last(5'000), 0, 1'000},
                      {byte_range::span(995, 50), 995, 5}, {byte_range::span(0, 1'000), 0, 1'000}};
  const bool known = GENERATE(true, false);
  const bool own = GENERATE(true, false);
  for (const row& r : rows) {
    INFO(r.offset << " " << r.length << " " << known << own);
    get_request request = o;
    request.range = r.range;
    if (!known) request.object_size.reset();
    std::vector<std::byte> memory(r.length);
    if (!own) request.into = memory;
    getter items(w.context, {.bucket = "bucket"}, std::vector{request});
    const auto got = w.next(items).value();
    REQUIRE(got.size() == 1);
    REQUIRE_FALSE(got[0].failure);
    CHECK(same(got[0].bytes, std::span(whole).subspan(r.offset, r.length)));
    CHECK(got[0].verified == (r.length == 1'000));
    if (!own && r.length > 0) CHECK(got[0].bytes.data() == memory.data());
  }
  std::vector<std::byte> memory(51);
  for (const std::size_t wrong : {49U, 51U}) {
    get_request request = o;
    request.range = byte_range::last(50);
    if (!known) request.object_size.reset();
    request.into = std::span(memory).first(wrong);
    getter items(w.context, {.bucket = "bucket"}, std::vector{request});
    const auto got = w.next(items).value();
    REQUIRE(got[0].failure);
    CHECK(got[0].failure->code() == errc::out_of_range);
  }
}

TEST_CASE("getter: a range that begins at the object's end, or behind it, fails", "[download]") {
  get_fixture w;
  const get_request o = w.put("o", 1'000, 1);
  const get_request empty = w.put("e", 0, 1);
  const bool known = GENERATE(true, false);
  // Alone, and read together with one that is good.
  const bool together = GENERATE(true, false);
  const auto read = [&](get_request request, const byte_range& range) {
    request.range = range;
    if (!known) request.object_size.reset();
    std::vector<get_request> all{request};
    if (together) {
      all.insert(all.begin(), request);
      all.front().range = byte_range::span(0, 1);
    }
    getter items(w.context, {.bucket = "bucket"}, all);
    std::vector<got_item> got;
    CHECK_FALSE(w.read_all(items, 3, [&](got_item& item) { got.push_back(std::move(item)); }));
    REQUIRE(got.size() == all.size());
    if (together) CHECK_FALSE(got.front().failure);
    return std::move(got.back());
  };
  for (const byte_range& range : {byte_range::span(1'000, 1), byte_range::from(1'000),
                                  byte_range::span(1'001, 5), byte_range::from(5'000)}) {
    const got_item item = read(o, range);
    INFO(range.offset() << " " << known << together);
    REQUIRE(item.failure);
    CHECK(item.failure->code() == errc::out_of_range);
    CHECK(item.failure->object() == "o");
  }
  CHECK(read(empty, byte_range::from(1)).failure);
  for (const byte_range& range : {byte_range::all(), byte_range::span(0, 7), byte_range::last(7)}) {
    const got_item item = read(empty, range);
    CHECK_FALSE(item.failure);
    CHECK(item.bytes.empty());
  }
}

TEST_CASE("getter: a source is asked only for what there is room for", "[download]") {
  get_fixture w({.memory_cap = 100'000});
  const auto all = w.put_many(200, 5'000);
  std::size_t asked = 0;
  getter items(w.context, {.bucket = "bucket"},
               dataflux::get_source([&]() -> std::optional<get_request> {
                 if (asked == all.size()) return std::nullopt;
                 return all[asked++];
               }));
  w.clock.run();
  CHECK(asked >= 18);
  CHECK(asked <= 22);
  std::uint64_t n = 0;
  CHECK_FALSE(w.read_all(
      items, 4, [&](const got_item& item) { CHECK(same(item.bytes, body_of(5'000, n++))); }));
  CHECK(n == 200);
}

TEST_CASE("getter: a slice of a listing", "[download]") {
  get_fixture w;
  dataflux::object_columns rows;
  for (const get_request& r : w.put_many(100, 50)) {
    rows.append(r.object, *r.object_size, r.generation, r.crc32c);
  }
  std::uint64_t n = 40;
  getter items(w.context, {.bucket = "bucket"}, rows.slice(40, 20));
  rows = {};
  CHECK_FALSE(w.read_all(items, 64, [&](const got_item& item) {
    CHECK(item.index == n - 40);
    CHECK(item.object == std::to_string(n));
    CHECK(item.verified);
    CHECK(same(item.bytes, body_of(50, n++)));
  }));
  CHECK(n == 60);
}

TEST_CASE("getter: two streams share memory and turns, and none waits for the other's reader",
          "[download]") {
  get_fixture w({.memory_cap = 1'000'000, .concurrency = {.max = 8}});
  const auto requests = w.put_many(300, 10'000);
  const auto large = w.put("large", 990'000, 999);
  getter idle(w.context, {.bucket = "bucket"}, requests);
  w.clock.run();
  CHECK(w.context.counters().held > 500'000);
  // It needs nearly all the memory there is: what the idle one has read ahead is given up.
  getter busy(w.context, {.bucket = "bucket"}, std::vector{large});
  const auto got = w.next(busy).value();
  REQUIRE_FALSE(got[0].failure);
  CHECK(same(got[0].bytes, body_of(990'000, 999)));
  CHECK(w.context.counters().revoked > 0);
  // And is read again.
  std::uint64_t n = 0;
  CHECK_FALSE(w.read_all(idle, 4, [&](const got_item& item) {
    REQUIRE_FALSE(item.failure);
    CHECK(item.index == n);
    CHECK(same(item.bytes, body_of(10'000, n++)));
  }));
  CHECK(n == 300);

  getter a(w.context, {.bucket = "bucket"}, requests);
  getter b(w.context, {.bucket = "bucket"}, requests);
  std::uint64_t of_a = 0;
  std::uint64_t of_b = 0;
  while (of_a < 300 || of_b < 300) {
    if (of_a < 300) of_a += w.next(a, 1).value().size();
    if (of_b < 300) of_b += w.next(b, 1).value().size();
  }
  CHECK(w.context.counters().peak_held <= 1'000'000);
}

TEST_CASE("getter: beside a large read it keeps half of its speed (mend 4)", "[download]") {
  const std::size_t size = GENERATE(as<std::size_t>{}, 10'000, 100'000);
  // What a loader gets in two seconds.
  const auto items_of = [size](bool beside) {
    get_fixture w({.slice = 1U << 20U, .concurrency = {.max = 16}},
                  {.rtt = 20ms, .jitter = 0.1, .bytes_per_second_per_connection = 5e6});
    w.store.put("bucket", "large", dataflux::synthetic_bytes(192U << 20U, 999));
    std::vector<std::byte> memory(192U << 20U);
    std::optional<dataflux::result<dataflux::ranged_read_summary>> large;
    std::stop_source end;
    if (beside) {
      start_get_one(w.context,
                    {.bucket = "bucket", .object = "large", .limits = {.stop = end.get_token()}},
                    memory, [&](auto r) { large = std::move(r); });
      w.clock.run_for(500ms);
    }
    getter items(w.context, {.bucket = "bucket"}, w.put_many(2'000, size));
    const auto until = w.clock.now() + 2s;
    std::size_t got = 0;
    while (w.clock.now() < until) got += w.next(items).value().size();
    CHECK_FALSE(large);
    end.request_stop();
    w.clock.run();
    CHECK(large.has_value() == beside);
    return static_cast<double>(got);
  };
  CHECK(items_of(true) >= 0.45 * items_of(false));
}

TEST_CASE("getter: a try gives what is there, and never waits", "[download]") {
  get_fixture w;
  getter items(w.context, {.bucket = "bucket"}, w.put_many(3, 1'000));
  get_fixture::batch all;
  CHECK(items.try_next_batch(9, all).value() == taken::nothing);
  CHECK(all.empty());
  w.clock.run();
  CHECK(items.try_next_batch(2, all).value() == taken::some);
  CHECK(all.size() == 2);
  CHECK(items.try_next_batch(9, all).value() == taken::some);
  REQUIRE(all.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(same(all[i].bytes, body_of(1'000, i)));
  w.clock.run();
  CHECK(items.try_next_batch(9, all).value() == taken::ended);
  CHECK(items.try_next_batch(9, all).value() == taken::ended);
  CHECK(all.size() == 3);
}

TEST_CASE("getter: one queue tells of many streams and operations", "[download]") {
  get_fixture w;
  completion_queue queue;
  constexpr std::size_t streams = 5;
  constexpr std::size_t each = 200;
  const auto requests = w.put_many(each, 2'000);
  std::vector<getter> all;
  for (std::size_t s = 0; s < streams; ++s) {
    all.emplace_back(w.context, dataflux::get_many_request{.bucket = "bucket"}, requests);
    all.back().notify(queue, s);
  }
  std::vector<std::byte> memory(2'000);
  auto one = dataflux::submit_get_one(w.context, {.bucket = "bucket", .object = "7"}, memory);
  one.notify(queue, streams);
  std::vector<std::size_t> seen(streams);
  std::size_t open = streams + 1;
  std::array<dataflux::completion_event, 3> events;
  while (open > 0) {
    std::size_t count = 0;
    while ((count = queue.next(events, 0s)) == 0) REQUIRE(w.clock.run_one());
    for (std::size_t e = 0; e < count; ++e) {
      CHECK(events[e].code == errc::ok);
      const auto tag = static_cast<std::size_t>(events[e].tag);
      if (tag == streams) {
        CHECK(one.poll());
        --open;
        continue;
      }
      get_fixture::batch items;
      const taken what = all[tag].try_next_batch(16, items).value();
      CHECK(what != taken::nothing);  // what was told is there
      for (const got_item& item : items) CHECK(item.index == seen[tag]++);
      w.check();
      if (what == taken::ended) {
        --open;
      } else {
        all[tag].notify(queue, tag);
      }
    }
  }
  CHECK(seen == std::vector<std::size_t>(streams, each));
  CHECK(queue.next(events, 0s) == 0);
}

TEST_CASE("getter: what nobody takes stays below the cap, whatever a queue was told",
          "[download]") {
  get_fixture w({.memory_cap = 1U << 20U});
  completion_queue queue;
  std::array<dataflux::completion_event, 4> events;
  getter items(w.context, {.bucket = "bucket"}, w.put_many(100, 100'000));
  items.notify(queue, 3);
  w.clock.run();
  CHECK(w.context.counters().peak_held <= 1U << 20U);
  CHECK(w.reads() < 20);
  REQUIRE(queue.next(events, 0s) == 1);
  CHECK(events[0].tag == 3);
  items.notify(queue, 4);  // there is something
  REQUIRE(queue.next(events, 0s) == 1);
  CHECK(events[0].tag == 4);
}

TEST_CASE("getter: a queue hears of an error and of a cancel, once each", "[download]") {
  get_fixture w;
  completion_queue queue;
  std::array<dataflux::completion_event, 4> events;
  auto requests = w.put_many(1, 10);
  requests[0].object = "missing";
  requests[0].object_size.reset();
  getter fails(w.context, {.bucket = "bucket", .on_error = get_on_error::stop}, requests);
  fails.notify(queue, 1);
  w.clock.run();
  REQUIRE(queue.next(events, 0s) == 1);
  get_fixture::batch none;
  CHECK(fails.try_next_batch(1, none).error().code() == errc::not_found);

  getter stopped(w.context, {.bucket = "bucket"}, w.put_many(5, 10));
  stopped.notify(queue, 2);
  stopped.cancel();
  w.clock.run();
  REQUIRE(queue.next(events, 0s) == 1);
  CHECK(events[0].tag == 2);
  CHECK(stopped.try_next_batch(1, none).error().code() == errc::cancelled);
  CHECK(none.empty());
}

TEST_CASE("getter: a getter that is gone tells no queue", "[download]") {
  get_fixture w;
  std::array<dataflux::completion_event, 4> events;
  completion_queue queue;
  // On the strand, where a getter does not wait for its end.
  w.clock.post([&] {
    getter items(w.context, {.bucket = "bucket"}, w.put_many(5, 10));
    items.notify(queue, 1);
  });
  w.clock.run();
  CHECK(queue.next(events, 0s) == 0);
}

TEST_CASE("getter: rows of a listing by their numbers, in any order", "[download]") {
  get_fixture w;
  w.put_many(300, 500);
  const auto listed =
      w.end(w.store.submit(dataflux::list_page_request{.bucket = "bucket"})).value();
  std::vector<std::uint64_t> drawn;
  for (std::uint64_t i = 0; i < 300; ++i) drawn.push_back(i * 7 % 300);
  drawn.push_back(5);  // once more
  getter items(w.context, {.bucket = "bucket"}, listed.objects.slice(0, 300), drawn);
  std::size_t n = 0;
  CHECK_FALSE(w.read_all(items, 20, [&](const got_item& item) {
    REQUIRE_FALSE(item.failure);
    const auto row = listed.objects[static_cast<std::size_t>(drawn[n])];
    CHECK(item.index == n++);
    CHECK(item.object == row.name);
    CHECK(item.generation == row.generation);
    CHECK(item.verified);
    CHECK(same(item.bytes, body_of(500, std::stoul(item.object.str()))));
  }));
  CHECK(n == drawn.size());
}

TEST_CASE("getter: a row that a listing has not fails in its place, unasked", "[download]") {
  get_fixture w;
  w.put_many(3, 500);
  const auto listed =
      w.end(w.store.submit(dataflux::list_page_request{.bucket = "bucket"})).value();
  w.store.reset_counters();
  getter items(w.context, {.bucket = "bucket"}, listed.objects.slice(0, 3),
               {0, 3, 2, std::numeric_limits<std::uint64_t>::max()});
  std::vector<bool> good;
  CHECK_FALSE(w.read_all(items, 9, [&](const got_item& item) {
    good.push_back(!item.failure);
    if (item.failure) {
      CHECK(item.failure->code() == errc::out_of_range);
      CHECK(item.failure->message().find("of a listing of 3") != std::string::npos);
    }
  }));
  CHECK(good == std::vector<bool>{true, false, true, false});
  CHECK(w.reads() == 2);
}

TEST_CASE("getter: a stream waits for its feed, and ends with it", "[download]") {
  get_fixture w;
  auto requests = w.put_many(30, 500);
  dataflux::get_feed feed;
  getter items(w.context, {.bucket = "bucket"}, feed);
  get_fixture::batch got;
  w.clock.run();
  CHECK(items.try_next_batch(100, got).value() == taken::nothing);
  const std::span all(requests);
  CHECK(feed.push(all.first(10)) == 10);
  w.clock.run();
  CHECK(items.try_next_batch(100, got).value() == taken::some);
  CHECK(got.size() == 10);
  CHECK(items.try_next_batch(100, got).value() == taken::nothing);
  completion_queue queue;
  std::array<dataflux::completion_event, 2> events;
  items.notify(queue, 1);
  w.clock.run();
  CHECK(queue.next(events, 0s) == 0);
  CHECK(feed.push(all.subspan(10)) == 20);
  feed.finish();
  w.clock.run();
  CHECK(queue.next(events, 0s) == 1);
  CHECK(items.try_next_batch(100, got).value() == taken::some);
  w.clock.run();
  CHECK(items.try_next_batch(100, got).value() == taken::ended);
  REQUIRE(got.size() == 30);
  for (std::size_t i = 0; i < 30; ++i) {
    CHECK(got[i].index == i);
    CHECK(same(got[i].bytes, body_of(500, i)));
  }
  CHECK(feed.push(all.first(1)) == 0);
}

TEST_CASE("getter: what was pushed before the getter is made is read, too", "[download]") {
  get_fixture w;
  auto requests = w.put_many(3, 500);
  dataflux::get_feed feed;
  CHECK(feed.push(requests) == 3);
  feed.finish();
  getter items(w.context, {.bucket = "bucket"}, feed);
  std::size_t n = 0;
  CHECK_FALSE(w.read_all(items, 9, [&](const got_item& item) {
    CHECK_FALSE(item.failure);
    ++n;
  }));
  CHECK(n == 3);
}

TEST_CASE("getter: a feed is bounded, and has room again when items were taken", "[download]") {
  get_fixture w({.memory_cap = 1U << 20U});
  auto requests = w.put_many(100, 100'000);
  dataflux::get_feed feed(5);
  getter items(w.context, {.bucket = "bucket"}, feed);
  std::span<get_request> rest(requests);
  std::size_t got = 0;
  std::size_t refusals = 0;
  while (got < 100) {
    const std::size_t taken_now = feed.push(rest);
    CHECK(taken_now <= 5);
    if (taken_now < rest.size()) ++refusals;
    rest = rest.subspan(taken_now);
    if (rest.empty()) feed.finish();
    w.clock.run();
    get_fixture::batch some;
    if (items.try_next_batch(3, some).value() != taken::some) continue;
    for (const got_item& item : some) {
      CHECK(item.index == got);
      CHECK(same(item.bytes, body_of(100'000, got++)));
    }
    w.check();
  }
  CHECK(refusals > 10);
  w.clock.run();
  get_fixture::batch none;
  CHECK(items.try_next_batch(3, none).value() == taken::ended);
}

TEST_CASE("getter: a feed of rows, and of ranges that come one by one", "[download]") {
  get_fixture w;
  w.put_many(50, 400);
  const auto listed =
      w.end(w.store.submit(dataflux::list_page_request{.bucket = "bucket"})).value();
  {
    dataflux::get_feed feed(listed.objects.slice(0, 50));
    getter items(w.context, {.bucket = "bucket"}, feed);
    const std::array<std::uint64_t, 3> rows{7, 50, 0};
    CHECK(feed.push_rows(rows) == 3);
    feed.finish();
    std::vector<std::string> names;
    CHECK_FALSE(w.read_all(items, 9, [&](const got_item& item) {
      names.push_back(item.failure ? "?" : item.object.str());
    }));
    CHECK(names == std::vector<std::string>{std::string(listed.objects[7].name), "?",
                                            std::string(listed.objects[0].name)});
  }
  {
    // Ranges of one object are gathered as far as they are there, and nothing waits for more.
    dataflux::get_feed feed;
    getter items(w.context, {.bucket = "bucket"}, feed);
    get_fixture::batch got;
    for (std::uint64_t i = 0; i < 8; ++i) {
      std::array<get_request, 1> one{
          get_request{.object = "3", .range = byte_range::span(i * 50, 50), .object_size = 400}};
      CHECK(feed.push(one) == 1);
      w.clock.run();
      CHECK(items.try_next_batch(9, got).value() == taken::some);
      REQUIRE(got.size() == i + 1);
      CHECK_FALSE(got.back().failure);
    }
  }
}

TEST_CASE("getter: a feed whose stream was cancelled takes nothing", "[download]") {
  get_fixture w;
  auto requests = w.put_many(4, 500);
  dataflux::get_feed feed;
  {
    getter items(w.context, {.bucket = "bucket"}, feed);
    CHECK(feed.push(std::span(requests).first(2)) == 2);
    items.cancel();
    w.clock.run();
    get_fixture::batch none;
    CHECK(items.try_next_batch(9, none).error().code() == errc::cancelled);
    CHECK(feed.push(std::span(requests).subspan(2)) == 0);
  }
  w.at_rest();
}

}  // namespace getter_test
