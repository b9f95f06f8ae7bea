#include <dataflux/download/get_one.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "get_fixture.hpp"

namespace get_one_item_test {

namespace {

using namespace std::chrono_literals;
using dataflux::byte_range;
using dataflux::errc;
using dataflux::get_one_request;
using dataflux::got_item;

struct item_fixture : get_fixture {
  item_fixture() : get_fixture({.memory_cap = 4U << 20U, .slice = 500'000}) {}

  dataflux::operation<got_item> begin(get_one_request request) {
    request.bucket = "bucket";
    if (request.object.empty()) request.object = "o";
    return dataflux::submit_get_one(context, std::move(request));
  }
  dataflux::result<got_item> get(get_one_request request) {
    auto op = begin(std::move(request));
    while (!op.poll()) {
      REQUIRE(clock.run_one());
      check();
    }
    return op.take();
  }
};

}  // namespace

TEST_CASE("get_one: a whole object into memory of the library", "[download]") {
  item_fixture w;
  for (const std::size_t size : {1U, 16'384U, 400'000U, 500'000U, 500'001U, 2'000'000U}) {
    INFO(size);
    const auto put = w.put("o", size, 7);
    const auto reads = w.reads();
    {
      const auto got = w.get({});
      REQUIRE(got);
      CHECK(got->index == 0);
      CHECK(got->object.view() == "o");
      CHECK(got->generation == put.generation);
      CHECK(got->crc32c == *put.crc32c);
      CHECK(got->verified);
      CHECK(same(got->bytes, body_of(size, 7)));
      CHECK(w.context.counters().borrowed == got->memory.size());
      if (size <= 500'000) CHECK(w.reads() == reads + 1);
    }
    w.at_rest();
  }
}

TEST_CASE("get_one: its item has no more memory than it needs", "[download]") {
  item_fixture w;
  w.put("o", 100'000, 7);
  auto got = w.get({});
  REQUIRE(got);
  const std::uint64_t slab = std::move(got->memory).lend();
  CHECK(dataflux::detail::shared_bytes::memory_of(slab).size() < 150'000);
  dataflux::detail::shared_bytes::give_back(slab);
  w.at_rest();
}

TEST_CASE("get_one: a range into memory of the library ends where the object does", "[download]") {
  item_fixture w;
  const std::size_t size = 1'600'000;
  w.put("o", size, 3);
  w.put("empty", 0, 0);
  const auto body = body_of(size, 3);
  const auto part = [&](std::size_t from, std::size_t count) {
    return dataflux::bytes_view(body).subspan(from, count);
  };
  struct row {
    byte_range range;
    std::size_t from;
    std::size_t count;
  };
  for (const row& r :
       std::initializer_list<row>{{byte_range::span(10, 20), 10, 20},
                                  {byte_range::span(10, 1'500'000), 10, 1'500'000},
                                  {byte_range::span(size - 5, 20), size - 5, 5},
                                  {byte_range::span(size - 5, 3'000'000), size - 5, 5},
                                  {byte_range::from(100'000), 100'000, size - 100'000},
                                  {byte_range::last(30), size - 30, 30},
                                  {byte_range::last(3'000'000), 0, size}}) {
    INFO(r.from << " " << r.count);
    const auto got = w.get({.range = r.range});
    REQUIRE(got);
    CHECK(same(got->bytes, part(r.from, r.count)));
    CHECK(got->verified == (r.count == size));
  }
  for (const byte_range range : {byte_range::from(size), byte_range::span(size, 1),
                                 byte_range::from(size + 1), byte_range::span(size + 9, 600'000)}) {
    const auto got = w.get({.range = range});
    REQUIRE_FALSE(got);
    CHECK(got.error().code() == errc::out_of_range);
    CHECK(got.error().bucket() == "bucket");
    CHECK(got.error().object() == "o");
  }
  for (const byte_range range : {byte_range::all(), byte_range::span(0, 5), byte_range::last(5)}) {
    const auto got = w.get({.object = "empty", .range = range});
    REQUIRE(got);
    CHECK(got->bytes.empty());
  }
  CHECK(w.get({.object = "empty", .range = byte_range::from(1)}).error().code() ==
        errc::out_of_range);
  CHECK(w.get({.range = byte_range::span(5, 0)}).error().code() == errc::invalid_argument);
  const auto far = w.get({.range = byte_range::from(1ULL << 63U)});
  CHECK(far.error().code() == errc::invalid_argument);
  CHECK(far.error().message().find("offset: byte 9223372036854775808") != std::string::npos);
  CHECK(far.error().object() == "o");
  w.at_rest();
}

TEST_CASE("get_one: into memory of the library, within the cap", "[download]") {
  item_fixture w;
  const auto all = w.put_many(30, 900'000);
  w.put("large", 4'000'000, 3);
  w.put("too large", 5'000'000, 3);
  std::vector<dataflux::operation<got_item>> under_way;
  for (const auto& r : all) {
    under_way.push_back(w.begin({.object = r.object}));
    under_way.push_back(w.begin({.object = "large"}));
  }
  for (auto& op : under_way) {
    while (!op.poll()) {
      REQUIRE(w.clock.run_one());
      w.check();
    }
    CHECK(op.take());
  }
  w.at_rest();
  for (const byte_range range : {byte_range::all(), byte_range::span(0, 5'000'000)}) {
    const auto got = w.get({.object = "too large", .range = range});
    REQUIRE_FALSE(got);
    CHECK(got.error().code() == errc::resource_exhausted);
  }
  w.at_rest();
}

TEST_CASE("get_one: into memory of the library, checked and of one generation", "[download]") {
  item_fixture w;
  const auto put = w.put("o", 2'000'000, 3);
  CHECK(w.get({.crc32c = put.crc32c}));
  CHECK(w.get({.crc32c = *put.crc32c + 1}).error().code() == errc::data_loss);
  const auto before = w.reads();
  auto op = w.begin({});
  while (w.reads() < before + 2) REQUIRE(w.clock.run_one());  // the first answer, and slices
  const auto later = w.put("o", 2'000'000, 4);
  const auto got = w.end(op);
  REQUIRE_FALSE(got);
  CHECK(got.error().code() == errc::aborted);
  CHECK(got.error().retryable());
  CHECK(w.get({.generation = put.generation}).error().code() == errc::not_found);
  const auto live = w.get({});
  REQUIRE(live);
  CHECK(live->generation == later.generation);
}

TEST_CASE("get_one: into memory of the library, cancelled and late", "[download]") {
  for (const auto after : {0ms, 5ms, 25ms}) {
    item_fixture w;
    w.put("o", 3'000'000, 3);
    auto op = w.begin({});
    w.clock.run_for(after);
    op.cancel();
    const dataflux::error stopped = w.end(op).error();
    CHECK(stopped.code() == errc::cancelled);
    CHECK(stopped.bucket() == "bucket");
    CHECK(stopped.object() == "o");
    CHECK(w.store.in_flight() == 0);  // as soon as it has ended
    w.at_rest();
    const auto late = w.get({.limits = {.timeout = after + 1ms}});
    REQUIRE_FALSE(late);
    CHECK(late.error().code() == errc::deadline_exceeded);
    CHECK(late.error().object() == "o");
    w.at_rest();
  }
}

}  // namespace get_one_item_test
