#include <dataflux/cache/detail/cache_index.hpp>
#include <dataflux/codec/detail/xxhash64.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <fcntl.h>

#include <cstdint>
#include <filesystem>
#include <span>

namespace cache_index_test {

using dataflux::detail::cache_file;
using dataflux::detail::cache_index;
using dataflux::detail::cache_place;

namespace {

std::uint64_t hash_of(std::uint64_t number) {
  return dataflux::detail::codec::xxhash64(std::as_bytes(std::span(&number, 1)));
}

struct fixture {
  const temporary_folder scratch{};
  const cache_file folder{::open(scratch.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  cache_index index{};
};

}  // namespace

TEST_CASE("cache_index: places are found by all who open it", "[cache]") {
  fixture w;
  w.index.open(w.folder.descriptor(), 1U << 30U);
  cache_index other;
  other.open(w.folder.descriptor(), 1U << 20U);
  const cache_place place{7, 100, 20};
  CHECK(w.index.find(hash_of(1), true).count == 0);
  REQUIRE(w.index.put(hash_of(1), place));
  const auto found = other.find(hash_of(1), true);
  REQUIRE(found.count == 1);
  CHECK(found.places[0] == place);
  other.drop(hash_of(1), {7, 100, 21});
  CHECK(w.index.find(hash_of(1), true).count == 1);
  other.drop(hash_of(1), place);
  CHECK(w.index.find(hash_of(1), true).count == 0);
}

TEST_CASE("cache_index: one for a much smaller cache is replaced, for a larger one it stays",
          "[cache]") {
  fixture w;
  const auto size = [&] { return std::filesystem::file_size(w.scratch.path / "1-index"); };
  w.index.open(w.folder.descriptor(), 64U << 20U);
  const auto small = size();
  cache_index large;
  large.open(w.folder.descriptor(), 1U << 30U);
  CHECK(size() > 3 * small);
  REQUIRE(large.put(hash_of(1), {1, 2, 3}));
  w.index.open(w.folder.descriptor(), 64U << 20U);
  CHECK(size() > 3 * small);
  CHECK(w.index.find(hash_of(1), true).count == 1);
}

TEST_CASE("cache_index: a million objects of 16 KiB find their places", "[cache]") {
  fixture w;
  constexpr std::uint32_t objects = 1'000'000;
  w.index.open(w.folder.descriptor(), std::uint64_t{objects} * 16'384);
  for (std::uint32_t i = 0; i < objects; ++i) {
    REQUIRE(w.index.put(hash_of(i), {1 + i / 4000, i % 4000 * 257, 257}));
  }
  std::uint32_t found = 0;
  for (std::uint32_t i = 0; i < objects; i += 7) {
    const cache_place wanted{1 + i / 4000, i % 4000 * 257, 257};
    const auto there = w.index.find(hash_of(i), true);
    for (std::size_t k = 0; k < there.count; ++k) found += there.places[k] == wanted ? 1U : 0U;
  }
  CHECK(found > objects / 7 * 99 / 100);
}

TEST_CASE("cache_index: a full bucket forgets the oldest", "[cache]") {
  fixture w;
  w.index.open(w.folder.descriptor(), 1);
  const auto hash = [](std::uint64_t number) { return number << 32U; };  // one bucket
  for (std::uint32_t i = 1; i <= 20; ++i) REQUIRE(w.index.put(hash(i), {i, 0, 1}));
  for (std::uint32_t i = 1; i <= 20; ++i) {
    CHECK(w.index.find(hash(i), true).count == (i > 4 ? 1U : 0U));
  }
}

TEST_CASE("cache_index: doubts are counted for all who open it, and stay in a full bucket",
          "[cache]") {
  fixture w;
  w.index.open(w.folder.descriptor(), 1);
  const auto hash = [](std::uint64_t number) { return number << 32U; };  // one bucket
  CHECK(w.index.doubts_of(hash(1), true).count == 0);
  w.index.doubt(hash(1));
  w.index.doubt(hash(1));
  w.index.doubt(hash(2));
  for (std::uint32_t i = 1; i <= 40; ++i) REQUIRE(w.index.put(hash(i), {i, 0, 1}));
  cache_index other;
  other.open(w.folder.descriptor(), 1);
  CHECK(other.doubts_of(hash(1), true).count == 2);
  CHECK(other.doubts_of(hash(2), true).count == 1);
  CHECK(other.doubts_of(hash(3), true).count == 0);
  CHECK(other.find(hash(1), true).count == 0);  // no place
  CHECK(other.find(hash(40), true).count == 1);
}

TEST_CASE("cache_index: another number than before is never that of no doubts", "[cache]") {
  fixture w;
  w.index.open(w.folder.descriptor(), 1);
  std::uint16_t last = 0;
  for (int i = 0; i < 66'000; ++i) {
    w.index.doubt(7);
    const std::uint16_t now = w.index.doubts_of(7, true).count;
    if (now == 0 || now == last) FAIL("after " << i);
    last = now;
  }
}

}  // namespace cache_index_test
