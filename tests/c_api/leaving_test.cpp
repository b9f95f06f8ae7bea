#include <c_api/harness.hpp>
#include <support/sanitized.hpp>

#include <sys/wait.h>
#include <unistd.h>

namespace c_api_leaving_test {

using c_api_test::world;

namespace {

/// How leaving.c ended; the alarm ends it where it hangs.
int leave(const world& w, const char* how) {
  const ::pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(120);
    ::execl(DATAFLUX_LEAVING, "leaving", DATAFLUX_LIBRARY, w.server.endpoint().c_str(), how,
            nullptr);
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("c_api: a process ends with reads under way, memory handed out and a thread that waits",
          "[c_api]") {
  // The runtime of a sanitizer must be there before a library that was built with it is loaded.
  if (sanitized) return;
  world w(2);
  w.fill(40);
  for (const char* const how : {"exit", "return", "dlclose"}) {
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
