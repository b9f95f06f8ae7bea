#pragma once

#include <c_api/harness.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

/// A process for what might end one.
namespace c_api_test {

/// What a child tells, whatever becomes of it.
struct telling {
  std::int64_t number{0};
  char what[200]{};
};

class child {
 public:
  child()
      : telling_(static_cast<telling*>(::mmap(nullptr, sizeof(telling), PROT_READ | PROT_WRITE,
                                              MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child() { ::munmap(telling_, sizeof(telling)); }

  void tell(std::string_view what, std::int64_t number) noexcept {
    what.copy(telling_->what, std::min(what.size(), sizeof telling_->what - 1));
    telling_->what[std::min(what.size(), sizeof telling_->what - 1)] = '\0';
    telling_->number = number;
  }
  std::string told() const { return telling_->what + (" " + std::to_string(telling_->number)); }
  /// 0: what `body` gives is true. 1000 and the signal that has ended it.
  int run(const std::function<bool()>& body) {
    const ::pid_t pid = ::fork();
    if (pid == 0) {
      ::alarm(120);
      ::_exit(body() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

 private:
  telling* telling_;
};

/// One that tries each request once, of an emulator; `events` are kept.
inline client_ptr lean_client(const std::string& endpoint, std::uint32_t events = 0) {
  dataflux_client_options o;
  dataflux_client_options_init(&o, sizeof o);
  o.endpoint = endpoint.c_str();
  o.emulator = 1;
  o.io_threads = 2;
  o.max_attempts = 1;
  o.event_capacity = events;
  dataflux_client* made = nullptr;
  dataflux_client_create(&o, &made, nullptr);
  return client_ptr(made);
}

}  // namespace c_api_test
