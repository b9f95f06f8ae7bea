#include "get_fixture.hpp"

#include <algorithm>
#include <random>

namespace get_group_test {

using namespace std::chrono_literals;
using dataflux::byte_range;
using dataflux::errc;
using dataflux::get_order;
using dataflux::get_request;
using dataflux::getter;
using dataflux::got_item;
using dataflux::injected_fault;
using dataflux::store_verb;

TEST_CASE("getter: neighbouring pieces of an object are one request", "[download]") {
  get_fixture w;
  const auto whole = body_of(100'000, 1);
  get_request o = w.put("o", 100'000, 1);
  std::vector<get_request> requests(100, o);
  for (std::size_t i = 0; i < 100; ++i) requests[i].range = byte_range::span(i * 1'000, 1'000);
  const bool all = GENERATE(true, false);
  if (!all) requests.pop_back();
  getter items(w.context, {.bucket = "bucket"}, requests);
  std::uint64_t n = 0;
  CHECK_FALSE(w.read_all(items, 7, [&](const got_item& item) {
    REQUIRE_FALSE(item.failure);
    CHECK(item.index == n);
    CHECK(item.generation == o.generation);
    CHECK(item.crc32c == dataflux::crc32c(item.bytes));
    CHECK(same(item.bytes, std::span(whole).subspan(n * 1'000, 1'000)));
    CHECK(item.verified == all);
    ++n;
  }));
  CHECK(n == requests.size());
  CHECK(w.reads() == 1);
  w.at_rest();
}

TEST_CASE("getter: any pieces in any order give the right bytes", "[download]") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    INFO(seed);
    std::mt19937 dice(seed);
    get_fixture w({.memory_cap = 200'000, .slice = 5'000},
                  {.rtt = 20ms, .jitter = 1, .seed = seed});
    std::vector<std::vector<std::byte>> bodies;
    std::vector<get_request> objects;
    for (std::size_t i = 0; i < 3; ++i) {
      bodies.push_back(body_of(20'000 * (i + 1), seed + i));
      objects.push_back(w.put(std::to_string(i), bodies[i].size(), seed + i));
    }
    struct wanted {
      std::size_t object, offset, length;
      std::vector<std::byte> memory{};
    };
    std::vector<wanted> pieces;
    for (std::size_t i = 0, object = 0; i < 150; ++i) {
      if (dice() % 8 == 0) object = dice() % 3;
      const std::size_t size = bodies[object].size();
      const std::size_t offset = dice() % size;
      const std::size_t length =
          1 + dice() % std::min<std::size_t>(dice() % 20 == 0 ? 12'000 : 900, size - offset);
      pieces.push_back({object, offset, length});
      if (dice() % 3 == 0) pieces.back().memory.resize(length);
    }
    std::vector<get_request> requests;
    for (wanted& p : pieces) {
      requests.push_back(objects[p.object]);
      requests.back().range = byte_range::span(p.offset, p.length);
      requests.back().into = p.memory;
      if (seed % 3 == 0) requests.back().object_size.reset();
      if (seed % 4 == 0) requests.back().generation = 0;
    }
    std::vector<bool> seen(pieces.size());
    getter items(
        w.context,
        {.bucket = "bucket", .order = seed % 2 == 0 ? get_order::as_asked : get_order::as_ready},
        requests);
    CHECK_FALSE(w.read_all(items, 1 + dice() % 9, [&](const got_item& item) {
      REQUIRE_FALSE(item.failure);
      const wanted& p = pieces[item.index];
      CHECK(same(item.bytes, std::span(bodies[p.object]).subspan(p.offset, p.length)));
      CHECK(item.crc32c == dataflux::crc32c(item.bytes));
      if (!p.memory.empty()) CHECK(item.bytes.data() == p.memory.data());
      seen[item.index] = true;
    }));
    CHECK(std::count(seen.begin(), seen.end(), true) == 150);
    CHECK(w.reads() < 150);
    w.at_rest();
  }
}

TEST_CASE("getter: a request that fails takes its pieces along and no others", "[download]") {
  get_fixture w({.slice = 2'000});
  const auto whole = body_of(4'000'000, 1);
  get_request o = w.put("o", whole.size(), 1);
  o.object_size.reset();
  std::vector<get_request> requests(4, o);
  requests[0].range = byte_range::span(100, 10);
  requests[1].range = byte_range::span(3'999'990, 100);  // ends with the object
  requests[2].range = byte_range::span(200, 10);
  requests[3].range = byte_range::span(5'000'000, 10);  // begins behind it
  getter items(w.context, {.bucket = "bucket"}, requests);
  const auto got = w.next(items, 4).value();
  REQUIRE(got.size() == 4);
  CHECK(same(got[0].bytes, std::span(whole).subspan(100, 10)));
  CHECK(same(got[1].bytes, std::span(whole).subspan(3'999'990, 10)));
  CHECK(same(got[2].bytes, std::span(whole).subspan(200, 10)));
  REQUIRE(got[3].failure);
  CHECK(got[3].failure->code() == errc::out_of_range);
  CHECK(got[3].failure->object() == "o");
  CHECK(w.reads() == 3);
}

TEST_CASE("getter: pieces that are read together are of one generation", "[download]") {
  get_fixture w({.slice = 1'000});
  get_request o = w.put("o", 3'000'000, 1);
  o.generation = 0;
  o.object_size.reset();
  std::vector<get_request> requests(2, o);
  requests[0].range = byte_range::span(0, 500);
  requests[1].range = byte_range::span(2'000'000, 500);
  // One request is late, and meets another generation.
  w.store.set_faults([](store_verb, std::string_view, std::uint64_t nth) {
    return nth == 1 ? std::optional(injected_fault{.delay = 100ms}) : std::nullopt;
  });
  getter items(w.context, {.bucket = "bucket"}, requests);
  auto op = items.submit_next_batch(2);
  w.clock.run_for(50ms);
  const std::int64_t newest = w.put("o", 3'000'000, 2).generation;
  w.clock.run();
  const auto got = op.take().value();
  const auto whole = body_of(3'000'000, 2);
  REQUIRE(got.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    REQUIRE_FALSE(got[i].failure);
    CHECK(got[i].generation == newest);
    CHECK(same(got[i].bytes, std::span(whole).subspan(i * 2'000'000, 500)));
  }
}

TEST_CASE("getter: damage is found where pieces cover the object", "[download]") {
  get_fixture w;
  get_request o = w.put("o", 10'000, 1);
  o.crc32c.reset();
  std::vector<get_request> requests(2, o);
  requests[0].range = byte_range::span(0, 5'000);
  requests[1].range = byte_range::from(5'000);
  w.store.set_faults([](store_verb, std::string_view, std::uint64_t) {
    return std::optional(injected_fault{.corrupt = true});
  });
  getter items(w.context, {.bucket = "bucket"}, requests);
  const auto got = w.next(items, 2).value();
  REQUIRE(got.size() == 2);
  for (const got_item& item : got) {
    REQUIRE(item.failure);
    CHECK(item.failure->code() == errc::data_loss);
  }
}

TEST_CASE("getter: ranges that differ from their checksums are read once more", "[download]") {
  get_fixture w({.slice = 30'000});
  const auto whole = body_of(200'000, 1);
  const get_request o = w.put("o", whole.size(), 1);
  const std::uint64_t bad = GENERATE(1U, 2U, 1'000U);  // so many replies have a flipped bit
  const std::uint64_t length = GENERATE(1'000U, 70'000U);
  const std::size_t count = GENERATE(std::size_t{1}, std::size_t{5});
  CAPTURE(bad, length, count);
  std::vector<std::byte> memory(length);
  std::vector<get_request> requests(count, o);
  for (std::size_t i = 0; i < count; ++i) {
    get_request& r = requests[i];
    r.range = byte_range::span(10 + i * 1'500, length);
    r.range_crc32c = dataflux::crc32c(std::span(whole).subspan(10 + i * 1'500, length));
  }
  requests[0].into = memory;
  w.store.set_faults([&](store_verb, std::string_view, std::uint64_t nth) {
    return nth <= bad ? std::optional(injected_fault{.corrupt = true, .corrupt_byte = 50})
                      : std::nullopt;
  });
  getter items(w.context, {.bucket = "bucket"}, requests);
  std::size_t failed = 0;
  std::size_t seen = 0;
  CHECK_FALSE(w.read_all(items, 8, [&](const got_item& item) {
    const std::size_t i = seen++;
    CHECK(item.index == i);
    if (item.failure) {
      ++failed;
      CHECK(item.failure->code() == errc::data_loss);
      CHECK(item.failure->object() == "o");
      const std::string range =
          std::to_string(10 + i * 1'500) + "-" + std::to_string(9 + i * 1'500 + length);
      CHECK(item.failure->message().find("bytes " + range + " do not have") == 0);
      CHECK(item.failure->message().find("read twice") != std::string::npos);
      return;
    }
    CHECK(item.verified);
    CHECK(same(item.bytes, std::span(whole).subspan(10 + i * 1'500, length)));
  }));
  CHECK(seen == count);
  if (bad == 1) CHECK(failed == 0);
  if (bad == 1'000) CHECK(failed > 0);
  if (bad == 1'000 && length > 30'000) CHECK(failed == count);
  w.at_rest();
}

TEST_CASE("getter: a revoked group is read as if for the first time (mend 5)", "[download]") {
  get_fixture w({.memory_cap = 1'100'000, .slice = 30'000, .concurrency = {.max = 8}});
  std::vector<get_request> requests;
  for (std::uint64_t i = 0; i < 30; ++i) {
    get_request o = w.put(std::to_string(i), 600'000, i);
    o.object_size.reset();
    o.crc32c.reset();
    o.generation = 0;
    for (const std::uint64_t offset : {0U, 300'000U, 595'000U}) {  // the last one ends with it
      requests.push_back(o);
      requests.back().range = byte_range::span(offset, 10'000);
    }
  }
  const auto large = w.put("large", 990'000, 999);
  // One request of three is refused.
  w.store.set_faults([](store_verb, std::string_view, std::uint64_t nth) {
    std::optional<injected_fault> fault;
    if (nth % 3 == 0) fault.emplace().failure = dataflux::error(errc::permission_denied, "no");
    return fault;
  });
  getter idle(w.context, {.bucket = "bucket"}, requests);
  w.clock.run();
  REQUIRE(w.context.counters().held > 500'000);
  w.store.set_faults({});
  getter busy(w.context, {.bucket = "bucket"}, std::vector{large});
  REQUIRE(w.next(busy).value().size() == 1);
  const std::uint64_t revoked = w.context.counters().revoked;
  REQUIRE(revoked > 0);
  // Those that are read again meet a longer object of another generation.
  for (std::uint64_t i = 0; i < 30; ++i) w.put(std::to_string(i), 605'000, i + 100);
  std::uint64_t n = 0;
  std::uint64_t anew = 0;
  CHECK_FALSE(w.read_all(idle, 9, [&](const got_item& item) {
    INFO(n);
    CHECK(item.index == n);
    const std::uint64_t object = n / 3;
    const bool last = n++ % 3 == 2;
    if (item.failure) {
      CHECK(item.failure->code() == errc::permission_denied);
      return;
    }
    const auto fresh = body_of(605'000, object + 100);
    const auto old = body_of(600'000, object);
    const std::size_t from = (last ? 595'000U : (n - 1) % 3 * 300'000U);
    if (same(item.bytes, std::span(fresh).subspan(from, 10'000))) {
      ++anew;
    } else {
      CHECK(same(item.bytes, std::span(old).subspan(from, last ? 5'000 : 10'000)));
    }
  }));
  CHECK(n == requests.size());
  CHECK(anew == 3 * revoked);
}

}  // namespace get_group_test
