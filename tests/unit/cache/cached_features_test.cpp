#include <dataflux/cache/cache_contents.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/get_one.hpp>
#include <dataflux/download/getter.hpp>

#include <support/catch.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cache_fixture.hpp"

namespace cached_features_test {

using dataflux::byte_range;
using dataflux::get_request;

namespace {

struct reading : cache_fixture {
  std::vector<std::vector<std::byte>> get_all(const std::vector<get_request>& requests) {
    dataflux::getter items(context, {.bucket = "bucket"}, requests);
    std::vector<std::vector<std::byte>> all(requests.size());
    for (;;) {
      auto op = items.submit_next_batch(100);
      while (!op.poll()) REQUIRE(clock.step());
      const auto got = op.take();
      REQUIRE(got);
      if (got->empty()) break;
      for (const dataflux::got_item& item : *got) {
        REQUIRE_FALSE(item.failure);
        all[static_cast<std::size_t>(item.index)].assign(item.bytes.begin(), item.bytes.end());
      }
    }
    cache.flush();
    return all;
  }
  static std::vector<std::byte> part(const std::vector<std::byte>& all, std::size_t at,
                                     std::size_t size) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
    return {begin, begin + static_cast<std::ptrdiff_t>(size)};
  }
};

}  // namespace

TEST_CASE("cache: ranges that were read together are found each by itself", "[cache]") {
  reading w;
  const auto generation = w.put("shard", 1'000'000, 5);
  const auto all = cache_fixture::body(1'000'000, 5);
  std::vector<get_request> requests;
  for (std::size_t i = 0; i < 50; ++i) {
    requests.push_back({.object = "shard",
                        .generation = generation,
                        .range = byte_range::span(i * 10'000, 9'000),
                        .object_size = 1'000'000});
  }
  const auto first = w.get_all(requests);
  const auto reads = w.reads();
  CHECK(reads < 50);  // they were coalesced
  std::swap(requests[3], requests[40]);
  const auto second = w.get_all(requests);
  CHECK(w.reads() == reads);
  for (std::size_t i = 0; i < 50; ++i) {
    CHECK(first[i] == reading::part(all, i * 10'000, 9'000));
    const std::size_t from = i == 3 ? 40 : i == 40 ? 3 : i;
    CHECK(second[i] == first[from]);
  }
  // Some that are there, and some that are not.
  requests[7].range = byte_range::span(70'500, 9'000);
  const auto third = w.get_all(requests);
  CHECK(third[7] == reading::part(all, 70'500, 9'000));
  CHECK(third[8] == second[8]);
  CHECK(w.reads() == reads + 1);
}

TEST_CASE("cache: a range that its index finds damaged is read from the store", "[cache]") {
  reading w;
  const auto generation = w.put("shard", 100'000, 5);
  const auto all = cache_fixture::body(100'000, 5);
  // What the network made of them was kept.
  dataflux::read_summary wrong{.bytes = 1000, .object_size = 100'000, .generation = generation};
  std::vector<std::byte> noise(1000, std::byte{7});
  wrong.crc32c = dataflux::crc32c(noise);
  w.context.state()->engine.keep({.bucket = "bucket",
                                  .object = "shard",
                                  .range = byte_range::span(5000, 1000),
                                  .generation = generation},
                                 wrong, noise);
  w.cache.flush();
  const auto wanted = reading::part(all, 5000, 1000);
  const std::vector<get_request> requests{{.object = "shard",
                                           .generation = generation,
                                           .range = byte_range::span(5000, 1000),
                                           .object_size = 100'000,
                                           .range_crc32c = dataflux::crc32c(wanted)}};
  CHECK(w.get_all(requests)[0] == wanted);
  CHECK(w.reads() == 1);
  CHECK(w.get_all(requests)[0] == wanted);
  CHECK(w.reads() == 1);
}

TEST_CASE("cache: a large object comes back slice by slice", "[cache]") {
  reading w;
  const std::uint64_t size = 30'000'000;
  const auto generation = w.put("large", size, 9);
  const auto all = cache_fixture::body(size, 9);
  const std::vector<get_request> requests{{.object = "large",
                                           .generation = generation,
                                           .object_size = size,
                                           .crc32c = dataflux::crc32c(all)}};
  CHECK(w.get_all(requests)[0] == all);
  const auto reads = w.reads();
  CHECK(w.get_all(requests)[0] == all);
  CHECK(w.reads() == reads);
  std::vector<std::byte> into(all.size());
  auto op = dataflux::submit_get_one(
      w.context, {.bucket = "bucket", .object = "large", .generation = generation}, into);
  while (!op.poll()) REQUIRE(w.clock.step());
  REQUIRE(op.take());
  CHECK(into == all);
  CHECK(w.reads() == reads);
}

TEST_CASE("cache: what it has can be listed, compared and removed", "[cache]") {
  reading w;
  std::vector<get_request> requests;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "o" + std::to_string(i);
    requests.push_back({.object = name, .generation = w.put(name, 5000, 1), .object_size = 5000});
  }
  w.get_all(requests);
  const std::string folder = w.scratch.path.string();
  std::map<std::string, std::uint64_t> found;
  const auto sum =
      dataflux::read_cache_contents(folder, true, [&](const dataflux::cached_body& body) {
        CHECK(body.service == "mem://here");
        CHECK(body.bucket == "bucket");
        CHECK_FALSE(body.damaged);
        found[std::string(body.object)] = body.bytes;
        return true;
      });
  REQUIRE(sum);
  CHECK(found.size() == 20);
  CHECK(found["o7"] == 5000);
  CHECK(sum->bodies == 20);
  CHECK(sum->bytes == 100'000);
  CHECK(sum->segments == 1);
  cache_fixture::flip(w.only_segment(), 1000);  // of a body
  CHECK(dataflux::read_cache_contents(folder, true)->damaged == 1);
  CHECK(dataflux::read_cache_contents(folder, false)->bodies == 20);
  cache_fixture::flip(w.only_segment(), 8);  // of a head: the next one is found
  CHECK(dataflux::read_cache_contents(folder, true)->bodies == 19);
  int seen = 0;
  const auto cut = dataflux::read_cache_contents(
      folder, false, [&](const dataflux::cached_body&) { return ++seen < 5; });
  CHECK((cut && seen == 5));
  const auto gone = dataflux::clear_cache(folder);
  REQUIRE(gone);
  CHECK(gone->segments == 1);
  CHECK(w.segments().empty());
  const auto reads = w.reads();
  w.get_all(requests);
  CHECK(w.reads() == reads + 20);
  CHECK_FALSE(dataflux::read_cache_contents(folder + "/none", false));
}

}  // namespace cached_features_test
