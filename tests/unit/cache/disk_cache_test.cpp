#include <dataflux/cache/detail/cached_read.hpp>
#include <dataflux/cache/disk_cache.hpp>

#include <support/catch.hpp>
#include <support/run_child.hpp>
#include <support/size_limit.hpp>

#include <filesystem>
#include <string>

#include "cache_fixture.hpp"

namespace disk_cache_test {

namespace fs = std::filesystem;
using dataflux::byte_range;
using dataflux::disk_cache;
using dataflux::errc;

TEST_CASE("disk_cache: a second read of an object asks no store", "[cache]") {
  cache_fixture w;
  const auto generation = w.put("o", 100'000);
  const auto first = w.read("o", generation, 100'000);
  w.cache.flush();
  const auto second = w.read("o", generation, 100'000);
  REQUIRE(first.summary);
  REQUIRE(second.summary);
  CHECK(w.reads() == 1);
  CHECK(second.bytes == cache_fixture::body(100'000));
  CHECK(second.summary->bytes == 100'000);
  CHECK(second.summary->crc32c == first.summary->crc32c);
  CHECK(second.summary->object_crc32c == first.summary->object_crc32c);
  CHECK(second.summary->object_size == 100'000);
  CHECK(second.summary->generation == generation);
  CHECK(second.summary->verified);
  CHECK(second.summary->attempts == 0);
  const auto counters = w.cache.counters();
  CHECK(counters.hits == 1);
  CHECK(counters.hit_bytes == 100'000);
  CHECK(counters.misses == 1);
  CHECK(counters.kept == 1);
  CHECK(counters.refused + counters.damaged + counters.errors == 0);
}

TEST_CASE("disk_cache: bodies of all sizes come back", "[cache]") {
  cache_fixture w;
  for (const std::uint64_t size :
       {1U, 63U, 64U, 65U, 4096U, 16'384U, 262'144U, 262'145U, 5'000'000U}) {
    const std::string name = "o" + std::to_string(size);
    const auto generation = w.put(name, size, size);
    for (int i = 0; i < 2; ++i) {
      const auto got = w.read(name, generation, size);
      REQUIRE(got.summary);
      CHECK(got.bytes == cache_fixture::body(size, size));
      w.cache.flush();
    }
  }
  CHECK(w.reads() == 9);
  CHECK(w.cache.counters().hits == 9);
}

TEST_CASE("disk_cache: ranges are found by where they begin and how long they are", "[cache]") {
  cache_fixture w;
  const auto generation = w.put("o", 50'000);
  const auto part = byte_range::span(1000, 2000);
  const auto all = cache_fixture::body(50'000);
  for (int i = 0; i < 2; ++i) {
    const auto got = w.read("o", generation, 2000, part);
    REQUIRE(got.summary);
    CHECK(got.bytes == std::vector<std::byte>(all.begin() + 1000, all.begin() + 3000));
    CHECK_FALSE(got.summary->verified);
    w.cache.flush();
  }
  CHECK(w.reads() == 1);
  REQUIRE(w.read("o", generation, 2000, byte_range::span(1000, 1999)).summary);
  REQUIRE(w.read("o", generation, 2000, byte_range::span(1001, 2000)).summary);
  CHECK(w.reads() == 3);
}

TEST_CASE("disk_cache: a whole object is found by any range that has all of it", "[cache]") {
  cache_fixture w;
  const auto generation = w.put("o", 5000);
  REQUIRE(w.read("o", generation, 5000, byte_range::span(0, 8000)).summary);
  w.cache.flush();
  for (const auto range : {byte_range::all(), byte_range::span(0, 5000), byte_range::span(0, 9000),
                           byte_range::from(0)}) {
    const auto got = w.read("o", generation, 5000, range);
    REQUIRE(got.summary);
    CHECK(got.bytes == cache_fixture::body(5000));
  }
  CHECK(w.reads() == 1);
  const auto cut = w.read("o", generation, 4000, byte_range::span(0, 4000));
  REQUIRE(cut.summary);
  CHECK(cut.bytes.size() == 4000);
  CHECK(w.reads() == 2);
}

TEST_CASE("disk_cache: another generation, bucket or service is another object", "[cache]") {
  cache_fixture w;
  const auto old = w.put("o", 1000, 1);
  REQUIRE(w.read("o", old, 1000).summary);
  w.cache.flush();
  const auto fresh = w.put("o", 1000, 2);
  const auto got = w.read("o", fresh, 1000);
  REQUIRE(got.summary);
  CHECK(got.bytes == cache_fixture::body(1000, 2));
  const dataflux::transfer_context elsewhere(w.store);
  w.cache.serve(elsewhere, "mem://there");
  CHECK_FALSE(w.read_by(elsewhere, "o", old, 1000).summary);  // the store has it no more
  CHECK(w.read("o", old, 1000).bytes == cache_fixture::body(1000, 1));
}

TEST_CASE("disk_cache: a read without a generation asks the store", "[cache]") {
  cache_fixture w;
  w.put("o", 1000);
  for (int i = 0; i < 3; ++i) REQUIRE(w.read("o", 0, 1000).summary);
  CHECK(w.reads() == 3);
  CHECK(w.cache.counters().misses == 0);
  CHECK(w.segments().empty());
}

TEST_CASE("disk_cache: what fails is not kept", "[cache]") {
  cache_fixture w;
  const auto generation = w.put("o", 1000);
  w.fail(dataflux::store_verb::read, 1, dataflux::error(errc::unavailable, "x"));
  CHECK_FALSE(w.read("o", generation, 1000).summary);
  w.cache.flush();
  CHECK(w.read("o", generation, 1000).summary);
  CHECK(w.cache.counters().kept <= 1);
}

TEST_CASE("disk_cache: memory that is too small is told, and stays so", "[cache]") {
  cache_fixture w;
  const auto generation = w.put("o", 1000);
  REQUIRE(w.read("o", generation, 1000).summary);
  w.cache.flush();
  const auto got = w.read("o", generation, 10);
  REQUIRE_FALSE(got.summary);
  CHECK(got.summary.error().code() == errc::out_of_range);
}

TEST_CASE("disk_cache: others of one folder find what one has kept", "[cache]") {
  cache_fixture w;
  const auto other = w.open();
  const auto by_other = w.over(other);
  const auto generation = w.put("o", 1000);
  REQUIRE(w.read("o", generation, 1000).summary);
  w.cache.flush();
  CHECK(w.read_by(by_other, "o", generation, 1000).bytes == cache_fixture::body(1000));
  CHECK(other.counters().hits == 1);
  const auto late = w.put("p", 1000, 2);
  REQUIRE(w.read_by(by_other, "p", late, 1000).summary);
  other.flush();
  CHECK(w.read("p", late, 1000).bytes == cache_fixture::body(1000, 2));
  CHECK(w.segments().size() == 2);  // one of each
  CHECK(w.reads() == 2);
}

TEST_CASE("disk_cache: a flipped bit anywhere in a record is a miss", "[cache]") {
  cache_fixture w;
  const auto generation = w.put("o", 500);
  REQUIRE(w.read("o", generation, 500).summary);
  w.cache.flush();
  const auto segment = w.only_segment();
  const auto size = 72 + std::string("mem://here/bucket/o").size() + 500;
  std::uint64_t reads = w.reads();
  for (std::uint64_t at = 0; at < size; at += at < 100 ? 1 : 37) {
    const auto before = w.segments();
    cache_fixture::flip(*w.segments().begin(), at);
    const auto got = w.read("o", generation, 500);
    REQUIRE(got.summary);
    CHECK(got.bytes == cache_fixture::body(500));
    CHECK(w.reads() == ++reads);
    w.cache.flush();
    CHECK(w.read("o", generation, 500).summary);  // kept anew
    CHECK(w.reads() == reads);
    fs::remove_all(w.own());
    fs::create_directory(w.own());
    fs::permissions(w.own(), fs::perms::owner_all);
    w.cache = w.open();
    w.context = w.over(w.cache);
    REQUIRE(w.read("o", generation, 500).summary);
    ++reads;
    w.cache.flush();
  }
}

TEST_CASE("disk_cache: a segment that is cut, emptied or gone is a miss", "[cache]") {
  for (const std::uint64_t left : {0U, 40U, 80U, 300U}) {
    cache_fixture w;
    const auto generation = w.put("o", 500);
    REQUIRE(w.read("o", generation, 500).summary);
    w.cache.flush();
    fs::resize_file(w.only_segment(), left);
    CHECK(w.read("o", generation, 500).bytes == cache_fixture::body(500));
    CHECK(w.reads() == 2);
  }
  cache_fixture w;
  const auto generation = w.put("o", 500);
  REQUIRE(w.read("o", generation, 500).summary);
  w.cache.flush();
  fs::remove(w.only_segment());
  CHECK(w.read("o", generation, 500).bytes == cache_fixture::body(500));
  CHECK(w.reads() == 2);
  w.cache.flush();
  CHECK(w.read("o", generation, 500).bytes == cache_fixture::body(500));
  CHECK(w.reads() == 2);  // kept in a segment of its own
}

TEST_CASE("disk_cache: an index that is damaged is made anew", "[cache]") {
  cache_fixture w;
  const auto generation = w.put("o", 500);
  REQUIRE(w.read("o", generation, 500).summary);
  w.cache.flush();
  for (const std::uint64_t at : {0U, 8U, 16U}) {
    cache_fixture::flip(w.own() / "1-index", at);
    const auto again = w.open();
    const auto context = w.over(again);
    CHECK(w.read_by(context, "o", generation, 500).bytes == cache_fixture::body(500));
    again.flush();
    CHECK(w.read_by(context, "o", generation, 500).bytes == cache_fixture::body(500));
    CHECK(again.counters().hits == 1);
  }
  fs::resize_file(w.own() / "1-index", 5000);
  const auto again = w.open();
  CHECK(w.read_by(w.over(again), "o", generation, 500).bytes == cache_fixture::body(500));
}

TEST_CASE("disk_cache: an index of noise leads to no wrong byte", "[cache]") {
  cache_fixture w;
  const auto generation = w.put("o", 500);
  REQUIRE(w.read("o", generation, 500).summary);
  w.cache.flush();
  const auto index = w.own() / "1-index";
  std::uint32_t noise = 1;
  for (std::uint64_t at = 4096; at < fs::file_size(index); at += 1 + noise % 5) {
    noise = noise * 1664525 + 1013904223;
    std::fstream open(index, std::ios::in | std::ios::out | std::ios::binary);
    open.seekp(static_cast<std::streamoff>(at));
    for (int i = 0; i < 4096; ++i, ++at) {
      noise = noise * 1664525 + 1013904223;
      open.put(static_cast<char>(noise >> 24U));
    }
  }
  CHECK(w.read("o", generation, 500).bytes == cache_fixture::body(500));
}

TEST_CASE("disk_cache: a place that is another object's is a miss, whatever memory the reader has",
          "[cache]") {
  using namespace dataflux::detail;
  cache_fixture w;
  const auto small = w.put("small", 1000, 1);
  const auto large = w.put("large", 5000, 2);
  for (const std::size_t size : {500U, 1000U, 6000U}) {
    REQUIRE(w.read("large", large, 5000).summary);
    w.cache.flush();
    const auto hash = [](const std::string& object, std::int64_t generation) {
      return cache_key::of("mem://here",
                           {.bucket = "bucket", .object = object, .generation = generation})
          .hash();
    };
    const cache_file folder(::open(w.own().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    cache_index index;
    index.open(folder.descriptor(), 1U << 30U);
    const auto found = index.find(hash("large", large), true);
    REQUIRE(found.count == 1);
    for (const std::uint32_t longer : {0U, 1U, 64U}) {
      cache_place wrong = found.places[0];
      wrong.length += longer;
      REQUIRE(index.put(hash("small", small), wrong));
      const auto got = w.read("small", small, size);
      REQUIRE(got.summary.has_value() == (size >= 1000));
      if (got.summary) CHECK(got.bytes == cache_fixture::body(1000, 1));
      if (!got.summary) CHECK(got.summary.error().code() == errc::out_of_range);
    }
  }
}

TEST_CASE("disk_cache: reads that come together are answered each by itself", "[cache]") {
  cache_fixture w({.bytes = 32U << 20U});
  constexpr std::uint64_t count = 40;
  const auto name = [](std::uint64_t i) {
    return std::string("object-").append(std::to_string(i));
  };
  std::vector<std::int64_t> generations;
  for (std::uint64_t i = 0; i < count; ++i) {
    generations.push_back(w.put(name(i), 100'000 * (i % 8) + 7, i));
    if (i % 5 != 0) REQUIRE(w.read(name(i), generations.back(), 1'000'000).summary);
    w.cache.flush();
  }
  CHECK(w.segments().size() > 1);
  const auto before = w.reads();
  std::vector<std::vector<std::byte>> memory(count, std::vector<std::byte>(1'000'000));
  std::vector<std::optional<dataflux::span_sink>> sinks(count);
  std::uint64_t ended = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    sinks[i].emplace(memory[i]);
    w.context.state()->engine.start(
        {.bucket = "bucket", .object = name(i), .generation = generations[i]}, *sinks[i],
        [&](const dataflux::result<dataflux::read_summary>& got) {
          ++ended;
          CHECK(got.has_value());
        });
  }
  while (ended < count) REQUIRE(w.clock.step());
  for (std::uint64_t i = 0; i < count; ++i) {
    memory[i].resize(sinks[i]->size());
    CHECK(memory[i] == cache_fixture::body(100'000 * (i % 8) + 7, i));
  }
  CHECK(w.reads() - before == count / 5);
}

TEST_CASE("disk_cache: the folder may be removed while it is used", "[cache]") {
  cache_fixture w;
  const auto generation = w.put("o", 500);
  REQUIRE(w.read("o", generation, 500).summary);
  w.cache.flush();
  fs::remove_all(w.scratch.path);
  for (int i = 0; i < 3; ++i) {
    CHECK(w.read("o", generation, 500).bytes == cache_fixture::body(500));
    w.cache.flush();
  }
  CHECK(w.cache.counters().errors > 0);
}

TEST_CASE("disk_cache: a disk that is full is a cache of what it has", "[cache]") {
  cache_fixture w;
  const auto a = w.put("a", 500, 1);
  const auto b = w.put("b", 300'000, 2);
  REQUIRE(w.read("a", a, 500).summary);
  w.cache.flush();
  {
    const size_limit full(100'000);
    CHECK(w.read("b", b, 300'000).bytes == cache_fixture::body(300'000, 2));
    w.cache.flush();
  }
  CHECK(w.cache.counters().errors == 1);
  CHECK(w.read("a", a, 500).bytes == cache_fixture::body(500, 1));
  CHECK(w.read("b", b, 300'000).bytes == cache_fixture::body(300'000, 2));
  CHECK(w.reads() == 3);
}

TEST_CASE("disk_cache: whole segments of no use make room", "[cache]") {
  cache_fixture w({.bytes = 16U << 20U});  // segments of 1 MiB
  const auto fill = [&](const std::string& prefix) {
    for (int i = 0; i < 40; ++i) {
      const std::string name = prefix + std::to_string(i);
      const auto generation = w.put(name, 500'000, 1);
      REQUIRE(w.read(name, generation, 500'000).summary);
      w.cache.flush();
    }
  };
  const auto bytes = [&] {
    std::uint64_t all = 0;
    for (const auto& each : w.segments()) all += fs::file_size(each);
    return all;
  };
  fill("a");
  const auto kept = w.cache.counters().kept;
  CHECK(kept > 28);
  CHECK(kept <= 34);  // what is there is of use: what comes is not kept
  CHECK(w.cache.counters().refused == 40 - kept);
  CHECK(bytes() <= 16U << 20U);
  CHECK(w.cache.counters().evicted_bytes == 0);
  w.age_segments();
  fill("b");
  CHECK(w.cache.counters().kept > kept + 28);
  CHECK(w.cache.counters().evicted_bytes > 10'000'000);
  CHECK(bytes() <= 16U << 20U);
}

TEST_CASE("disk_cache: what is read stays", "[cache]") {
  cache_fixture w({.bytes = 16U << 20U});
  const auto used = w.put("used", 900'000, 3);
  REQUIRE(w.read("used", used, 900'000).summary);
  w.cache.flush();
  for (int i = 0; i < 60; ++i) {
    const std::string name = "n" + std::to_string(i);
    REQUIRE(w.read(name, w.put(name, 900'000), 900'000).summary);
    w.cache.flush();
    w.age_segments();
    REQUIRE(w.read("used", used, 900'000).summary);  // marks its segment
    REQUIRE(w.read("used", used, 900'000).summary);
  }
  CHECK(w.reads() == 61);
}

TEST_CASE("disk_cache: free space of the disk is kept", "[cache]") {
  cache_fixture w({.bytes = 16U << 20U, .min_free = std::uint64_t{1} << 60U});
  const auto generation = w.put("o", 500);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(w.read("o", generation, 500).summary);
    w.cache.flush();
  }
  CHECK(w.reads() == 2);
  CHECK(w.segments().empty());
  CHECK(w.cache.counters().refused == 2);
}

TEST_CASE("disk_cache: what was wrong is not answered again", "[cache]") {
  cache_fixture w;
  const auto generation = w.put("o", 500);
  const auto part = byte_range::span(0, 200);
  REQUIRE(w.read("o", generation, 200, part).summary);
  w.cache.flush();
  w.context.state()->engine.forget(
      {.bucket = "bucket", .object = "o", .range = part, .generation = generation});
  REQUIRE(w.read("o", generation, 200, part).summary);
  CHECK(w.reads() == 2);
}

TEST_CASE("disk_cache: in the child of a fork it is of no effect", "[cache]") {
  cache_fixture w;
  const auto generation = w.put("o", 500);
  REQUIRE(w.read("o", generation, 500).summary);
  w.cache.flush();
  const dataflux::detail::cached_reads reads(
      std::make_shared<dataflux::detail::cache_state>(dataflux::detail::cache_file(),
                                                      dataflux::detail::cache_limits()),
      "mem://here");
  const auto takes = [&] {
    return reads.takes({.bucket = "bucket", .object = "o", .generation = generation});
  };
  CHECK(takes());
  CHECK(run_child([&] { return takes() ? 1 : 0; }) == 0);
}

TEST_CASE("disk_cache: what cannot be a cache is refused with the reason", "[cache]") {
  const temporary_folder scratch;
  const auto code = [](const dataflux::result<disk_cache>& made) {
    REQUIRE_FALSE(made);
    return made.error().code();
  };
  CHECK(code(disk_cache::open("")) == errc::invalid_argument);
  CHECK(code(disk_cache::open(std::string("a\0b", 3))) == errc::invalid_argument);
  CHECK(code(disk_cache::open((scratch.path / "no" / "such").string())) == errc::not_found);
  CHECK(code(disk_cache::open(scratch.path.string(), {.bytes = 5})) == errc::invalid_argument);
  const auto file = scratch.path / "file";
  std::ofstream(file) << "x";
  CHECK(code(disk_cache::open(file.string())) == errc::not_found);
  REQUIRE(disk_cache::open(scratch.path.string()));
  const auto own = scratch.path / ("dataflux-cache-" + std::to_string(::geteuid()));
  fs::permissions(own, fs::perms::all);
  const auto open_to_all = disk_cache::open(scratch.path.string());
  CHECK(code(open_to_all) == errc::failed_precondition);
  CHECK(open_to_all.error().message().find(own.string()) != std::string::npos);
}

TEST_CASE("disk_cache: a link in place of its folder is refused", "[cache]") {
  const temporary_folder scratch;
  const temporary_folder elsewhere;
  const auto own = scratch.path / ("dataflux-cache-" + std::to_string(::geteuid()));
  fs::create_directory_symlink(elsewhere.path, own);
  CHECK_FALSE(disk_cache::open(scratch.path.string()));
}

}  // namespace disk_cache_test
