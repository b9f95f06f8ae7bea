#include <dataflux/download/get_one.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "get_fixture.hpp"

namespace read_bytes_test {

namespace {

using namespace std::chrono_literals;
using dataflux::errc;
using dataflux::read_bytes_request;
using dataflux::store_verb;

struct small_fixture : get_fixture {
  small_fixture() : get_fixture({.slice = 10'000}) {}

  template <class T>
  dataflux::result<T> finish(dataflux::operation<T> op) {
    while (!op.poll()) REQUIRE(clock.run_one());
    return op.take();
  }
  dataflux::result<std::vector<std::byte>> get(read_bytes_request request = {}) {
    request.bucket = "bucket";
    if (request.object.empty()) request.object = "o";
    return finish(dataflux::submit_read_bytes(context, std::move(request)));
  }
  std::uint64_t stats() const { return store.counters().of(store_verb::stat); }
};

}  // namespace

TEST_CASE("read_bytes: what is no longer than a slice is there with one request", "[download]") {
  for (const std::size_t size : {1UL, 9'999UL, 10'000UL}) {
    small_fixture w;
    w.put("o", size, 7);
    const auto got = w.get();
    REQUIRE(got);
    CHECK(same(*got, body_of(size, 7)));
    CHECK(w.reads() == 1);
    CHECK(w.stats() == 0);
    CHECK(w.context.counters().items == 1);
    CHECK(w.context.counters().bytes == size);
    w.at_rest();
  }
}

TEST_CASE("read_bytes: of a longer object the rest is read in parallel", "[download]") {
  small_fixture w;
  for (const std::size_t size : {10'001UL, 95'003UL}) {
    w.put("o", size, size);
    const auto before = w.reads();
    const auto began = w.clock.now();
    const auto got = w.get();
    REQUIRE(got);
    CHECK(same(*got, body_of(size, size)));
    CHECK(w.reads() - before == (size + 9'999) / 10'000);
    CHECK(w.stats() == 0);
    CHECK(w.clock.now() - began < 65ms);  // simulated: three round trips at most
  }
}

TEST_CASE("read_bytes: an empty object is empty, and its checksum is compared", "[download]") {
  small_fixture w;
  w.put("o", 0, 0);
  const auto got = w.get({.crc32c = 0});
  REQUIRE(got);
  CHECK(got->empty());
  CHECK(w.reads() == 1);
  CHECK(w.stats() == 0);
  CHECK(w.get({.crc32c = 5}).error().code() == errc::data_loss);
}

TEST_CASE("read_bytes: a larger object than is wanted is refused, both sizes named", "[download]") {
  small_fixture w;
  w.put("o", 50'000, 3);
  for (const std::uint64_t most : {1ULL, 9'999ULL, 10'000ULL, 20'000ULL, 49'999ULL}) {
    const auto got = w.get({.max_bytes = most});
    REQUIRE_FALSE(got);
    CHECK(got.error().code() == errc::out_of_range);
    CHECK(got.error().object() == "o");
    CHECK(got.error().message().find("50000") != std::string::npos);
    CHECK(got.error().message().find(std::to_string(most)) != std::string::npos);
  }
  CHECK(w.reads() == 5);
  const auto unbounded = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t most : std::vector<std::uint64_t>{50'000, 0, unbounded}) {
    const auto got = w.get({.max_bytes = most});
    REQUIRE(got);
    CHECK(same(*got, body_of(50'000, 3)));
  }
  w.put("tiny", 3, 3);
  CHECK(w.get({.object = "tiny", .max_bytes = 3}));
  CHECK(w.get({.object = "tiny", .max_bytes = 2}).error().code() == errc::out_of_range);
}

TEST_CASE("read_bytes: wrong checksum, missing objects and generations", "[download]") {
  small_fixture w;
  for (const std::size_t size : {500UL, 35'000UL}) {
    const auto first = w.put("o", size, 3);
    CHECK(w.get({.crc32c = *first.crc32c + 1}).error().code() == errc::data_loss);
    CHECK(w.get({.generation = first.generation, .crc32c = first.crc32c}));
    w.put("o", size, 4);
    CHECK(w.get({.generation = first.generation}).error().code() == errc::not_found);
    CHECK(w.get({.object = "none"}).error().code() == errc::not_found);
    const auto got = w.get();
    REQUIRE(got);
    CHECK(same(*got, body_of(size, 4)));
  }
  w.at_rest();
}

TEST_CASE("read_bytes: an object replaced between the slices is aborted", "[download]") {
  small_fixture w;
  w.put("o", 55'000, 3);
  auto op = dataflux::submit_read_bytes(w.context, {.bucket = "bucket", .object = "o"});
  while (w.reads() < 2) REQUIRE(w.clock.run_one());
  w.put("o", 55'000, 4);
  const auto got = w.finish(std::move(op));
  REQUIRE_FALSE(got);
  CHECK(got.error().code() == errc::aborted);
  CHECK(got.error().retryable());
}

TEST_CASE("read_bytes: cancel and time limit, in the first slice and in the rest", "[download]") {
  for (const auto after : {0ms, 5ms, 30ms}) {
    small_fixture w;
    w.put("o", 400'000, 3);
    auto op = dataflux::submit_read_bytes(w.context, {.bucket = "bucket", .object = "o"});
    w.clock.run_for(after);
    op.cancel();
    CHECK(w.finish(std::move(op)).error().code() == errc::cancelled);
    w.at_rest();
    const auto late = w.get({.limits = {.timeout = after + 1ms}});
    REQUIRE_FALSE(late);
    CHECK(late.error().code() == errc::deadline_exceeded);
    w.at_rest();
  }
}

TEST_CASE("read_text: the same bytes as a string", "[download]") {
  small_fixture w;
  w.put("o", 25'000, 5);
  const auto got =
      w.finish(dataflux::submit_read_text(w.context, {.bucket = "bucket", .object = "o"}));
  REQUIRE(got);
  CHECK(same(dataflux::as_bytes(*got), body_of(25'000, 5)));
  const auto none =
      w.finish(dataflux::submit_read_text(w.context, {.bucket = "bucket", .object = "none"}));
  CHECK(none.error().code() == errc::not_found);
}

TEST_CASE("get_request: of a listing's row, that very generation", "[download]") {
  const dataflux::object_row row{.name = "a/b", .size = 17, .generation = 99, .crc32c = 5};
  const auto request = dataflux::get_request::of(row);
  CHECK(request.object == "a/b");
  CHECK(request.generation == 99);
  CHECK(request.object_size == 17U);
  CHECK(request.crc32c == 5U);
  CHECK(request.range.is_all());
  CHECK(request.into.empty());
  CHECK_FALSE(dataflux::get_request::of({.name = "a"}).crc32c);
}

}  // namespace read_bytes_test
