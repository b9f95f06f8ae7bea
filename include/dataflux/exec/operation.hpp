#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/exec/detail/fork.hpp>
#include <dataflux/exec/detail/operation_state.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

/// A call under way: wait for it, poll it, cancel it, take its result.
///
/// Errors: those of the call, from take(); resource_exhausted if memory is short at any step,
/// perhaps without names or attempts. In the child of a fork an inherited operation counts as
/// finished with failed_precondition; its state, whose producer is in the parent, is leaked.
///
/// Lifetime: destroying an operation that has not finished cancels it and waits for its end, which
/// comes soon. Until then the call may be writing into the caller's memory.
///
/// Threads: one thread at a time uses an operation. Any thread may call cancel(), unless another
/// one moves, takes or destroys the operation at that moment (wait() first, then take()).
///
/// Cost: a lock for each call, and two allocations for an operation.
template <class T>
class [[nodiscard]] operation {
 public:
  operation() noexcept = default;
  explicit operation(std::shared_ptr<detail::operation_state<T>> state) noexcept
      : handle_(std::move(state)) {}

  /// False for a default-constructed, moved-from or taken operation; only then no member below
  /// may be called.
  bool valid() const noexcept { return handle_.valid(); }
  /// True once it has a result.
  bool poll() const { return handle_.poll(); }
  void wait() const { handle_.wait(); }
  /// True if it finished within `limit`.
  bool wait_for(duration limit) const { return handle_.wait_for(limit); }
  /// Asks for an early end. Still wait for the result, usually errc::cancelled.
  void cancel() const noexcept { handle_.cancel(); }
  /// Waits and returns the result; valid() is false afterwards.
  result<T> take() {
    if (handle_.inherited()) {
      handle_.leak();
      return detail::forked_error("operation");
    }
    handle_.wait();
    const auto state = handle_.release();
    std::scoped_lock lock(state->mutex);
    return std::move(static_cast<detail::operation_state<T>&>(*state).outcome);
  }
  /// Pushes {tag, code} into `queue` with the result, at once if it has one already. Once per
  /// operation; the queue outlives it.
  void notify(completion_queue& queue, std::uint64_t tag) const { handle_.notify(queue, tag); }
  /// Calls `then` once when the result is there, on the thread that brings it: it must not block or
  /// throw, and may take or destroy the operation. An empty one takes the one before it back.
  /// False if the result is there already: then it is not called, the one before it was, or is
  /// being called.
  bool on_ready(unique_function<void()> then) const { return handle_.on_ready(std::move(then)); }

 private:
  detail::operation_handle handle_{};
};

/// Makes an operation of a call in callback form. `start` is called at once with a completion;
/// `limits.stop` is replaced by a token that stops on operation::cancel as well as on the caller's
/// own.
///
/// Cost: one allocation, and a second one for the stop state.
template <class T, class Start>
operation<T> start_operation(call_limits& limits, Start&& start) {
  auto state = detail::operation_state<T>::make(limits);
  start(detail::operation_state<T>::completion(state));
  return operation<T>(std::move(state));
}

}  // namespace dataflux::inline DATAFLUX_ABI
