#include <dataflux/exec/detail/fork.hpp>

#include <support/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

namespace fork_test {

namespace {

/// True if the child of a fork can write to the descriptor.
bool child_has(int writing_end) {
  const pid_t child = ::fork();
  if (child == 0) {
    const char byte = 'x';
    ::_exit(::write(writing_end, &byte, 1) == 1 ? 0 : 1);
  }
  int status = -1;
  CHECK(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("fork: the child closes what is tracked, and nothing else", "[exec][fork]") {
  const auto generation = dataflux::detail::fork_generation();
  int tracked[2];
  int other[2];
  REQUIRE(::pipe(tracked) == 0);
  REQUIRE(::pipe(other) == 0);
  CHECK(child_has(tracked[1]));
  dataflux::detail::track_descriptor(tracked[1]);
  CHECK_FALSE(child_has(tracked[1]));
  dataflux::detail::untrack_descriptor(tracked[1]);
  CHECK(child_has(tracked[1]));
  CHECK(dataflux::detail::fork_generation() == generation);

  // Closed behind the library's back, and its number given to another file.
  dataflux::detail::track_descriptor(tracked[1]);
  REQUIRE(::dup2(other[1], tracked[1]) == tracked[1]);
  CHECK(child_has(tracked[1]));
  dataflux::detail::untrack_descriptor(tracked[1]);
  for (const int each : {tracked[0], tracked[1], other[0], other[1]}) ::close(each);
}

}  // namespace fork_test
