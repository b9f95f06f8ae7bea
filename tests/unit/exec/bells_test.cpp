#include <dataflux/exec/detail/bells.hpp>

#include <support/catch.hpp>

#include <array>
#include <chrono>
#include <cstddef>

namespace bells_test {

using dataflux::completion_queue;
using dataflux::detail::bells;

TEST_CASE("bells: each that was added is one event, once, in order", "[exec]") {
  completion_queue queue;
  completion_queue other;
  std::array<dataflux::completion_event, 8> events;
  bells all;
  CHECK(all.empty());
  all.add(queue, 7);
  all.add(other, 8);
  all.add(queue, 7);  // again
  CHECK_FALSE(all.empty());
  CHECK(queue.next(events, std::chrono::seconds(0)) == 0);
  all.ring();
  CHECK(all.empty());
  all.ring();
  REQUIRE(queue.next(events, std::chrono::seconds(0)) == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(events.at(i).tag == 7);
    CHECK(events.at(i).code == dataflux::errc::ok);
  }
  REQUIRE(other.next(events, std::chrono::seconds(0)) == 1);
  CHECK(events[0].tag == 8);
}

TEST_CASE("bells: what was cleared does not ring", "[exec]") {
  completion_queue queue;
  std::array<dataflux::completion_event, 1> events;
  bells all;
  all.add(queue, 1);
  all.clear();
  CHECK(all.empty());
  all.ring();
  CHECK(queue.next(events, std::chrono::seconds(0)) == 0);
}

}  // namespace bells_test
