#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/getter.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <optional>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "get_fixture.hpp"

namespace get_huge_test {

using dataflux::byte_range;
using dataflux::get_request;
using dataflux::getter;
using dataflux::got_item;

TEST_CASE("getter: 5 GiB of one object under a cap of 64 MiB", "[download]") {
  constexpr std::uint64_t size = 5ULL << 30U;
  constexpr std::uint64_t piece = 8ULL << 20U;
  const dataflux::synthetic_bytes body(size, 7);
  get_fixture w({.memory_cap = 64ULL << 20U});
  get_request whole;
  whole.object = "huge";
  whole.generation = w.store.put("bucket", "huge", body);
  whole.object_size = size;
  std::uint64_t next = 0;
  getter items(w.context, {.bucket = "bucket"}, [&]() -> std::optional<get_request> {
    if (next == size) return std::nullopt;
    get_request r = whole;
    r.range = byte_range::span(next, piece);
    next += piece;
    return r;
  });
  dataflux::crc32c_accumulator all;
  CHECK_FALSE(w.read_all(items, 4, [&](const got_item& item) {
    REQUIRE_FALSE(item.failure);
    all.append({item.crc32c, item.bytes.size()});
  }));
  CHECK(all.length() == size);
  CHECK(all.crc() == body.crc32c());
  // As one item it cannot be had.
  getter one(w.context, {.bucket = "bucket"}, std::vector{whole});
  const auto refused = w.next(one).value();
  REQUIRE(refused.at(0).failure);
  CHECK(refused[0].failure->code() == dataflux::errc::resource_exhausted);
  CHECK(refused[0].failure->message().find("67108864") != std::string::npos);
}

TEST_CASE("getter: a reader that throws leaves nothing behind", "[download]") {
  get_fixture w({.memory_cap = 1'000'000});
  const auto requests = w.put_many(2'000, 10'000);
  std::optional<got_item> kept;
  try {
    getter items(w.context, {.bucket = "bucket"}, requests);
    for (int i = 0; i < 4; ++i) kept = std::move(w.next(items).value().at(0));
    throw std::runtime_error("in the training step");
  } catch (const std::runtime_error&) {
    w.clock.run();
  }
  // What it had taken is its own still.
  CHECK(same(kept->bytes, body_of(10'000, 3)));
  kept.reset();
  w.at_rest();
}

TEST_CASE("getter: all connections work at an object that fills much of the cap", "[download]") {
  get_fixture w({.memory_cap = 64ULL << 20U, .concurrency = {.max = 16}});
  const auto alone = w.put("alone", 24U << 20U, 1);
  const auto beside = w.put("beside", 16U << 20U, 2);
  getter items(w.context, {.bucket = "bucket"}, std::vector{alone, beside});
  const auto first = w.next(items).value();
  CHECK(same(first.at(0).bytes, body_of(24U << 20U, 1)));
  CHECK(first[0].verified);
  const auto second = w.next(items).value();
  CHECK(same(second.at(0).bytes, body_of(16U << 20U, 2)));
  // A quarter of the cap is 1 MiB for each connection.
  CHECK(w.reads() == 24 + 16);
}

TEST_CASE("getter: an object begins while memory for all of it is not there yet", "[download]") {
  get_fixture w({.memory_cap = 8ULL << 20U, .slice = 100'000, .concurrency = {.max = 64}});
  std::vector<get_request> requests;
  for (std::size_t i = 0; i < 4; ++i) requests.push_back(w.put(std::to_string(i), 5'000'000, i));
  getter items(w.context, {.bucket = "bucket"}, requests);
  // Until the first one is taken the second has what the cap has left.
  w.clock.run_for(std::chrono::seconds(5));
  w.check();
  CHECK(w.context.counters().held == 8ULL << 20U);
  CHECK(w.reads() > 50 + 30);
  CHECK(w.reads() < 50 + 40);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto item = w.next(items).value();
    REQUIRE_FALSE(item.at(0).failure);
    CHECK(item[0].verified);
    CHECK(same(item[0].bytes, body_of(5'000'000, i)));
  }
  CHECK(w.reads() == 4 * 50);
  CHECK(w.context.counters().revoked == 0);
}

TEST_CASE("getter: an object that waits for memory ends with its stream", "[download]") {
  get_fixture w({.memory_cap = 8ULL << 20U, .slice = 100'000});
  const std::vector requests{w.put("a", 5'000'000, 1), w.put("b", 5'000'000, 2)};
  const bool cancelled = GENERATE(true, false);
  std::stop_source stop;
  {
    getter items(w.context, {.bucket = "bucket", .limits = {.stop = stop.get_token()}}, requests);
    w.clock.run_for(std::chrono::seconds(5));
    CHECK(w.store.in_flight() == 0);
    CHECK(w.context.counters().held == 8ULL << 20U);
    if (cancelled) {
      stop.request_stop();
      w.clock.run();
      CHECK(w.next(items).error().code() == dataflux::errc::cancelled);
      CHECK(w.context.counters().held == 0);
    }
  }
  w.at_rest();
}

TEST_CASE("getter: the rest of an object that was replaced is not read", "[download]") {
  get_fixture w({.memory_cap = 8ULL << 20U, .slice = 100'000});
  auto live = w.put("b", 5'000'000, 2);
  live.generation = 0;
  live.crc32c.reset();
  getter items(w.context, {.bucket = "bucket"}, std::vector{w.put("a", 5'000'000, 1), live});
  w.clock.run_for(std::chrono::seconds(5));
  w.put("b", 5'000'000, 3);
  CHECK_FALSE(w.next(items).value().at(0).failure);
  const auto lost = w.next(items).value();
  REQUIRE(lost.at(0).failure);
  CHECK(lost[0].failure->code() == dataflux::errc::aborted);
  CHECK(w.next(items).value().empty());
  w.at_rest();
}

TEST_CASE("getter: large and small objects of several streams, whoever is asked", "[download]") {
  const auto seed = GENERATE(range(0U, 12U));
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::size_t cap = 400'000 + below(1'600'000);
  get_fixture w({.memory_cap = cap,
                 .slice = 20'000 + below(100'000),
                 .concurrency = {.max = 1 + static_cast<int>(below(20))}},
                {.rtt = std::chrono::milliseconds(20), .jitter = 0.5, .seed = seed});
  std::vector<std::vector<get_request>> asked(1 + below(3));
  std::vector<getter> streams;
  for (auto& requests : asked) {
    for (std::size_t i = 0; i < 25; ++i) {
      const std::size_t size = below(3) == 0 ? below(30'000) : below(cap + 1);
      const std::string name = std::to_string(&requests - asked.data()) + "/" + std::to_string(i);
      requests.push_back(w.put(name, size, i));
      if (below(4) == 0) requests.back().object_size.reset();
    }
    const auto order =
        below(2) == 0 ? dataflux::get_order::as_asked : dataflux::get_order::as_ready;
    streams.emplace_back(w.context, dataflux::get_many_request{.bucket = "bucket", .order = order},
                         requests);
  }
  std::vector<std::size_t> left(streams.size(), 25);
  while (std::any_of(left.begin(), left.end(), [](std::size_t n) { return n > 0; })) {
    const std::size_t which = below(streams.size());
    for (std::size_t more = 1 + below(6); more > 0 && left[which] > 0; --more) {
      const auto item = w.next(streams[which]).value();
      REQUIRE(item.size() == 1);
      INFO(item[0].object << ' ' << (item[0].failure ? item[0].failure->to_string() : ""));
      REQUIRE_FALSE(item[0].failure);
      const auto& request = asked[which].at(static_cast<std::size_t>(item[0].index));
      REQUIRE(dataflux::crc32c(item[0].bytes) == *request.crc32c);
      --left[which];
    }
  }
  streams.clear();
  w.at_rest();
}

}  // namespace get_huge_test
