#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/exec/detail/stop_watch.hpp>
#include <dataflux/result.hpp>
#include <dataflux/unique_function.hpp>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <stop_token>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What an operation and its producer share, whatever the result's type: the way to
/// cancel, and who is told of the end. No template, so that it is compiled once for all types.
struct operation_base {
  explicit operation_base(const std::stop_token& caller) { caller_stop.begin(caller, *this); }

  std::stop_source stop{};
  std::mutex mutex{};
  std::condition_variable finished{};
  const process_stamp born{};
  bool done{false};  ///< stays true after the outcome was taken
  errc code{errc::ok};
  completion_queue* queue{nullptr};
  std::uint64_t tag{0};
  unique_function<void()> ready{};
  /// Of the caller's own token. Works on a copy: the stop may complete the call, and so destroy the
  /// state, before it returns.
  void stop_heard() noexcept {
    std::stop_source source = stop;
    source.request_stop();
  }
  stop_watch caller_stop{};

  /// The outcome is in its place: tells all who wait. `lock` is of the mutex.
  void completed(std::unique_lock<std::mutex> lock, errc with);
};

template <class T>
struct operation_state : operation_base {
  explicit operation_state(const std::stop_token& caller) : operation_base(caller) {}
  operation_state(const operation_state&) = delete;
  operation_state& operator=(const operation_state&) = delete;
  ~operation_state() {
    if (done) outcome.~result();
  }

  /// One that `limits.stop` from now on stops, too.
  static std::shared_ptr<operation_state> make(call_limits& limits) {
    auto made = std::make_shared<operation_state>(limits.stop);
    limits.stop = made->stop.get_token();
    return made;
  }
  /// What its producer calls. One type for all who start such an operation. A producer that goes
  /// away without a word was short of memory.
  static unique_function<void(result<T>)> completion(std::shared_ptr<operation_state> state) {
    return promise(std::move(state));
  }

  void complete(result<T> value) {
    std::unique_lock lock(mutex);
    const errc with = value ? errc::ok : value.error().code();
    ::new (static_cast<void*>(std::addressof(outcome))) result<T>(std::move(value));
    completed(std::move(lock), with);
  }

  union {
    result<T> outcome;  ///< there once `done`
  };

 private:
  class promise {
   public:
    explicit promise(std::shared_ptr<operation_state> state) noexcept : state_(std::move(state)) {}
    promise(promise&&) noexcept = default;
    promise& operator=(promise&&) = delete;
    ~promise() {
      // In the child of a fork it is the parent's.
      if (state_ != nullptr && !state_->born.inherited()) state_->complete(short_of_memory());
    }
    void operator()(result<T> value) { std::exchange(state_, {})->complete(std::move(value)); }

   private:
    std::shared_ptr<operation_state> state_;
  };
};

/// The side of an operation that does not know the type either. Members as operation says.
class operation_handle {
 public:
  operation_handle() noexcept = default;
  explicit operation_handle(std::shared_ptr<operation_base> state) noexcept
      : state_(std::move(state)) {}
  operation_handle(operation_handle&&) noexcept = default;
  operation_handle& operator=(operation_handle&& other) noexcept;
  ~operation_handle() { finish(); }

  bool valid() const noexcept { return state_ != nullptr; }
  bool poll() const;
  void wait() const;
  bool wait_for(duration limit) const;
  void cancel() const noexcept;
  void notify(completion_queue& queue, std::uint64_t tag) const;
  bool on_ready(unique_function<void()> then) const;

  bool inherited() const noexcept { return state_->born.inherited(); }
  /// Of an inherited one: its producer is in the parent.
  void leak() noexcept;
  /// Gives the state away; valid() is false afterwards.
  std::shared_ptr<operation_base> release() noexcept { return std::move(state_); }

 private:
  void finish() noexcept;
  std::shared_ptr<operation_base> state_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/exec/impl/operation_state.ipp>
#endif
