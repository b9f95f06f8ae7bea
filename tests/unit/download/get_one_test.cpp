#include <dataflux/download/get_one.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "get_fixture.hpp"

namespace get_one_test {

namespace {

using namespace std::chrono_literals;
using dataflux::byte_range;
using dataflux::errc;
using dataflux::get_one_request;
using dataflux::store_verb;

struct one_fixture : get_fixture {
  one_fixture() : get_fixture({.slice = 10'000}) {}

  dataflux::result<dataflux::ranged_read_summary> get(get_one_request request, std::size_t size) {
    memory.assign(size, std::byte{0});
    request.bucket = "bucket";
    if (request.object.empty()) request.object = "o";
    auto op = dataflux::submit_get_one(context, std::move(request), memory);
    while (!op.poll()) REQUIRE(clock.run_one());
    return op.take();
  }
  std::vector<std::byte> memory{};
};

bool says(const dataflux::error& e, const std::string& a, const std::string& b) {
  return e.message().find(a) != std::string::npos && e.message().find(b) != std::string::npos;
}

}  // namespace

TEST_CASE("get_one: a whole object by ranges in parallel, checked", "[download]") {
  one_fixture w;
  const auto put = w.put("o", 95'001, 7);
  const auto before = w.clock.now();
  const auto got = w.get({}, 95'001);
  REQUIRE(got);
  CHECK(same(w.memory, body_of(95'001, 7)));
  CHECK(got->bytes == 95'001);
  CHECK(got->verified);
  CHECK(got->crc32c == *put.crc32c);
  CHECK(got->generation == put.generation);
  CHECK(w.reads() == 10);
  CHECK(w.clock.now() - before < 45ms);  // simulated: two round trips at most
  CHECK(w.context.counters().items == 1);
  CHECK(w.context.counters().bytes == 95'001);
  w.at_rest();
}

TEST_CASE("get_one: ranges of every kind", "[download]") {
  one_fixture w;
  w.put("o", 50'000, 3);
  const auto body = body_of(50'000, 3);
  const auto part = [&](std::size_t from, std::size_t size) {
    return dataflux::bytes_view(body).subspan(from, size);
  };
  REQUIRE(w.get({.range = byte_range::span(12'345, 23'456)}, 23'456));
  CHECK(same(w.memory, part(12'345, 23'456)));
  REQUIRE(w.get({.range = byte_range::span(49'000, 5'000)}, 1'000));  // clamped
  CHECK(same(w.memory, part(49'000, 1'000)));
  REQUIRE(w.get({.range = byte_range::from(20'001)}, 29'999));
  CHECK(same(w.memory, part(20'001, 29'999)));
  const auto last = w.get({.range = byte_range::last(30'000)}, 30'000);
  REQUIRE(last);
  CHECK_FALSE(last->verified);
  CHECK(same(w.memory, part(20'000, 30'000)));
  REQUIRE(w.get({.range = byte_range::last(90'000)}, 50'000));
  CHECK(same(w.memory, body));
}

TEST_CASE("get_one: memory of another size is refused, both sizes named", "[download]") {
  one_fixture w;
  w.put("o", 50'000, 3);
  w.put("empty", 0, 0);
  struct row {
    get_one_request request;
    std::size_t memory;
    std::string there;
  };
  const row rows[]{{{}, 49'999, "50000"},
                   {{}, 50'001, "50000"},
                   {{}, 100'000, "50000"},
                   {{}, 0, "50000"},
                   {{.object = "empty"}, 1, "0 bytes"},
                   {{.range = byte_range::span(10, 20)}, 21, "20"},
                   {{.range = byte_range::span(10, 20)}, 19, "20"},
                   {{.range = byte_range::span(49'990, 20)}, 20, "10"},
                   {{.range = byte_range::span(49'990, 20)}, 9, "10"},
                   {{.range = byte_range::span(60'000, 20)}, 20, "60000"},
                   {{.range = byte_range::from(40'000)}, 9'999, "10000"},
                   {{.range = byte_range::last(20)}, 21, "20"},
                   {{.range = byte_range::last(20)}, 0, "20"}};
  for (const row& r : rows) {
    INFO(r.memory << " for " << r.there);
    const auto got = w.get(r.request, r.memory);
    REQUIRE_FALSE(got);
    CHECK(got.error().code() == errc::out_of_range);
    CHECK(got.error().bucket() == "bucket");
    CHECK_FALSE(got.error().object().empty());
    const bool beyond = r.there == "60000";
    CHECK(says(got.error(), r.there, beyond ? "50000" : std::to_string(r.memory)));
    w.at_rest();
  }
}

TEST_CASE("get_one: of no bytes no range is asked for", "[download]") {
  one_fixture w;
  w.put("empty", 0, 0);
  w.put("o", 10, 1);
  const auto got = w.get({.object = "empty", .crc32c = 0}, 0);
  REQUIRE(got);
  CHECK(got->verified);
  CHECK(got->generation != 0);
  CHECK(w.get({.range = byte_range::from(10)}, 0));
  CHECK(w.get({.object = "empty", .crc32c = 5}, 0).error().code() == errc::data_loss);
  CHECK(w.reads() == 0);
  CHECK(w.get({.object = "none"}, 0).error().code() == errc::not_found);
}

TEST_CASE("get_one: wrong checksum, missing objects and impossible ranges", "[download]") {
  one_fixture w;
  const auto put = w.put("o", 25'000, 3);
  CHECK(w.get({.crc32c = *put.crc32c + 1}, 25'000).error().code() == errc::data_loss);
  CHECK(w.get({.object = "none"}, 10).error().code() == errc::not_found);
  CHECK(w.get({.generation = put.generation + 9}, 25'000).error().code() == errc::not_found);
  CHECK(w.get({.range = byte_range::span(5, 0)}, 0).error().code() == errc::invalid_argument);
  w.at_rest();
}

TEST_CASE("get_one: an object replaced between the look and the read is aborted", "[download]") {
  one_fixture w;
  w.put("o", 25'000, 3);
  w.memory.assign(20'000, std::byte{0});
  auto op = dataflux::submit_get_one(
      w.context, {.bucket = "bucket", .object = "o", .range = byte_range::last(20'000)}, w.memory);
  while (w.store.counters().of(store_verb::stat) == 0 || w.store.in_flight() > 0) {
    REQUIRE(w.clock.run_one());
  }
  w.put("o", 25'000, 4);
  while (!op.poll()) REQUIRE(w.clock.run_one());
  const auto got = op.take();
  REQUIRE_FALSE(got);
  CHECK(got.error().code() == errc::aborted);
  CHECK(got.error().retryable());
}

TEST_CASE("get_one: cancel and time limit, in the look and in the read", "[download]") {
  for (const bool look : {false, true}) {
    for (const auto after : {0ms, 5ms, 25ms}) {
      one_fixture w;
      w.put("o", 400'000, 3);
      w.memory.assign(400'000, std::byte{0});
      const auto range = look ? byte_range::last(400'000) : byte_range::all();
      auto op = dataflux::submit_get_one(
          w.context, {.bucket = "bucket", .object = "o", .range = range}, w.memory);
      w.clock.run_for(after);
      op.cancel();
      while (!op.poll()) REQUIRE(w.clock.run_one());
      const dataflux::error stopped = op.take().error();
      CHECK(stopped.code() == errc::cancelled);
      CHECK(stopped.object() == "o");
      w.at_rest();
      const auto late = w.get({.range = range, .limits = {.timeout = after + 1ms}}, 400'000);
      REQUIRE_FALSE(late);
      CHECK(late.error().code() == errc::deadline_exceeded);
      CHECK(late.error().object() == "o");
      w.at_rest();
    }
  }
}

}  // namespace get_one_test
