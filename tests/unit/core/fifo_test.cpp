#include <dataflux/detail/fifo.hpp>

#include <support/catch.hpp>

#include <deque>
#include <memory>
#include <random>

namespace fifo_test {

using dataflux::detail::fifo;

TEST_CASE("fifo: is what a deque is, whatever is done to it", "[core]") {
  std::mt19937 dice(17);
  fifo<int> mine;
  std::deque<int> right;
  for (int i = 0; i < 20'000; ++i) {
    const auto step = dice() % 5;
    if (step < (i % 4000 < 2000 ? 3U : 2U)) {
      mine.push_back(i);
      right.push_back(i);
    } else if (!right.empty() && step == 4) {
      mine.pop_back();
      right.pop_back();
    } else if (!right.empty()) {
      mine.pop_front();
      right.pop_front();
    }
    REQUIRE(mine.size() == right.size());
    if (right.empty()) continue;
    REQUIRE(mine.front() == right.front());
    REQUIRE(mine.back() == right.back());
    const std::size_t any = dice() % right.size();
    REQUIRE(mine[any] == right[any]);
  }
  mine.clear();
  CHECK(mine.empty());
}

TEST_CASE("fifo: what is taken out is let go of", "[core]") {
  const auto owned = std::make_shared<int>(1);
  fifo<std::shared_ptr<int>> queue;
  for (int i = 0; i < 40; ++i) queue.push_back(owned);
  CHECK(owned.use_count() == 41);
  queue.pop_front();
  queue.pop_back();
  CHECK(owned.use_count() == 39);
  queue.clear();
  CHECK(owned.use_count() == 1);
}

}  // namespace fifo_test
