#pragma once

#include <dataflux/detail/config.hpp>

#include <csignal>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// While it lives, threads started by this one begin with every signal blocked. So no handler of
/// the application runs on a thread of the library, and SIGPIPE cannot strike there.
class all_signals_blocked {
 public:
  all_signals_blocked() noexcept {
    ::sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  all_signals_blocked(const all_signals_blocked&) = delete;
  all_signals_blocked& operator=(const all_signals_blocked&) = delete;
  ~all_signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  ::sigset_t before_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
