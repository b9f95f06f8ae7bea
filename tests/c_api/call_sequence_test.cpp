#include <c_api/call_sequence.hpp>
#include <c_api/harness.hpp>

#include <cstddef>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace c_api_call_sequence_test {

TEST_CASE("c_api: any calls in any order", "[c_api]") {
  c_api_test::world w(2);
  fill_for_calls(w.server);
  // More of them, or the one that failed: DATAFLUX_CALLS=FIRST-LAST.
  unsigned first = 0;
  unsigned last = 120;
  if (const char* const asked = std::getenv("DATAFLUX_CALLS")) {
    char* rest = nullptr;
    first = static_cast<unsigned>(std::strtoul(asked, &rest, 10));
    last = *rest == '-' ? static_cast<unsigned>(std::strtoul(rest + 1, nullptr, 10)) : first;
  }
  for (unsigned seed = first; seed <= last; ++seed) {
    UNSCOPED_INFO("DATAFLUX_CALLS=" << seed);
    std::mt19937 dice(seed);
    std::vector<std::byte> input(400 + dice() % 3000);
    for (std::byte& each : input) each = static_cast<std::byte>(dice());
    play_calls(w.server.endpoint(), input);
  }
  SUCCEED();
}

}  // namespace c_api_call_sequence_test
