#include <dataflux/auth/detail/program.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <string>

namespace program_test {

using namespace std::chrono_literals;
using dataflux::errc;
using dataflux::detail::auth::run_program;

namespace {

auto shell(const std::string& script, dataflux::duration limit = 20s) {
  return run_program({{"/bin/sh", "-c", script}, limit});
}

}  // namespace

TEST_CASE("run_program: gives the output, and no shell is between", "[auth]") {
  CHECK(run_program({{"printf", "%s|", "a b", "$HOME", "*"}, 20s}).value() == "a b|$HOME|*|");
  CHECK(shell("cat; echo end; echo SECRET >&2").value() == "end\n");
  CHECK(shell("head -c 65536 /dev/zero").value().size() == 65536);
  // The signals that its thread blocks are not blocked in it.
  CHECK(shell("kill -TERM $$; echo alive").error().message() ==
        "program \"/bin/sh\": failed with signal 15: run it by hand to see what it says");
}

TEST_CASE("run_program: each failure names the program, and shows nothing that it said", "[auth]") {
  CHECK(run_program({{"/nonexistent/x"}, 20s}).error().code() == errc::not_found);
  CHECK(run_program({{"/etc"}, 20s}).error().code() == errc::permission_denied);
  CHECK(run_program({{}, 20s}).error().code() == errc::invalid_argument);
  const auto failed = shell("echo SECRET; echo SECRET >&2; exit 3");
  CHECK(failed.error().code() == errc::unauthenticated);
  CHECK(failed.error().message() ==
        "program \"/bin/sh\": failed with exit status 3: run it by hand to see what it says");
  CHECK(shell("head -c 65537 /dev/zero").error().code() == errc::invalid_argument);
  CHECK(shell("yes").error().code() == errc::invalid_argument);
}

TEST_CASE("run_program: one that hangs is killed with what it started", "[auth]") {
  const auto begun = std::chrono::steady_clock::now();
  CHECK(shell("sleep 60 & sleep 60", 100ms).error().code() == errc::deadline_exceeded);
  CHECK(shell("exec >&-; sleep 60", 100ms).error().code() == errc::deadline_exceeded);
  // What goes on in the background is not waited for.
  CHECK(shell("sleep 3 & echo done").value() == "done\n");
  CHECK(std::chrono::steady_clock::now() - begun < 3s);
}

}  // namespace program_test
