#include <dataflux/download/batch_getter.hpp>

#include "get_fixture.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>

namespace batch_getter_test {

using namespace std::chrono_literals;
using dataflux::batch_getter;
using dataflux::batch_memory;
using dataflux::byte_range;
using dataflux::bytes_span;
using dataflux::bytes_view;
using dataflux::completion_event;
using dataflux::completion_queue;
using dataflux::errc;
using dataflux::error;
using dataflux::get_many_request;
using dataflux::get_on_error;
using dataflux::get_order;
using dataflux::get_request;
using dataflux::got_batch;
using dataflux::injected_fault;
using dataflux::object_columns;
using dataflux::result;
using dataflux::store_verb;
using dataflux::taken;

namespace {

constexpr std::byte untouched{0xA5};

std::vector<std::byte> fresh(std::size_t size) { return std::vector<std::byte>(size, untouched); }

/// The named object is late, or fails, as often as it is asked for.
dataflux::fault_script only(std::string name, injected_fault fault) {
  return [name = std::move(name), fault = std::move(fault)](
             store_verb, std::string_view object, std::uint64_t) -> std::optional<injected_fault> {
    if (object != name) return std::nullopt;
    return fault;
  };
}

struct batch_fixture : get_fixture {
  using get_fixture::get_fixture;

  /// Objects "0", "1", ... as a listing; the seed of each is its number.
  object_columns list(std::size_t count, std::size_t size) {
    object_columns rows;
    for (const get_request& r : put_many(count, size)) {
      rows.append(r.object, *r.object_size, r.generation, r.crc32c);
    }
    return rows;
  }
  result<std::optional<got_batch>> next(batch_getter& from) {
    std::optional<got_batch> got;
    for (;;) {
      const auto what = from.try_next(got);
      if (!what) return what.error();
      if (*what != taken::nothing) return got;
      REQUIRE(clock.run_one());
      check();
    }
  }
  got_batch next_of(batch_getter& from) {
    auto got = next(from).value();
    REQUIRE(got);
    return *std::move(got);
  }
};

std::vector<std::uint64_t> numbers(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> rows(count);
  std::iota(rows.begin(), rows.end(), first);
  return rows;
}

bytes_view row_of(const std::vector<std::byte>& memory, std::size_t begin, std::size_t size) {
  return bytes_view(memory).subspan(begin, size);
}

}  // namespace

TEST_CASE("batch_getter: batches of one size, in the order of the pushes", "[download]") {
  batch_fixture w({}, {.rtt = 20ms, .jitter = 1});
  batch_getter batches(w.context, {.bucket = "bucket"}, w.list(400, 3'000));
  std::vector<std::vector<std::byte>> memory;
  for (std::size_t b = 0; b < 10; ++b) {
    memory.push_back(fresh(40 * 3'000));
    std::vector<std::uint64_t> sizes(40);
    const auto rows = numbers(b * 40, 40);
    CHECK(batches.push_rows(rows, {.memory = memory.back(), .sizes = sizes}).value() == b);
    CHECK(sizes == std::vector<std::uint64_t>(40, 3'000));
  }
  batches.finish();
  for (std::size_t b = 0; b < 10; ++b) {
    const got_batch batch = w.next_of(batches);
    CHECK(batch.number == b);
    CHECK(batch.memory.data() == memory[b].data());
    CHECK(batch.rows == 40);
    CHECK(batch.bytes == 40 * 3'000);
    CHECK(batch.verified);
    CHECK(batch.failures.empty());
    for (std::size_t i = 0; i < 40; ++i) {
      CHECK(same(row_of(memory[b], i * 3'000, 3'000), body_of(3'000, b * 40 + i)));
    }
  }
  CHECK_FALSE(w.next(batches).value());
  CHECK_FALSE(w.next(batches).value());
  CHECK(w.reads() == 400);
  CHECK(w.store.counters().peak_in_flight > 100);  // across the batches
  w.at_rest();
}

TEST_CASE("batch_getter: padded and packed rows leave the rest of the memory alone", "[download]") {
  batch_fixture w;
  const std::array<std::size_t, 5> sizes{10, 0, 300, 1, 299};
  object_columns rows;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const get_request r = w.put(std::to_string(i), sizes[i], i);
    rows.append(r.object, *r.object_size, r.generation, r.crc32c);
  }
  batch_getter batches(w.context, {.bucket = "bucket"}, std::move(rows));
  std::vector<std::uint64_t> offsets;
  auto memory = fresh(0);
  std::vector<std::uint64_t> told(5, 77);
  batch_memory where{.sizes = told};
  SECTION("padded") {
    memory = fresh(5 * 300);
    offsets = {0, 300, 600, 900, 1'200};
    where.stride = GENERATE(0U, 300U);
  }
  SECTION("packed") {
    memory = fresh(610);
    offsets = {0, 10, 10, 310, 311};
    where.offsets = offsets;
  }
  SECTION("with gaps") {
    memory = fresh(2'000);
    offsets = {5, 20, 20, 1'000, 1'500};
    where.offsets = offsets;
  }
  where.memory = memory;
  REQUIRE(batches.push_rows(numbers(0, 5), where));
  const got_batch batch = w.next_of(batches);
  CHECK(batch.failures.empty());
  CHECK(batch.bytes == 610);
  auto right = fresh(memory.size());
  for (std::size_t i = 0; i < 5; ++i) {
    const auto body = body_of(sizes[i], i);
    std::copy(body.begin(), body.end(), right.begin() + static_cast<std::ptrdiff_t>(offsets[i]));
    CHECK(told[i] == sizes[i]);
  }
  CHECK(same(memory, right));
  CHECK(w.reads() == 4);  // of the empty one nothing is asked
}

TEST_CASE("batch_getter: a failed row is told in its place, and the others go on", "[download]") {
  batch_fixture w;
  auto requests = w.put_many(20, 100);
  object_columns rows;
  requests[3].generation += 1'000;
  requests[5].object_size = 101;  // has no room, and is not asked for
  requests[7].object_size = 99;   // not the object's size
  requests[9].crc32c = *requests[9].crc32c ^ 1;
  for (const get_request& r : requests) {
    rows.append(r.object, *r.object_size, r.generation, r.crc32c);
  }
  auto memory = fresh(22 * 100);
  auto order = numbers(0, 22);
  order[21] = 0;
  const std::map<std::size_t, errc> wanted{{3, errc::not_found},
                                           {5, errc::out_of_range},
                                           {7, errc::out_of_range},
                                           {9, errc::data_loss},
                                           {20, errc::out_of_range}};
  batch_getter batches(w.context, {.bucket = "bucket"}, std::move(rows));
  std::vector<std::uint64_t> sizes(22);
  REQUIRE(batches.push_rows(order, {.memory = memory, .sizes = sizes}));
  const got_batch batch = w.next_of(batches);
  REQUIRE(batch.failures.size() == wanted.size());
  for (const dataflux::failed_row& failed : batch.failures) {
    INFO(failed.row << ": " << failed.why.to_string());
    REQUIRE(wanted.contains(failed.row));
    CHECK(failed.why.code() == wanted.at(failed.row));
    CHECK(failed.why.bucket() == "bucket");
    if (failed.row < 20) CHECK(failed.why.object() == std::to_string(failed.row));
  }
  CHECK(batch.bytes == 17 * 100);
  CHECK(batch.verified);
  CHECK(sizes[5] == 0);
  CHECK(sizes[20] == 0);
  CHECK(sizes[7] == 99);
  for (std::size_t i = 0; i < 22; ++i) {
    if (!wanted.contains(i)) CHECK(same(row_of(memory, i * 100, 100), body_of(100, order[i])));
  }
  CHECK(same(row_of(memory, 500, 100), fresh(100)));
  w.at_rest();
}

TEST_CASE("batch_getter: an object that is not of the size that was promised", "[download]") {
  batch_fixture w;
  const std::uint64_t promised = GENERATE(100U, 10U, 0U);
  get_request r = w.put("a", 50, 1);
  r.object_size = promised;
  r.crc32c.reset();
  auto memory = fresh(300);
  batch_getter batches(w.context, {.bucket = "bucket"});
  std::array<get_request, 1> requests{r};
  REQUIRE(batches.push(requests, {.memory = bytes_span(memory).subspan(100, 100)}));
  const got_batch batch = w.next_of(batches);
  if (promised == 0) {
    CHECK(batch.failures.empty());  // of nothing nothing is asked
  } else {
    REQUIRE(batch.failures.size() == 1);
    CHECK(batch.failures[0].why.code() == errc::out_of_range);
  }
  CHECK(same(row_of(memory, 0, 100), fresh(100)));
  CHECK(same(row_of(memory, 100 + promised, 200 - promised), fresh(200 - promised)));
}

TEST_CASE("batch_getter: a late row holds up its batch and, in order, those behind it",
          "[download]") {
  batch_fixture w;
  const bool ordered = GENERATE(true, false);
  batch_getter batches(
      w.context, {.bucket = "bucket", .order = ordered ? get_order::as_asked : get_order::as_ready},
      w.list(90, 100));
  w.store.set_faults(only("5", {.delay = 3s}));
  std::vector<std::vector<std::byte>> memory;
  for (std::size_t b = 0; b < 3; ++b) {
    memory.push_back(fresh(3'000));
    REQUIRE(batches.push_rows(numbers(b * 30, 30), {.memory = memory[b]}));
  }
  const auto began = w.clock.now();
  std::vector<std::uint64_t> seen;
  std::size_t early = 0;
  for (int b = 0; b < 3; ++b) {
    seen.push_back(w.next_of(batches).number);
    if (w.clock.now() - began < 1s) ++early;
  }
  CHECK(seen ==
        (ordered ? std::vector<std::uint64_t>{0, 1, 2} : std::vector<std::uint64_t>{1, 2, 0}));
  CHECK(early == (ordered ? 0 : 2));
}

TEST_CASE("batch_getter: a consumer is told once for a batch", "[download]") {
  batch_fixture w({}, {.rtt = 20ms, .jitter = 1});
  batch_getter batches(w.context, {.bucket = "bucket"}, w.list(200, 1'000));
  completion_queue queue;
  std::array<completion_event, 8> events{};
  auto memory = fresh(200 * 1'000);
  batches.notify(queue, 4);
  for (std::size_t b = 0; b < 2; ++b) {
    REQUIRE(batches.push_rows(numbers(b * 100, 100),
                              {.memory = bytes_span(memory).subspan(b * 100'000, 100'000)}));
  }
  batches.finish();
  std::optional<got_batch> batch;
  std::size_t told = 0;
  std::size_t got = 0;
  for (bool ended = false; !ended;) {
    if (queue.next(events, {}) == 0) {
      REQUIRE(w.clock.run_one());
      continue;
    }
    CHECK(events[0].tag == 4);
    ++told;
    auto what = batches.try_next(batch).value();
    for (; what == taken::some; what = batches.try_next(batch).value()) ++got;
    ended = what == taken::ended;
    if (!ended) batches.notify(queue, 4);
  }
  CHECK(got == 2);
  CHECK(told <= 3);
  batches.notify(queue, 5);  // at once
  CHECK(queue.next(events, {}) == 1);
}

TEST_CASE("batch_getter: pushes while it reads, and what cannot be pushed", "[download]") {
  batch_fixture w;
  batch_getter batches(w.context, {.bucket = "bucket"}, w.list(20, 100));
  auto memory = fresh(1'000);
  const auto refused = [&](const batch_memory& where, std::string_view text) {
    const auto pushed = batches.push_rows(numbers(0, 4), where);
    REQUIRE_FALSE(pushed);
    INFO(pushed.error().message());
    CHECK(pushed.error().code() == errc::invalid_argument);
    CHECK(pushed.error().message().find(text) != std::string::npos);
  };
  std::vector<std::uint64_t> offsets{0, 100, 50, 200};
  std::vector<std::uint64_t> sizes(3);
  refused({.memory = memory, .offsets = offsets}, "descend at row 2");
  offsets = {0, 100, 200, 1'001};
  refused({.memory = memory, .offsets = offsets}, "row 3 begins at 1001 of 1000");
  offsets = {0, 100};
  refused({.memory = memory, .offsets = offsets}, "2 offsets for 4 rows");
  refused({.memory = memory, .stride = 334}, "334 bytes apart");
  refused({.memory = memory, .stride = UINT64_MAX}, "bytes apart");
  refused({.memory = memory, .sizes = sizes}, "3 sizes for 4 rows");
  for (std::uint64_t b = 0; b < 4; ++b) {
    CHECK(batches.push_rows(numbers(b * 5, 5), {.memory = memory}).value() == b);
    CHECK(w.next_of(batches).number == b);
    CHECK(same(row_of(memory, 200, 100), body_of(100, b * 5 + 1)));
  }
  CHECK(batches.push_rows({}, {}).value() == 4);
  CHECK(w.next_of(batches).rows == 0);
  // No room at all: nothing is asked for, and nothing is written.
  const auto reads = w.reads();
  CHECK(batches.push_rows(numbers(0, 2), {}).value() == 5);
  CHECK(w.next_of(batches).failures.size() == 2);
  CHECK(w.reads() == reads);
  batches.finish();
  CHECK_FALSE(w.next(batches).value());
  CHECK(batches.push_rows(numbers(0, 1), {.memory = memory}).error().code() ==
        errc::failed_precondition);
}

TEST_CASE("batch_getter: the first failed row ends it where that is asked for", "[download]") {
  batch_fixture w;
  batch_getter batches(w.context, {.bucket = "bucket", .on_error = get_on_error::stop},
                       w.list(30, 100));
  w.store.set_faults(
      [](store_verb, std::string_view object, std::uint64_t) -> std::optional<injected_fault> {
        if (object != "15") return std::nullopt;
        return injected_fault{.failure = error(errc::permission_denied, "no"), .delay = 1s};
      });
  auto memory = fresh(3'000);
  for (std::size_t b = 0; b < 3; ++b) {
    REQUIRE(batches.push_rows(numbers(b * 10, 10),
                              {.memory = bytes_span(memory).subspan(b * 1'000, 1'000)}));
  }
  CHECK(w.next_of(batches).number == 0);
  for (int again = 0; again < 2; ++again) {
    const auto failed = w.next(batches);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code() == errc::permission_denied);
    CHECK(failed.error().object() == "15");
  }
  CHECK(batches.push_rows(numbers(0, 1), {.memory = memory}).error().code() ==
        errc::permission_denied);
}

TEST_CASE("batch_getter: cancelled, late, or dropped in the midst", "[download]") {
  batch_fixture w;
  const auto rows = w.list(500, 1'000);
  const auto all = [&] { return rows.slice(0, rows.size()); };
  auto memory = fresh(500 * 1'000);
  SECTION("cancel") {
    batch_getter batches(w.context, {.bucket = "bucket"}, all());
    REQUIRE(batches.push_rows(numbers(0, 10), {.memory = memory}));
    w.clock.run();
    batches.cancel();
    REQUIRE(batches.push_rows(numbers(0, 500), {.memory = memory}));
    w.clock.run();
    for (int again = 0; again < 2; ++again) {
      CHECK(w.next(batches).error().code() == errc::cancelled);
    }
  }
  SECTION("the caller's stop token") {
    std::stop_source stop;
    batch_getter batches(w.context, {.bucket = "bucket", .limits = {.stop = stop.get_token()}},
                         all());
    REQUIRE(batches.push_rows(numbers(0, 500), {.memory = memory}));
    for (int i = 0; i < 40; ++i) w.clock.run_one();
    stop.request_stop();
    CHECK(w.next(batches).error().code() == errc::cancelled);
  }
  SECTION("time limit") {
    w.store.set_faults(only("300", {.delay = 60s}));
    batch_getter batches(w.context, {.bucket = "bucket", .limits = {.timeout = 2s}}, all());
    for (std::size_t b = 0; b < 2; ++b) {
      REQUIRE(batches.push_rows(numbers(b * 250, 250),
                                {.memory = bytes_span(memory).subspan(b * 250'000, 250'000)}));
    }
    CHECK(w.next_of(batches).number == 0);
    const auto failed = w.next(batches);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code() == errc::deadline_exceeded);
    CHECK(failed.error().object() == "300");
  }
  SECTION("dropped at any moment: nothing is written after that") {
    for (std::size_t steps = 0; steps < 600; steps += 23) {
      std::fill(memory.begin(), memory.end(), untouched);
      {
        batch_getter batches(w.context, {.bucket = "bucket"}, all());
        REQUIRE(batches.push_rows(numbers(0, 500), {.memory = memory}));
        for (std::size_t i = 0; i < steps && w.clock.run_one(); ++i) {
        }
        batches = batch_getter(w.context, {.bucket = "bucket"});
        w.clock.run();
      }
      const auto then = memory;
      w.at_rest();
      CHECK(same(memory, then));
    }
  }
  w.at_rest();
}

TEST_CASE("batch_getter: ranges of one object, each with a checksum, by few requests",
          "[download]") {
  batch_fixture w;
  const get_request shard = w.put("shard", 50'000, 1);
  const auto body = body_of(50'000, 1);
  std::vector<get_request> requests;
  for (std::uint64_t i = 0; i < 50; ++i) {
    get_request r;
    r.object = "shard";
    r.generation = shard.generation;
    r.range = byte_range::span(i * 1'000, 900);
    r.range_crc32c = dataflux::crc32c(bytes_view(body).subspan(i * 1'000, 900));
    requests.push_back(r);
  }
  requests[7].range_crc32c = 7;
  requests[8].range = byte_range::from(8'000);  // its size is not known
  requests[9].range = byte_range::span(0, 0);
  requests[10].object_size = 50'000;
  requests[10].range = byte_range::from(49'500);
  requests[10].range_crc32c.reset();
  auto memory = fresh(50 * 1'000);
  batch_getter batches(w.context, {.bucket = "bucket"});
  std::vector<std::uint64_t> sizes(50);
  REQUIRE(batches.push(requests, {.memory = memory, .sizes = sizes}));
  const got_batch batch = w.next_of(batches);
  CHECK(w.reads() <= 8);
  CHECK_FALSE(batch.verified);  // row 10 was not compared
  std::map<std::size_t, errc> failed;
  for (const auto& f : batch.failures) failed.emplace(f.row, f.why.code());
  CHECK(failed == std::map<std::size_t, errc>{{7, errc::data_loss},
                                              {8, errc::invalid_argument},
                                              {9, errc::invalid_argument}});
  CHECK(sizes[0] == 900);
  CHECK(sizes[8] == 0);
  CHECK(sizes[10] == 500);
  for (std::size_t i = 11; i < 50; ++i) {
    CHECK(same(row_of(memory, i * 1'000, 900), row_of(body, i * 1'000, 900)));
    CHECK(same(row_of(memory, i * 1'000 + 900, 100), fresh(100)));
  }
  CHECK(same(row_of(memory, 10'000, 500), row_of(body, 49'500, 500)));
}

TEST_CASE("batch_getter: more than the cap, bodies longer than a slice, and composites",
          "[download]") {
  SECTION("a batch is not under the cap") {
    batch_fixture w({.memory_cap = 100'000, .slice = 4'000});
    batch_getter batches(w.context, {.bucket = "bucket"}, w.list(30, 20'000));
    auto memory = fresh(30 * 20'000);
    REQUIRE(batches.push_rows(numbers(0, 30), {.memory = memory}));
    CHECK(w.next_of(batches).bytes == 600'000);
    for (std::size_t i = 0; i < 30; ++i) {
      CHECK(same(row_of(memory, i * 20'000, 20'000), body_of(20'000, i)));
    }
    CHECK(w.context.counters().peak_held == 0);
  }
  SECTION("composed by the service, and cut into the rows") {
    batch_fixture w;
    get_many_request how{.bucket = "bucket"};
    how.compose = dataflux::compose_options{.min_objects = 2};
    batch_getter batches(w.context, std::move(how), w.list(64, 1'000));
    auto memory = fresh(64 * 1'000);
    REQUIRE(batches.push_rows(numbers(0, 64), {.memory = memory}));
    batches.finish();
    const got_batch batch = w.next_of(batches);
    CHECK(batch.verified);
    CHECK(w.store.counters().of(store_verb::compose) > 0);
    for (std::size_t i = 0; i < 64; ++i) {
      CHECK(same(row_of(memory, i * 1'000, 1'000), body_of(1'000, i)));
    }
    CHECK_FALSE(w.next(batches).value());
    w.at_rest();
  }
}

TEST_CASE("batch_getter: two streams of one context, and a getter beside them", "[download]") {
  batch_fixture w({.memory_cap = 200'000});
  const auto rows = w.list(300, 1'000);
  batch_getter one(w.context, {.bucket = "bucket"}, rows.slice(0, 300));
  batch_getter two(w.context, {.bucket = "bucket"}, rows.slice(0, 300));
  dataflux::getter items(w.context, {.bucket = "bucket"}, rows.slice(0, 300));
  auto memory = fresh(2 * 300'000);
  const auto half = bytes_span(memory).subspan(300'000);
  REQUIRE(one.push_rows(numbers(0, 300), {.memory = bytes_span(memory).first(300'000)}));
  REQUIRE(two.push_rows(numbers(0, 300), {.memory = half}));
  std::size_t n = 0;
  CHECK_FALSE(w.read_all(items, 7, [&](const dataflux::got_item&) { ++n; }));
  CHECK(n == 300);
  CHECK(w.next_of(two).bytes == 300'000);
  CHECK(w.next_of(one).bytes == 300'000);
  CHECK(same(bytes_view(memory).first(300'000), half));
}

}  // namespace batch_getter_test
