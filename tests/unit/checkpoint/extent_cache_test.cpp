#include <dataflux/checkpoint/detail/extent_cache.hpp>

#include <support/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace extent_cache_test {

namespace {

using dataflux::detail::extent_cache;

struct fixture {
  /// A piece whose bytes are their offsets; it weighs as much as it has bytes.
  void put(std::uint64_t begin, std::size_t size, bool read) {
    extent_cache::extent piece{begin, slabs.allocate(size)};
    for (std::size_t i = 0; i < size; ++i) piece.memory.data()[i] = std::byte(begin + i);
    cache.put(piece, size, read);
  }
  bool has(std::uint64_t offset, std::size_t size) {
    std::vector<std::byte> memory(size);
    if (!cache.copy(offset, memory, first_use)) return false;
    for (std::size_t i = 0; i < size; ++i) {
      if (memory[i] != std::byte(offset + i)) return false;
    }
    return true;
  }

  dataflux::detail::slab_writer slabs{dataflux::detail::buffer_pool()};
  extent_cache cache{};
  bool first_use{false};
};

}  // namespace

TEST_CASE("extent_cache: copies what is there, over borders, and nothing else", "[checkpoint]") {
  fixture w;
  w.put(10, 10, true);
  w.put(20, 5, true);
  w.put(30, 5, true);
  CHECK(w.has(10, 15));
  CHECK(w.has(18, 4));
  CHECK_FALSE(w.has(9, 2));
  CHECK_FALSE(w.has(24, 2));
  CHECK_FALSE(w.has(20, 15));
  CHECK(w.cache.end_before(10) == 0);
  CHECK(w.cache.end_before(11) == 20);
  CHECK(w.cache.end_before(29) == 25);
  CHECK(w.cache.begin_after(10) == 20);
  CHECK(w.cache.begin_after(30) == extent_cache::nowhere);
  CHECK(w.cache.at(24)->begin == 20);
  CHECK_FALSE(w.cache.at(25));
}

TEST_CASE("extent_cache: what was read longest ago goes first, unread pieces only if need be",
          "[checkpoint]") {
  fixture w;
  w.put(0, 10, true);
  w.put(10, 10, false);
  w.put(20, 10, true);
  w.put(30, 10, false);
  CHECK(w.has(0, 1));  // now 20 is the oldest
  CHECK_FALSE(w.first_use);
  CHECK(w.cache.shrink(30, false));
  CHECK_FALSE(w.has(20, 1));
  CHECK(w.cache.shrink(20, false));
  CHECK_FALSE(w.cache.at(0));
  CHECK_FALSE(w.cache.shrink(10, false));
  CHECK(w.cache.weight() == 20);
  CHECK(w.has(30, 1));
  CHECK(w.first_use);
  CHECK(w.cache.shrink(10, false));
  CHECK_FALSE(w.has(30, 1));
  CHECK(w.cache.shrink(0, true));
  CHECK(w.cache.weight() == 0);
}

TEST_CASE("extent_cache: a piece that is put twice weighs once", "[checkpoint]") {
  fixture w;
  w.put(10, 10, false);
  w.put(10, 10, false);
  // Room for it is room for it: nothing has to go.
  CHECK(w.cache.shrink(10, true));
  CHECK(w.has(10, 10));
}

}  // namespace extent_cache_test
