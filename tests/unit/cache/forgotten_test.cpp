#include <dataflux/cache/detail/cached_read.hpp>
#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/download_file.hpp>
#include <dataflux/download/get_one.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/exec/detail/blocking_worker.hpp>
#include <dataflux/shard/index_shards.hpp>

#include <support/catch.hpp>
#include <support/tar_bytes.hpp>

#include <cstdint>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache_fixture.hpp"

/// What came damaged from the network, and was kept before anybody could know.
namespace forgotten_test {

using dataflux::byte_range;
using dataflux::checkpoint_reader;
using dataflux::errc;
using dataflux::detail::run_file_step;

namespace {

constexpr std::uint64_t size = 300'000;

std::vector<std::byte> beginning(std::size_t bytes) {
  auto all = cache_fixture::body(size);
  all.resize(bytes);
  return all;
}

template <class T>
void check_damaged(const dataflux::result<T>& got) {
  REQUIRE_FALSE(got);
  CHECK(got.error().code() == errc::data_loss);
}

/// Threads for files, which are all held until it goes.
class held_threads {
 public:
  held_threads() {
    for (int i = 0; i < threads; ++i) {
      REQUIRE(run_file_step([shared = shared_] {
        shared->begun.count_down();
        shared->over.wait();
      }));
    }
    shared_->begun.wait();
  }
  ~held_threads() { shared_->over.count_down(); }

 private:
  static constexpr int threads = 8;
  struct latches {
    std::latch begun{threads};
    std::latch over{1};
  };
  std::shared_ptr<latches> shared_ = std::make_shared<latches>();
};

struct damaged_fixture : cache_fixture {
  /// Of the `nth` read of an object, from now on, a bit is flipped.
  void damage(std::uint64_t nth, std::uint64_t times = 1) {
    store.set_faults([=](dataflux::store_verb verb, std::string_view, std::uint64_t n) {
      std::optional<dataflux::injected_fault> fault;
      if (verb != dataflux::store_verb::read || n < nth || n >= nth + times) return fault;
      fault.emplace().corrupt = true;
      fault->corrupt_byte = 5;
      return fault;
    });
  }
  checkpoint_reader open_reader(dataflux::checkpoint_read_request how = {}) {
    how.bucket = "bucket";
    how.object = "o";
    how.block = 50'000;
    how.read_ahead = 1;
    auto opened = end(checkpoint_reader::submit_open(context, std::move(how)));
    REQUIRE(opened);
    return *std::move(opened);
  }
  /// By three reads, so that none is of the whole object.
  std::optional<errc> read_all(checkpoint_reader& from, std::uint64_t parts = 3) {
    for (std::uint64_t i = 0; i < parts; ++i) {
      std::vector<std::byte> memory(size / parts);
      const auto got = end(from.submit_read_at(i * memory.size(), memory));
      cache.flush();
      if (!got) return got.error().code();
      const auto all = body(size);
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i * memory.size());
      const bool good = std::equal(memory.begin(), memory.end(), begin);
      if (!good && i + 1 == parts) return errc::internal;
    }
    return std::nullopt;
  }
  std::vector<dataflux::part_checksum> parts(std::uint64_t count) const {
    const auto all = body(size);
    std::vector<dataflux::part_checksum> made;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto piece = dataflux::bytes_view(all).subspan(i * size / count, size / count);
      made.push_back({piece.size(), dataflux::crc32c(piece)});
    }
    return made;
  }
  struct outcome_of_get {
    std::optional<errc> failure;
    std::vector<std::byte> bytes;
  };
  outcome_of_get get(std::vector<dataflux::get_request> requests) {
    dataflux::getter items(context, {.bucket = "bucket"}, std::move(requests));
    auto batch = end(items.submit_next_batch(1));
    REQUIRE(batch);
    REQUIRE(batch->size() == 1);
    const dataflux::got_item& item = batch->front();
    cache.flush();
    if (item.failure) return {item.failure->code(), {}};
    return {std::nullopt, {item.bytes.begin(), item.bytes.end()}};
  }
};

}  // namespace

TEST_CASE("cache: a reader that finds damage makes it forgotten", "[cache]") {
  damaged_fixture w;
  w.put("o", size);
  w.damage(2);
  {
    auto first = w.open_reader();
    CHECK(w.read_all(first) == errc::data_loss);
    CHECK(w.read_all(first) == errc::data_loss);  // what it gave may be anywhere
  }
  CHECK(w.reads() == 3);
  auto second = w.open_reader();
  CHECK(w.read_all(second) == std::nullopt);
  CHECK(second.verified());
  CHECK(w.reads() == 6);
  auto third = w.open_reader();
  CHECK(w.read_all(third) == std::nullopt);
  CHECK(w.reads() == 6);
}

TEST_CASE("cache: what a process finds damaged, others do not read either", "[cache]") {
  damaged_fixture w;
  const auto generation = w.put("o", size);
  const auto other = w.open();
  const auto by_other = w.over(other);
  w.damage(1);
  const auto part = byte_range::span(0, size / 3);
  REQUIRE(w.read_by(by_other, "o", generation, size / 3, part).summary);
  other.flush();
  {
    auto reader = w.open_reader();
    CHECK(w.read_all(reader) == errc::data_loss);
  }
  const auto reads = w.reads();
  CHECK(w.read_by(by_other, "o", generation, size / 3, part).bytes == beginning(size / 3));
  CHECK(w.reads() == reads + 1);
}

TEST_CASE("cache: a part that is damaged is read anew by the same reader", "[cache]") {
  damaged_fixture w;
  w.put("o", size);
  w.damage(2);
  auto reader = w.open_reader({.parts = w.parts(3)});
  CHECK(w.read_all(reader) == errc::data_loss);
  CHECK(w.read_all(reader) == std::nullopt);
}

TEST_CASE("cache: a second reading that differs is forgotten", "[cache]") {
  damaged_fixture w;
  w.put("o", size);
  auto reader = w.open_reader({.cache = 50'000});
  CHECK(w.read_all(reader) == std::nullopt);
  CHECK(reader.verified());
  w.damage(1);
  CHECK(w.read_all(reader, 2) == errc::data_loss);
  CHECK(w.read_all(reader, 2) == std::nullopt);
}

TEST_CASE("cache: slices of a read that was compared as a whole are forgotten", "[cache]") {
  damaged_fixture w;
  const std::uint64_t large = 20'000'000;
  const auto generation = w.put("large", large);
  w.damage(2);
  std::vector<std::byte> into(large);
  const auto get = [&] {
    auto got = w.end(dataflux::submit_get_one(
        w.context, {.bucket = "bucket", .object = "large", .generation = generation}, into));
    w.cache.flush();
    return got;
  };
  check_damaged(get());
  const auto reads = w.reads();
  CHECK(get());
  CHECK(into == cache_fixture::body(large));
  CHECK(w.reads() == reads + 3);
  CHECK(get());
  CHECK(w.reads() == reads + 3);
}

TEST_CASE("cache: the rest of an object of unknown size is forgotten", "[cache]") {
  damaged_fixture w;
  const auto generation = w.put("large", 20'000'000);
  w.damage(2);
  const auto get = [&] {
    auto got = w.end(dataflux::submit_read_bytes(
        w.context, {.bucket = "bucket", .object = "large", .generation = generation}));
    w.cache.flush();
    return got;
  };
  check_damaged(get());
  const auto got = get();
  REQUIRE(got);
  CHECK(*got == cache_fixture::body(20'000'000));
}

TEST_CASE("cache: a file that was downloaded damaged is read anew", "[cache]") {
  damaged_fixture w;
  const auto generation = w.put("large", 20'000'000);
  w.damage(2);
  const auto get = [&] {
    auto got = w.end(
        dataflux::submit_download_file(w.context, {.bucket = "bucket",
                                                   .object = "large",
                                                   .generation = generation,
                                                   .path = (w.scratch.path / "file").string()}));
    w.cache.flush();
    return got;
  };
  check_damaged(get());
  CHECK(get());
}

TEST_CASE("cache: a range that is damaged twice is not kept", "[cache]") {
  damaged_fixture w;
  const auto generation = w.put("o", size);
  const auto all = cache_fixture::body(size);
  const auto wanted = dataflux::bytes_view(all).subspan(1000, 500);
  const std::vector<dataflux::get_request> requests{{.object = "o",
                                                     .generation = generation,
                                                     .range = byte_range::span(1000, 500),
                                                     .object_size = size,
                                                     .range_crc32c = dataflux::crc32c(wanted)}};
  w.damage(1, 2);
  CHECK(w.get(requests).failure == errc::data_loss);
  CHECK(w.reads() == 2);
  CHECK(w.get(requests).bytes == std::vector<std::byte>(wanted.begin(), wanted.end()));
  CHECK(w.reads() == 3);
  CHECK(w.get(requests).bytes == std::vector<std::byte>(wanted.begin(), wanted.end()));
  CHECK(w.reads() == 3);
}

TEST_CASE("cache: bytes that are not those of the listing are asked for again", "[cache]") {
  damaged_fixture w;
  const auto generation = w.put("o", size);
  std::vector<dataflux::get_request> requests{
      {.object = "o", .generation = generation, .object_size = size, .crc32c = 1}};
  CHECK(w.get(requests).failure == errc::data_loss);
  requests[0].crc32c = dataflux::crc32c(cache_fixture::body(size));
  CHECK(w.get(requests).bytes == cache_fixture::body(size));
  CHECK(w.reads() == 2);
}

TEST_CASE("cache: a shard whose headers came damaged is indexed anew", "[cache]") {
  damaged_fixture w;
  std::string shard;
  for (const char* const name : {"0.bin", "1.bin", "2.bin"}) {
    shard += dataflux::test::tar_members({{.name = name, .data = std::string(1'500'000, 'x')}});
  }
  w.store.put("bucket", "s.tar", dataflux::as_bytes(shard.append(1024, '\0')));
  w.damage(2);  // which begins with a header
  const auto index = [&] {
    auto page = w.end(w.store.submit_list_page({.bucket = "bucket", .prefix = "s"}));
    REQUIRE(page);
    auto made = w.end(
        dataflux::submit_index_shards(w.context, {.bucket = "bucket",
                                                  .shards = std::move(page->objects),
                                                  .path = (w.scratch.path / "index").string()}));
    w.cache.flush();
    return made;
  };
  check_damaged(index());
  CHECK(index());
}

TEST_CASE("cache: ranges that were compared together are kept as such", "[cache]") {
  damaged_fixture w;
  const auto generation = w.put("o", size);
  std::vector<dataflux::get_request> halves;
  for (const std::uint64_t begin : {std::uint64_t{0}, size / 2}) {
    halves.push_back({.object = "o",
                      .generation = generation,
                      .range = byte_range::span(begin, size / 2),
                      .object_size = size});
  }
  for (int i = 0; i < 2; ++i) {
    dataflux::getter items(w.context, {.bucket = "bucket"}, halves);
    for (int k = 0; k < 2; ++k) {
      const auto batch = w.end(items.submit_next_batch(1));
      REQUIRE((batch && batch->size() == 1 && !batch->front().failure));
      CHECK(batch->front().verified);
    }
    w.cache.flush();
  }
  CHECK(w.reads() == 1);
  w.context.state()->engine.forget_object("bucket", "o", generation);
  CHECK(w.get(halves).bytes == beginning(size / 2));
  CHECK(w.reads() == 1);
}

TEST_CASE("cache: what was compared when it came stays when its object is doubted", "[cache]") {
  damaged_fixture w;
  const auto generation = w.put("o", size);
  REQUIRE(w.read("o", generation, size).summary);
  const auto part = byte_range::span(1000, 500);
  REQUIRE(w.read("o", generation, 500, part).summary);
  w.cache.flush();
  w.context.state()->engine.forget_object("bucket", "o", generation);
  CHECK(w.read("o", generation, size).summary->verified);
  CHECK(w.reads() == 2);
  CHECK(w.read("o", generation, 500, part).summary);
  CHECK(w.reads() == 3);
  w.cache.flush();
  CHECK(w.read("o", generation, 500, part).summary);
  CHECK(w.reads() == 3);
  // Of another generation, or object, nothing is known.
  w.context.state()->engine.forget_object("bucket", "o", generation + 1);
  w.context.state()->engine.forget_object("bucket", "p", generation);
  CHECK(w.read("o", generation, 500, part).summary);
  CHECK(w.reads() == 3);
}

TEST_CASE("cache: what waits to be written is forgotten, too", "[cache]") {
  damaged_fixture w;
  const auto generation = w.put("o", size);
  const auto part = byte_range::span(0, 500);
  const auto& engine = w.context.state();
  for (const bool all : {false, true}) {
    {
      const held_threads held;
      dataflux::read_summary wrong{.bytes = 500, .object_size = size, .generation = generation};
      const std::vector<std::byte> noise(500, std::byte{7});
      wrong.crc32c = dataflux::crc32c(noise);
      const dataflux::read_request request{
          .bucket = "bucket", .object = "o", .range = part, .generation = generation};
      engine->engine.keep(request, wrong, noise);
      if (all) {
        engine->engine.forget_object("bucket", "o", generation);
      } else {
        engine->engine.forget(request);
      }
    }
    w.cache.flush();
    const auto reads = w.reads();
    CHECK(w.read("o", generation, 500, part).bytes == beginning(500));
    CHECK(w.reads() == reads + 1);
    CHECK(w.cache.counters().hits == 0);
    engine->engine.forget_object("bucket", "o", generation);
  }
}

TEST_CASE("cache: a reply that is shorter than it should be is not kept", "[cache]") {
  damaged_fixture w;
  const auto generation = w.put("o", size);
  std::vector<std::byte> memory(500);
  std::uint64_t asked = 0;
  const auto state = std::make_shared<dataflux::detail::cache_state>(
      *dataflux::detail::open_cache_folder(w.scratch.path.string(), true),
      dataflux::detail::cache_limits{.bytes = 16U << 20U});
  dataflux::detail::cached_reads reads(state, "mem://here");
  for (int i = 0; i < 2; ++i) {
    dataflux::span_sink sink(memory);
    bool over = false;
    reads.start(
        w.clock,
        {.bucket = "bucket",
         .object = "o",
         .range = byte_range::span(0, 500),
         .generation = generation},
        sink, [&](const auto& outcome) { over = outcome.has_value(); },
        [&](const dataflux::read_request&, dataflux::byte_sink& to, auto then) {
          ++asked;
          const auto some = to.prepare(100).first(100);
          std::fill(some.begin(), some.end(), std::byte{1});
          REQUIRE(to.commit(100));
          then(dataflux::read_summary{.bytes = 100,
                                      .crc32c = dataflux::crc32c(some),
                                      .object_size = size,
                                      .generation = generation});
        });
    while (!over) REQUIRE(w.clock.step());
    state->flush();
  }
  CHECK(asked == 2);
}

}  // namespace forgotten_test
