#include "child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <array>
#include <utility>

using dataflux::errc;
using dataflux::error;

dataflux::result<child> child::start(const std::vector<std::string>& arguments) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return error(errc::resource_exhausted, "no pipe can be made");
  std::vector<std::string> texts{"dataflux_demo"};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(texts.size() + 1);
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  ::posix_spawn_file_actions_t files{};
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  // This program blocks the signals that it waits for; the child is to end by them.
  ::posix_spawnattr_t attributes{};
  ::posix_spawnattr_init(&attributes);
  ::sigset_t none{};
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  ::pid_t pid = -1;
  const int failed =
      ::posix_spawn(&pid, "/proc/self/exe", &files, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  ::close(ends[1]);
  if (failed != 0) {
    ::close(ends[0]);
    return error(errc::resource_exhausted, "no process can be started");
  }
  return child(pid, ends[0]);
}

child::child(child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::exchange(other.output_, -1)),
      said_(std::move(other.said_)) {}

child::~child() {
  if (pid_ > 0) {
    kill();
    wait();
  }
  if (output_ >= 0) ::close(output_);
}

dataflux::result<std::string> child::line() {
  for (;;) {
    const std::size_t end = said_.find('\n');
    if (end != std::string::npos) {
      std::string first = said_.substr(0, end);
      said_.erase(0, end + 1);
      return first;
    }
    std::array<char, 4096> some{};
    const auto count = ::read(output_, some.data(), some.size());
    if (count <= 0) return error(errc::aborted, "a process has ended before its work was done");
    said_.append(some.data(), static_cast<std::size_t>(count));
  }
}

void child::kill() noexcept { ::kill(pid_, SIGKILL); }

int child::wait() noexcept {
  int status = -1;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  return status;
}
