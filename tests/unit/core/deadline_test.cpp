#include <dataflux/deadline.hpp>

#include <support/catch.hpp>

namespace deadline_test {

using namespace std::chrono_literals;
using dataflux::call_limits;
using dataflux::never;
using dataflux::time_point;

TEST_CASE("call_limits: the deadline of a call, and what is left of it for its parts", "[core]") {
  const time_point begun{100s};
  CHECK(call_limits{}.deadline_from(begun) == never);
  const call_limits limits{.timeout = 3s};
  const time_point deadline = limits.deadline_from(begun);
  CHECK(deadline == begun + 3s);
  CHECK(limits.until(deadline, begun + 1s).timeout == 2s);
  // A part that is too late has a limit still: zero would mean none.
  CHECK(limits.until(deadline, begun + 3s).timeout == dataflux::duration{1});
  CHECK(limits.until(deadline, begun + 9s).timeout == dataflux::duration{1});
  CHECK(call_limits{}.until(never, begun).timeout == dataflux::duration{0});
  std::stop_source stop;
  CHECK(call_limits{.stop = stop.get_token()}.until(deadline, begun).stop == stop.get_token());
}

}  // namespace deadline_test
