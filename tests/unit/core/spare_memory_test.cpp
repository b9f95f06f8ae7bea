#include <dataflux/detail/spare_memory.hpp>

#include <support/catch.hpp>

#include <array>
#include <memory>
#include <thread>
#include <vector>

namespace spare_memory_test {

using dataflux::detail::recycling_allocator;
using dataflux::detail::spare_memory;

TEST_CASE("spare_memory: what went last comes first, and only for its size", "[core]") {
  spare_memory spare;
  void* const a = spare.take(64);
  void* const b = spare.take(64);
  spare.give_back(a, 64);
  spare.give_back(b, 64);
  void* const other = spare.take(128);
  CHECK(other != a);
  CHECK(other != b);
  CHECK(spare.take(64) == b);
  CHECK(spare.take(64) == a);
  spare.give_back(other, 128);
  spare.give_back(a, 64);
  spare.give_back(b, 64);
}

TEST_CASE("recycling_allocator: a shared object takes the place of the one before it", "[core]") {
  const void* before = nullptr;
  std::shared_ptr<std::array<char, 300>> last;
  {
    const recycling_allocator<std::array<char, 300>> memory;
    for (int i = 0; i < 10; ++i) {
      const auto made = std::allocate_shared<std::array<char, 300>>(memory);
      if (before != nullptr) CHECK(made.get() == before);
      before = made.get();
    }
    last = std::allocate_shared<std::array<char, 300>>(memory);
  }
  last->fill('x');  // it keeps what it came from
}

TEST_CASE("spare_memory: threads may take and give back at once", "[core]") {
  spare_memory spare;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&spare] {
      for (int i = 0; i < 2'000; ++i) {
        auto* const mine = static_cast<int*>(spare.take(sizeof(int)));
        *mine = i;
        spare.give_back(mine, sizeof(int));
      }
    });
  }
  for (std::thread& each : threads) each.join();
}

}  // namespace spare_memory_test
