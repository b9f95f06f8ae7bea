#include <dataflux/detail/buffer.hpp>
#include <dataflux/detail/slab.hpp>

#include <support/catch.hpp>
#include <support/run_child.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace buffer_test {

using dataflux::detail::buffer;
using dataflux::detail::buffer_pool;

namespace {

bool aligned(const std::byte* p, std::uintptr_t to) {
  return reinterpret_cast<std::uintptr_t>(p) % to == 0;
}

}  // namespace

TEST_CASE("buffer_pool: a buffer is large enough, aligned and has spare bytes", "[core]") {
  const buffer_pool pool;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4096},
                                 std::size_t{4097}, std::size_t{2} << 20U}) {
    const buffer b = pool.acquire(size);
    CHECK(b.capacity() >= size);
    CHECK(aligned(b.data(), 64));
    if (b.capacity() >= (std::size_t{2} << 20U)) CHECK(aligned(b.data(), std::size_t{2} << 20U));
    std::memset(b.data(), 1, b.capacity() + dataflux::buffer_slack);  // checked under ASan
  }
}

TEST_CASE("buffer_pool: memory that was given back is handed out again", "[core]") {
  const buffer_pool pool;
  buffer a = pool.acquire(5000);
  const std::byte* const address = a.data();
  CHECK(pool.used_bytes() == a.capacity());
  a = buffer();
  CHECK(pool.used_bytes() == 0);
  CHECK(pool.idle_bytes() == 8192);
  const buffer b = pool.acquire(8192);
  CHECK(b.data() == address);
  CHECK(pool.idle_bytes() == 0);
}

TEST_CASE("buffer_pool: idle memory stays below its limit and trim frees it", "[core]") {
  const buffer_pool pool(10'000);
  std::vector<buffer> all;
  for (int i = 0; i < 8; ++i) all.push_back(pool.acquire(4096));
  all.clear();
  CHECK(pool.idle_bytes() == 8192);
  pool.trim();
  CHECK(pool.idle_bytes() == 0);
  CHECK(pool.acquire(1).capacity() == 4096);
}

TEST_CASE("buffer_pool: a buffer is larger than asked for by an eighth at most", "[core]") {
  const buffer_pool pool;
  std::size_t before = 0;
  for (std::size_t size = 17'000; size < (std::size_t{64} << 20U); size += size / 7 + 1) {
    const std::size_t capacity = buffer_pool::capacity_for(size);
    CHECK(pool.acquire(size).capacity() == capacity);
    CHECK(capacity >= size);
    CHECK(capacity - size <= size / 8);
    CHECK(buffer_pool::capacity_for(capacity) == capacity);
    CHECK(capacity >= before);
    before = capacity;
  }
  CHECK(buffer_pool::capacity_for(std::size_t{8} << 20U) == std::size_t{8} << 20U);
}

TEST_CASE("buffer_pool: idle memory of other sizes does not make it larger than it was in use",
          "[core]") {
  const buffer_pool pool;
  std::vector<buffer> held;
  for (int i = 0; i < 10; ++i) held.push_back(pool.acquire(std::size_t{1} << 20U));
  const std::size_t most = pool.used_bytes();
  held.clear();
  CHECK(pool.idle_bytes() == most);
  for (int i = 0; i < 5; ++i) {
    held.push_back(pool.acquire(std::size_t{3} << 19U));
    CHECK(pool.used_bytes() + pool.idle_bytes() <= most);
  }
  CHECK(pool.idle_bytes() > 0);
}

TEST_CASE("buffer_pool: what is reserved counts as far as it is used, by whole pages", "[core]") {
  constexpr std::size_t mib = std::size_t{1} << 20U;
  const buffer_pool pool;
  buffer b = pool.reserve(15 * mib);
  CHECK(aligned(b.data(), 2 * mib));
  CHECK(pool.used_bytes() == 0);
  b.use(1);
  CHECK(pool.used_bytes() == 2 * mib);
  b.use(3 * mib);
  b.use(2 * mib);
  CHECK(pool.used_bytes() == 4 * mib);
  b.use(15 * mib);
  CHECK(pool.used_bytes() == 15 * mib);
  std::memset(b.data(), 1, 15 * mib);
  b = buffer();
  CHECK(pool.used_bytes() == 0);
  CHECK(pool.idle_bytes() == 15 * mib);
  b = pool.reserve(15 * mib);
  CHECK(b.data()[14 * mib] == std::byte{1});  // the same memory
  CHECK(pool.idle_bytes() == 15 * mib);       // until it is used
  b.use(6 * mib);
  CHECK(pool.used_bytes() == 6 * mib);
  CHECK(pool.idle_bytes() == 9 * mib);
  pool.trim();
  CHECK(b.data()[5 * mib] == std::byte{1});
  CHECK(b.data()[7 * mib] == std::byte{0});  // given back to the system
  CHECK(pool.idle_bytes() == 0);
  CHECK(buffer_pool::pages_for(15 * mib - 5) == 15 * mib);
  CHECK(buffer_pool::pages_for(17 * mib) == 18 * mib);
  CHECK(buffer_pool::pages_for(100'000) == 25 * 4096);
  b = pool.reserve(100'000);
  b.use(5'000);
  CHECK(pool.used_bytes() == 8192);
  b = buffer();
  CHECK(pool.reserve(100'000).capacity() == buffer_pool::capacity_for(100'000));
}

TEST_CASE("buffer_pool: reserved and other memory together are never more than was in use at once",
          "[core]") {
  std::mt19937 random(3);
  const auto below = [&](std::size_t n) { return random() % n; };
  const buffer_pool pool;
  struct piece {
    buffer memory;
    std::size_t size;
    std::size_t used;
  };
  std::vector<piece> pieces;
  std::size_t most = 0;
  for (int i = 0; i < 3'000; ++i) {
    const std::size_t size = 70'000 + below(std::size_t{9} << 20U);
    switch (below(4)) {
      case 0:
        pieces.push_back({pool.acquire(size), 0, 0});
        break;
      case 1:
        pieces.push_back({pool.reserve(size), size, 0});
        break;
      case 2:
        for (piece& p : pieces) {
          p.used += below(p.size - p.used + 1);
          p.memory.use(p.used);
        }
        break;
      default:
        if (pieces.size() > below(12)) {
          pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(below(pieces.size())));
        }
    }
    most = std::max(most, pool.used_bytes());
    REQUIRE(pool.used_bytes() + pool.idle_bytes() <= most);
  }
  pieces.clear();
  CHECK(pool.used_bytes() == 0);
  pool.trim();
  CHECK(pool.idle_bytes() == 0);
}

TEST_CASE("buffer_pool: an impossible size throws and leaves the count alone", "[core]") {
  const buffer_pool pool;
  CHECK_THROWS_AS(pool.acquire(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
  CHECK(pool.used_bytes() == 0);
}

TEST_CASE("buffer: it outlives the pool's handle, and moving leaves the source empty", "[core]") {
  buffer kept;
  {
    const buffer_pool pool;
    kept = pool.acquire(100);
  }
  kept.span()[99] = std::byte{1};
  buffer moved = std::move(kept);
  CHECK_FALSE(kept);
  CHECK(kept.capacity() == 0);
  CHECK(moved.span()[99] == std::byte{1});
}

TEST_CASE("buffer_pool: threads share it and lose nothing", "[core]") {
  const buffer_pool pool;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([pool, t] {
      for (int i = 0; i < 500; ++i) {
        const buffer a = pool.acquire(4096);
        const buffer b = pool.acquire(static_cast<std::size_t>(4096 << (i % 3)));
        std::memset(a.data(), t, a.capacity());
        std::memset(b.data(), t, b.capacity());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(pool.used_bytes() == 0);
}

TEST_CASE("slab_writer: small pieces share a slab, apart from each other and aligned", "[core]") {
  const buffer_pool pool;
  dataflux::detail::slab_writer writer(pool, 8192);
  std::vector<dataflux::detail::shared_bytes> pieces;
  for (std::size_t i = 0; i < 20; ++i) {
    pieces.push_back(writer.allocate(100));
    CHECK(pieces.back().size() == 100);
    CHECK(aligned(pieces.back().data(), 64));
    std::memset(pieces.back().data(), static_cast<int>(i), 100);
  }
  CHECK(pool.used_bytes() == 8192);
  for (std::size_t i = 0; i < 20; ++i) {
    const auto bytes = pieces[i].span();
    CHECK(std::all_of(bytes.begin(), bytes.end(), [i](std::byte b) { return b == std::byte(i); }));
  }
}

TEST_CASE("slab_writer: a slab goes back when its last piece is gone", "[core]") {
  const buffer_pool pool;
  dataflux::detail::shared_bytes part;
  {
    dataflux::detail::slab_writer writer(pool, 8192);
    auto piece = writer.allocate(100);
    piece.span()[10] = std::byte{9};
    part = piece.part(10, 5);
    static_cast<void>(writer.allocate(4000));
    static_cast<void>(writer.allocate(4000));
    static_cast<void>(writer.allocate(4000));
  }
  CHECK(pool.used_bytes() == 8192);
  CHECK(part.size() == 5);
  CHECK(part.span()[0] == std::byte{9});
  part = {};
  CHECK(pool.used_bytes() == 0);
}

TEST_CASE("slab_writer: the slab that came back last is the next one", "[core]") {
  const buffer_pool pool;
  dataflux::detail::slab_writer writer(pool, 8192);
  std::vector<dataflux::detail::shared_bytes> pieces;
  for (int i = 0; i < 30; ++i) pieces.push_back(writer.allocate(1000));
  const std::byte* const back_last = pieces[8].data();
  CHECK(back_last == pieces[9].data() - 1024);
  for (std::size_t i : {16U, 17U, 18U, 19U, 20U, 21U, 22U, 23U}) pieces[i] = {};
  for (std::size_t i : {8U, 9U, 10U, 11U, 12U, 13U, 14U, 15U}) pieces[i] = {};
  for (int i = 0; i < 2; ++i) static_cast<void>(writer.allocate(1000));  // the current one's rest
  CHECK(writer.allocate(1000).data() == back_last);
}

TEST_CASE("slab_writer: a large piece has memory of its own and the spare bytes", "[core]") {
  const buffer_pool pool;
  dataflux::detail::slab_writer writer(pool, 8192);
  const auto small = writer.allocate(10);
  auto large = writer.allocate(100'000);
  REQUIRE(large.size() == 100'000);
  std::memset(large.data(), 1, large.size() + dataflux::buffer_slack);
  CHECK(pool.used_bytes() == 8192 + 106'496);
  large = {};
  CHECK(pool.used_bytes() == 8192);
  const auto last = writer.allocate(500);
  CHECK(last.data() == small.data() + 64);
  CHECK(writer.footprint(100'000) == 106'496);
  CHECK(writer.footprint(500) >= 512);
}

#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes
TEST_CASE("buffer_pool: the child of a fork goes without its lock (mend 10)", "[core]") {
  const buffer_pool pool;
  std::atomic<bool> over{false};
  std::thread busy([&] {
    while (!over) static_cast<void>(pool.acquire(5000));
  });
  int bad = 0;
  for (int i = 0; i < 200 && bad == 0; ++i) {
    std::optional<buffer> borrowed(pool.acquire(100'000));
    std::optional<buffer_pool> last(pool);
    bad = run_child([&] {
      borrowed.reset();
      const buffer made = last->acquire(10);
      made.data()[9] = std::byte{1};
      last->trim();
      return last->used_bytes() == 0 && last->idle_bytes() == 0 ? 0 : 1;
    });
  }
  over = true;
  busy.join();
  CHECK(bad == 0);
  CHECK(pool.used_bytes() == 0);
}
#endif

TEST_CASE("shared_bytes: what is lent counts by slabs, until all of it is back", "[core]") {
  const buffer_pool pool;
  const auto lent = std::make_shared<std::atomic<std::uint64_t>>(0);
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::uint64_t large = 0;
  {
    dataflux::detail::slab_writer writer(pool, 8192, lent);
    auto a = writer.allocate(100);
    const std::byte* const bytes = a.data();
    first = std::move(a).lend();
    CHECK(a.data() == nullptr);
    second = writer.allocate(100).lend();
    CHECK(first != 0);
    CHECK(first == second);
    CHECK(dataflux::detail::shared_bytes::memory_of(first).data() == bytes);
    CHECK(dataflux::detail::shared_bytes::memory_of(first).size() == 8192);
    CHECK(*lent == 8192);
    large = writer.allocate(5000).lend();
    CHECK(large != first);
    CHECK(*lent == 16384);
    CHECK(dataflux::detail::shared_bytes().lend() == 0);
  }
  CHECK(pool.used_bytes() == 16384);  // it outlives who made it
  dataflux::detail::shared_bytes::give_back(large);
  dataflux::detail::shared_bytes::give_back(first);
  CHECK(*lent == 8192);
  CHECK(pool.used_bytes() == 8192);
  dataflux::detail::shared_bytes::give_back(second);
  CHECK(*lent == 0);
  CHECK(pool.used_bytes() == 0);
}

TEST_CASE("shared_bytes: lent and given back by many threads at once", "[core]") {
  const buffer_pool pool;
  const auto lent = std::make_shared<std::atomic<std::uint64_t>>(0);
  {
    dataflux::detail::slab_writer writer(pool, 8192, lent);
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 2000; ++i) {
          const std::uint64_t one = writer.allocate(700).lend();
          dataflux::detail::shared_bytes::give_back(one);
        }
      });
    }
  }
  CHECK(*lent == 0);
  CHECK(pool.used_bytes() == 0);
}

}  // namespace buffer_test
