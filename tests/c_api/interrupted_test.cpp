#include <c_api/harness.hpp>

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

namespace c_api_interrupted_test {

using c_api_test::world;

namespace {

constexpr std::array waiting{"dataflux_queue_next", "dataflux_operation_wait",
                             "dataflux_writer_write", "dataflux_writer_lend",
                             "dataflux_shard_writer_write"};

/// interrupted.c, which lives in a process of its own; its alarm ends it where it hangs.
class program {
 public:
  program(const world& w, const char* function, const char* how) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    REQUIRE(::pipe(in.data()) == 0);
    REQUIRE(::pipe(out.data()) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::alarm(120);
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      ::execl(DATAFLUX_INTERRUPTED_PROGRAM, "interrupted", function, w.server.endpoint().c_str(),
              how, nullptr);
      ::_exit(99);
    }
    ::close(in[0]);
    ::close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }
  program(const program&) = delete;
  program& operator=(const program&) = delete;
  ~program() {
    ::close(in_);
    ::close(out_);
  }

  /// True when it has said something, which `line` has from now on; false when nothing came soon.
  bool said(std::string& line) const {
    ::pollfd look{out_, POLLIN, 0};
    if (::poll(&look, 1, 10) != 1) return false;
    std::array<char, 64> some{};
    const auto size = ::read(out_, some.data(), some.size());
    line.assign(some.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    return true;
  }
  /// What it says next; "" if it has ended.
  std::string next_line() const {
    std::string line;
    while (!said(line)) {
    }
    return line;
  }
  void interrupt() const { ::kill(pid_, SIGINT); }
  void go_on() const { REQUIRE(::write(in_, "\n", 1) == 1); }
  /// Its first thread waits for something.
  bool sleeps() const {
    std::ifstream in("/proc/" + std::to_string(pid_) + "/stat");
    std::string text;
    std::getline(in, text);
    const auto name_end = text.rfind(')');
    return name_end != std::string::npos && text.compare(name_end, 3, ") S") == 0;
  }
  int end() const {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return status;
  }

 private:
  ::pid_t pid_{};
  int in_{-1};
  int out_{-1};
};

/// Returns when it waits for a reply that does not come: what it has asked has arrived.
void until_it_waits(world& w, const program& p) {
  REQUIRE(p.next_line() == "waits\n");
  while (w.server.faults().hits() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

TEST_CASE("c_api: SIGINT ends the waiting of every function that waits; its handle goes on",
          "[c_api]") {
  const char* const function = GENERATE(from_range(waiting));
  INFO(function);
  world w(2);
  w.fill(1);
  w.hold();
  const program p(w, function, "handled");
  until_it_waits(w, p);
  // One that comes before the function waits is not for it.
  std::string line;
  do {
    p.interrupt();
  } while (!p.said(line));
  CHECK(line == "interrupted\n");
  w.server.faults().clear();
  p.go_on();
  const int status = p.end();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("c_api: SIGINT that nobody handles ends a process that waits", "[c_api]") {
  const char* const function = GENERATE(from_range(waiting));
  INFO(function);
  world w(2);
  w.fill(1);
  w.hold();
  const program p(w, function, "default");
  until_it_waits(w, p);
  while (!p.sleeps()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  p.interrupt();
  const int status = p.end();
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGINT);
}

}  // namespace c_api_interrupted_test
