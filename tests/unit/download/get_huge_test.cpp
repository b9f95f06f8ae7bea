#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/get_many.hpp>

#include <support/catch.hpp>

#include <optional>
#include <stdexcept>

#include "get_world.hpp"

namespace get_huge_test {

using dataflux::byte_range;
using dataflux::get_request;
using dataflux::getter;
using dataflux::got_item;

TEST_CASE("getter: 5 GiB of one object under a cap of 64 MiB", "[download]") {
  constexpr std::uint64_t size = 5ULL << 30U;
  constexpr std::uint64_t piece = 8ULL << 20U;
  const dataflux::synthetic_bytes body(size, 7);
  get_world w({.memory_cap = 64ULL << 20U});
  get_request whole;
  whole.object = "huge";
  whole.generation = w.store.put("bucket", "huge", body);
  whole.object_size = size;
  std::uint64_t next = 0;
  getter items(w.context, "bucket", [&]() -> std::optional<get_request> {
    if (next == size) return std::nullopt;
    get_request r = whole;
    r.range = byte_range::span(next, piece);
    next += piece;
    return r;
  });
  dataflux::codec::crc32c_accumulator all;
  CHECK_FALSE(w.read_all(items, 4, [&](const got_item& item) {
    REQUIRE_FALSE(item.failure);
    all.append({item.crc32c, item.bytes.size()});
  }));
  CHECK(all.length() == size);
  CHECK(all.crc() == body.crc32c());
  // As one item it cannot be had.
  getter one(w.context, "bucket", std::vector{whole});
  const auto refused = w.next(one).value();
  REQUIRE(refused.at(0).failure);
  CHECK(refused[0].failure->code() == dataflux::errc::resource_exhausted);
  CHECK(refused[0].failure->message().find("67108864") != std::string::npos);
}

TEST_CASE("getter: a reader that throws leaves nothing behind", "[download]") {
  get_world w({.memory_cap = 1'000'000});
  const auto requests = w.put_many(2'000, 10'000);
  std::optional<got_item> kept;
  try {
    getter items(w.context, "bucket", requests);
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
  get_world w({.memory_cap = 64ULL << 20U, .concurrency = {.max = 16}});
  const auto alone = w.put("alone", 24U << 20U, 1);
  const auto beside = w.put("beside", 16U << 20U, 2);
  getter items(w.context, "bucket", std::vector{alone, beside});
  const auto first = w.next(items).value();
  CHECK(same(first.at(0).bytes, body_of(24U << 20U, 1)));
  CHECK(first[0].verified);
  const auto second = w.next(items).value();
  CHECK(same(second.at(0).bytes, body_of(16U << 20U, 2)));
  // 1.5 MiB each, and slices of 8 MiB.
  CHECK(w.reads() == 16 + 2);
}

}  // namespace get_huge_test
