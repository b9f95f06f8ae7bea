#include <dataflux/exec/detail/continuation.hpp>

#include <support/catch.hpp>
#include <support/threaded_virtual_clock.hpp>

#include <memory>
#include <thread>
#include <vector>

namespace continuation_test {

using dataflux::result;
using dataflux::detail::continue_on;

TEST_CASE("continuation: what comes from another thread goes on on the strand, later", "[exec]") {
  threaded_virtual_clock strand;
  const auto self = std::make_shared<std::vector<int>>();
  auto done = continue_on<int>(strand, self, [](std::vector<int>& all, result<int> outcome) {
    all.push_back(outcome.value());
  });
  std::thread([&] { done(7); }).join();
  CHECK(self->empty());
  REQUIRE(strand.step());
  CHECK(*self == std::vector<int>{7});
}

TEST_CASE("continuation: what comes on the strand goes on at once", "[exec]") {
  threaded_virtual_clock strand;
  const auto self = std::make_shared<std::vector<int>>();
  continue_on<void>(strand, self, [](std::vector<int>& all, const result<void>& outcome) {
    all.push_back(outcome ? 1 : 0);
  })(result<void>());
  CHECK(*self == std::vector<int>{1});
}

TEST_CASE("continuation: it keeps what it belongs to until it has gone on", "[exec]") {
  threaded_virtual_clock strand;
  auto self = std::make_shared<int>(1);
  const std::weak_ptr<int> alive = self;
  int seen = 0;
  {
    auto done =
        continue_on<void>(strand, std::move(self), [&seen](int& it, const auto&) { seen = it; });
    std::thread([&] { done(result<void>()); }).join();
  }
  CHECK_FALSE(alive.expired());
  REQUIRE(strand.step());
  CHECK(seen == 1);
  CHECK(alive.expired());
}

}  // namespace continuation_test
