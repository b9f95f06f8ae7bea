#pragma once

#include <dataflux/result.hpp>

#include <memory>
#include <stop_token>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
class interrupt_watch;
}

/// Turns SIGINT, SIGTERM and SIGHUP into a stop request, so that a program which is interrupted
/// cleans up: uploads are aborted, temporary files removed.
///
///     auto signals = interrupt_source::create().value();
///     fast_list_request request{.bucket = "b", .limits = {.stop = signals.token()}};
///     ...
///     return signals.signal() != 0 ? 128 + signals.signal() : 0;
///
/// The first signal stops the token, from a thread of the source's own. A second one does what it
/// did before the source was made: it ends the program at once, unless that was changed. A signal
/// that is ignored when the source is made (nohup) stays so. Calls that block in the kernel are
/// restarted where the kernel can do that.
///
/// Errors: create() says its own. There is one source at a time in a process.
///
/// Lifetime: destroying it, not from a stop callback, gives the signals their actions of before. In
/// the child of a fork signals do what they did before. Movable.
///
/// Threads: all const members from any thread.
///
/// Cost: one thread that sleeps.
class interrupt_source {
 public:
  /// failed_precondition where there is one already; resource_exhausted where no thread can be
  /// started.
  static result<interrupt_source> create();

  interrupt_source(interrupt_source&&) noexcept;
  interrupt_source& operator=(interrupt_source&&) noexcept;
  ~interrupt_source();

  std::stop_token token() const noexcept;
  /// The first signal that came; 0 when there was none. Valid once the token is stopped.
  int signal() const noexcept;

 private:
  explicit interrupt_source(std::unique_ptr<detail::interrupt_watch> watch) noexcept;
  void close() noexcept;
  std::unique_ptr<detail::interrupt_watch> watch_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/exec/impl/interrupt_source.ipp>
#endif
