#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/result.hpp>

#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// A program to run.
struct program_call {
  /// Its path, or a name that PATH leads to, and its arguments.
  std::vector<std::string> words{};
  duration limit{};
  /// "NAME=VALUE", in place of this process's own of the same name.
  std::vector<std::string> variables{};
};

/// Runs a program without a shell and gives what it wrote to its standard output, at most 64 KiB of
/// it. It reads nothing and its standard
/// error is dropped, since that may hold a secret. It has a process group of its own, which is
/// killed when its time is over or when it writes too much.
///
/// Errors name the program alone: not_found and permission_denied, when it cannot be started;
/// unauthenticated for an exit status other than 0; deadline_exceeded; invalid_argument for too
/// much output; unavailable for the rest.
///
/// Threads: any; blocks until the program has ended.
result<std::string> run_program(const program_call& program);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/program.ipp>
#endif
