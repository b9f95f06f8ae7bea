#include <dataflux/deadline.hpp>

#include <support/catch.hpp>

namespace deadline_test {

using namespace std::chrono_literals;
using dataflux::call_limits;
using dataflux::never;
using dataflux::time_point;

TEST_CASE("call_limits: the deadline of a call; without a limit there is none", "[core]") {
  const time_point begun{100s};
  CHECK(call_limits{}.deadline_from(begun) == never);
  CHECK(call_limits{.timeout = 3s}.deadline_from(begun) == begun + 3s);
  CHECK(call_limits{.timeout = dataflux::duration::max()}.deadline_from(begun) == never);
}

}  // namespace deadline_test
