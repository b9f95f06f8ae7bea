#pragma once

#include <dataflux/result.hpp>

#include <sys/types.h>

#include <string>
#include <vector>

/// Another process of this very program, whose output is read line by line. Killed and waited for
/// when it is destroyed. Movable.
class child {
 public:
  static dataflux::result<child> start(const std::vector<std::string>& arguments);
  child(child&& other) noexcept;
  child& operator=(child&&) = delete;
  ~child();

  /// The next line it says; an error when it has ended without one.
  dataflux::result<std::string> line();
  /// SIGKILL: it has no say in it.
  void kill() noexcept;
  /// Until it has ended: 0 if all went well.
  int wait() noexcept;

 private:
  child(::pid_t pid, int output) noexcept : pid_(pid), output_(output) {}

  ::pid_t pid_;
  int output_;
  std::string said_{};  ///< and not taken yet
};
