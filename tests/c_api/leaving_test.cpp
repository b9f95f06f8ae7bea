#include <c_api/harness.hpp>
#include <support/sanitized.hpp>

#include <sys/wait.h>

#include <cstdlib>
#include <string>

namespace c_api_leaving_test {

using c_api_test::world;

namespace {

/// How leaving.c ended.
int leave(const world& w, const std::string& how) {
  const std::string command = std::string(DATAFLUX_LEAVING) + " " + DATAFLUX_LIBRARY + " " +
                              w.server.endpoint() + " " + how;
  const int status = std::system(("timeout 120 " + command).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("c_api: a process ends with reads under way, memory handed out and a thread that waits",
          "[c_api]") {
  // The runtime of a sanitizer must be there before a library that was built with it is loaded.
  if (sanitized) return;
  world w(2);
  w.fill(40);
  for (const std::string how : {"exit", "return", "dlclose"}) {
    for (int round = 0; round < 10; ++round) {
      INFO(how << ", round " << round);
      CHECK(leave(w, how) == 0);
    }
  }
}

TEST_CASE("c_api: a thousand forks with reads open and memory handed out", "[c_api]") {
  // The runtime of a sanitizer must be there before a library that was built with it is loaded.
  if (sanitized) return;
  world w(2);
  w.fill(40);
  CHECK(leave(w, "forks") == 0);
}

}  // namespace c_api_leaving_test
