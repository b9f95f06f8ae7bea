#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/exec/fork.hpp>
#include <dataflux/result.hpp>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// What an operation and its producer share: the result's place and the way to cancel.
template <class T>
struct operation_state {
  explicit operation_state(std::stop_token caller)
      : caller_stop(std::move(caller), forward{&stop}) {}

  std::stop_source stop{};
  std::mutex mutex{};
  std::condition_variable finished{};
  std::optional<result<T>> outcome{};
  const std::uint64_t born{fork_generation()};
  bool done{false};  ///< stays true after the outcome was taken
  completion_queue* queue{nullptr};
  std::uint64_t tag{0};
  /// Passes a stop requested on the caller's own token on to `stop`.
  struct forward {
    std::stop_source* target;
    /// Works on a copy: the stop may complete the call, and so destroy the state, before it
    /// returns.
    void operator()() const noexcept {
      const std::stop_source source = *target;
      source.request_stop();
    }
  };
  std::stop_callback<forward> caller_stop;  ///< after `stop`, which it may use at once

  void complete(result<T> value) {
    std::scoped_lock lock(mutex);
    const errc code = value ? errc::ok : value.error().code();
    outcome.emplace(std::move(value));
    done = true;
    finished.notify_all();
    // Under the lock: the operation cannot end, nor its queue then be destroyed, during the push.
    if (queue != nullptr) queue->push({tag, code});
  }
};

}  // namespace detail

/// A call under way: wait for it, poll it, cancel it, take its result.
///
/// Destroying an operation that has not finished cancels it and waits for its end, which comes
/// soon, because it may be writing into the caller's memory until then.
/// Thread safety: one thread at a time uses an operation; cancel() may come from any thread as long
/// as nobody moves, takes or destroys the operation at that moment (wait() first, then take()).
/// In the child of a fork an inherited operation counts as finished with failed_precondition; its
/// state, whose producer is in the parent, is leaked.
template <class T>
class [[nodiscard]] operation {
 public:
  operation() noexcept = default;
  explicit operation(std::shared_ptr<detail::operation_state<T>> state) noexcept
      : state_(std::move(state)) {}
  operation(operation&&) noexcept = default;
  operation& operator=(operation&& other) noexcept {
    if (this != &other) {
      finish();
      state_ = std::move(other.state_);
    }
    return *this;
  }
  ~operation() { finish(); }

  /// False for a default-constructed, moved-from or taken operation; only then no member below
  /// may be called.
  bool valid() const noexcept { return state_ != nullptr; }
  /// True once the result is there.
  bool poll() const {
    if (inherited()) return true;
    std::scoped_lock lock(state_->mutex);
    return state_->done;
  }
  void wait() const {
    if (inherited()) return;
    std::unique_lock lock(state_->mutex);
    state_->finished.wait(lock, [this] { return state_->done; });
  }
  /// True if it finished within `limit`.
  bool wait_for(duration limit) const {
    const time_point until = deadline_after(clock::now(), limit);
    if (inherited()) return true;
    if (until == never) return wait(), true;
    std::unique_lock lock(state_->mutex);
    return state_->finished.wait_until(lock, until, [this] { return state_->done; });
  }
  /// Asks for an early end; the result is still to be waited for, usually errc::cancelled.
  void cancel() const noexcept {
    if (inherited()) return;
    const std::stop_source source = state_->stop;  // outlives the operation's end during the call
    source.request_stop();
  }
  /// Waits and gives the result away; valid() is false afterwards.
  result<T> take() {
    if (inherited()) {
      leak();
      return forked_error("operation");
    }
    wait();
    auto state = std::move(state_);
    std::scoped_lock lock(state->mutex);
    return std::move(*state->outcome);
  }
  /// Pushes {tag, code} into `queue` when the result is there, or now if it is already. Once per
  /// operation; the queue outlives it.
  void notify(completion_queue& queue, std::uint64_t tag) const {
    if (inherited()) return queue.push({tag, errc::failed_precondition});
    std::unique_lock lock(state_->mutex);
    if (!state_->done) {
      state_->queue = &queue;
      state_->tag = tag;
      return;
    }
    const errc code = *state_->outcome ? errc::ok : state_->outcome->error().code();
    lock.unlock();
    queue.push({tag, code});
  }

 private:
  void finish() noexcept {
    if (state_ == nullptr) return;
    if (inherited()) return leak();
    cancel();
    wait();
    state_.reset();
  }
  bool inherited() const noexcept { return state_->born != fork_generation(); }
  void leak() noexcept {
    static_cast<void>(new (std::nothrow) std::shared_ptr<detail::operation_state<T>>(state_));
    state_.reset();
  }
  std::shared_ptr<detail::operation_state<T>> state_{};
};

/// Makes an operation out of a call in callback form. `start` is called at once with a completion;
/// `limits.stop` is replaced by a token that stops on operation::cancel as well as on the caller's
/// own. Cost: one allocation, and a second one for the stop state.
template <class T, class Start>
operation<T> start_operation(call_limits& limits, Start&& start) {
  auto state = std::make_shared<detail::operation_state<T>>(std::move(limits.stop));
  limits.stop = state->stop.get_token();
  start([state](result<T> outcome) { state->complete(std::move(outcome)); });
  return operation<T>(std::move(state));
}

}  // namespace dataflux::inline DATAFLUX_ABI
