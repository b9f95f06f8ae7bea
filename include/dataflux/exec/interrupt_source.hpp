#pragma once

#include <dataflux/result.hpp>

#include <memory>
#include <stop_token>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
class interrupt_watch;
}

/// Turns SIGINT, SIGTERM and SIGHUP into a stop request, so that an interrupted program cleans up:
/// it aborts uploads and removes temporary files.
///
///     auto signals = interrupt_source::create().value();
///     fast_list_request request{.bucket = "b", .limits = {.stop = signals.token()}};
///     ...
///     return signals.signal() != 0 ? 128 + signals.signal() : 0;
///
/// The first signal stops the token, on the source's own thread. A second one has the action from
/// before the source: usually it ends the program at once. A signal that is ignored then (nohup)
/// stays ignored. Blocking kernel calls are restarted if the kernel can do that.
///
/// Errors: those of create(). A process has one source at a time.
///
/// Lifetime: destroying it restores the signals' actions; do not do that in a stop callback. In the
/// child of a fork signals have those actions, too. Movable.
///
/// Threads: all const members from any thread.
///
/// Cost: one thread that sleeps.
class interrupt_source {
 public:
  /// failed_precondition if the process has one already; resource_exhausted if no thread can be
  /// started.
  static result<interrupt_source> create();

  interrupt_source(interrupt_source&&) noexcept;
  interrupt_source& operator=(interrupt_source&&) noexcept;
  ~interrupt_source();

  std::stop_token token() const noexcept;
  /// The first signal, or 0. Valid once the token is stopped.
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
