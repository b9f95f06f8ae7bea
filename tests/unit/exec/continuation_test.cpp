#include <dataflux/exec/continuation.hpp>

#include <support/catch.hpp>
#include <support/crossed_clock.hpp>

#include <memory>
#include <thread>
#include <vector>

namespace continuation_test {

using dataflux::continue_on;
using dataflux::result;

TEST_CASE("continuation: what comes from another thread goes on at home, later", "[exec]") {
  crossed_clock home;
  const auto self = std::make_shared<std::vector<int>>();
  auto done = continue_on<int>(home, self, [](std::vector<int>& all, result<int> outcome) {
    all.push_back(outcome.value());
  });
  std::thread([&] { done(7); }).join();
  CHECK(self->empty());
  REQUIRE(home.step());
  CHECK(*self == std::vector<int>{7});
}

TEST_CASE("continuation: what comes at home goes on at once", "[exec]") {
  crossed_clock home;
  const auto self = std::make_shared<std::vector<int>>();
  continue_on<void>(home, self, [](std::vector<int>& all, const result<void>& outcome) {
    all.push_back(outcome ? 1 : 0);
  })(result<void>());
  CHECK(*self == std::vector<int>{1});
}

TEST_CASE("continuation: it keeps what it belongs to until it has gone on", "[exec]") {
  crossed_clock home;
  auto self = std::make_shared<int>(1);
  const std::weak_ptr<int> alive = self;
  int seen = 0;
  {
    auto done =
        continue_on<void>(home, std::move(self), [&seen](int& it, const auto&) { seen = it; });
    std::thread([&] { done(result<void>()); }).join();
  }
  CHECK_FALSE(alive.expired());
  REQUIRE(home.step());
  CHECK(seen == 1);
  CHECK(alive.expired());
}

}  // namespace continuation_test
