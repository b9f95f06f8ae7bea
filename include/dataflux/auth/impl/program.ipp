#pragma once

#include <dataflux/auth/detail/program.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

inline constexpr std::size_t longest_output = std::size_t{64} << 10;

/// This process's variables, but for those that are given in their place; ended by null.
inline std::vector<char*> environment_with(const std::vector<std::string>& variables) {
  std::vector<char*> all;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view own{*each};
    const bool given = std::any_of(variables.begin(), variables.end(), [own](const auto& variable) {
      const std::size_t name = variable.find('=') + 1;
      return own.substr(0, name) == std::string_view{variable}.substr(0, name);
    });
    if (!given) all.push_back(*each);
  }
  for (const std::string& variable : variables) {
    all.push_back(const_cast<char*>(variable.c_str()));
  }
  all.push_back(nullptr);
  return all;
}

/// A program that runs in a process group of its own. Killed, and waited for, when this is
/// destroyed before it has ended.
class running_program {
 public:
  running_program() = default;
  running_program(const running_program&) = delete;
  running_program& operator=(const running_program&) = delete;
  ~running_program() {
    if (id_ > 0 && !ended_) ::kill(-id_, SIGKILL);
    while (id_ > 0 && !ended_ && ::waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (output_ >= 0) ::close(output_);
  }

  /// 0, or why not.
  int start(const std::vector<std::string>& words, const std::vector<std::string>& variables) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
    output_ = ends[0];
    // This end alone: the program's writes wait.
    ::fcntl(output_, F_SETFL, O_NONBLOCK);
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    std::vector<char*> surroundings = environment_with(variables);
    posix_spawn_file_actions_t files{};
    posix_spawnattr_t how{};
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&how);
    ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, ends[1], 1);
    ::posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    // The thread that starts it blocks all signals.
    sigset_t none{};
    sigset_t all{};
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&how, &none);
    ::posix_spawnattr_setsigdefault(&how, &all);
    ::posix_spawnattr_setpgroup(&how, 0);
    ::posix_spawnattr_setflags(
        &how,
        static_cast<short>(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    pid_t id = 0;
    const int failed =
        ::posix_spawnp(&id, arguments[0], &files, &how, arguments.data(), surroundings.data());
    ::posix_spawnattr_destroy(&how);
    ::posix_spawn_file_actions_destroy(&files);
    ::close(ends[1]);
    if (failed == 0) id_ = id;
    return failed;
  }

  /// Appends what there is, after waiting for `wait` at most. False: too much, or unreadable.
  bool read(std::string& into, std::chrono::milliseconds wait) {
    pollfd watched{.fd = at_end_ ? -1 : output_, .events = POLLIN, .revents = 0};
    ::poll(&watched, 1, static_cast<int>(wait.count()));
    while (!at_end_ && into.size() <= longest_output) {
      char piece[4096];
      const ssize_t got = ::read(output_, piece, sizeof piece);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno == EAGAIN;
      at_end_ = got == 0;
      into.append(piece, static_cast<std::size_t>(got));
    }
    return into.size() <= longest_output;
  }

  /// True once it has ended; others that it started may still run.
  bool ended() {
    if (ended_) return true;
    const pid_t got = ::waitpid(id_, &status_, WNOHANG);
    // Where the application ignores SIGCHLD no status is kept.
    ended_ = got == id_ || (got < 0 && errno == ECHILD);
    return ended_;
  }
  bool succeeded() const noexcept { return WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }
  std::string end() const {
    if (WIFEXITED(status_)) return "exit status " + std::to_string(WEXITSTATUS(status_));
    return "signal " + std::to_string(WTERMSIG(status_));
  }

 private:
  pid_t id_{0};
  int output_{-1};
  int status_{0};
  bool at_end_{false};
  bool ended_{false};
};

inline error program_error(errc code, const std::string& name, std::string_view what) {
  std::string text = "program \"" + name + "\": ";
  return {code, text.append(what)};
}

DATAFLUX_INLINE result<std::string> run_program(const program_call& what) {
  const std::vector<std::string>& words = what.words;
  if (words.empty()) return error{errc::invalid_argument, "the command is empty"};
  const std::string& name = words.front();
  running_program program;
  if (const int failed = program.start(words, what.variables); failed != 0) {
    errc code = errc::unavailable;
    if (failed == ENOENT || failed == ENOTDIR) code = errc::not_found;
    if (failed == EACCES || failed == EPERM) code = errc::permission_denied;
    return program_error(code, name,
                         "cannot be started: " + std::generic_category().message(failed));
  }
  const auto end = std::chrono::steady_clock::now() + what.limit;
  constexpr std::chrono::milliseconds step{20};
  std::string output;
  for (bool ended = false;;) {
    if (!program.read(output, ended ? std::chrono::milliseconds(0) : step)) {
      return program_error(errc::invalid_argument, name, "wrote more than 64 KiB");
    }
    if (ended) break;
    ended = program.ended();
    if (!ended && std::chrono::steady_clock::now() >= end) {
      return program_error(errc::deadline_exceeded, name,
                           "has not ended in time, so it was killed: run it by hand");
    }
  }
  if (program.succeeded()) return output;
  return program_error(errc::unauthenticated, name,
                       "failed with " + program.end() + ": run it by hand to see what it says");
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
