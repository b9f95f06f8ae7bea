#pragma once

#include <dataflux/detail/unique_function.hpp>
#include <dataflux/exec/detail/scheduler.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>

#include <coroutine>
#include <memory>
#include <utility>

/// `co_await` on what a submit_ function gives, in coroutines of any type of yours:
///
///     task<void> load(object_store& store) {
///       auto asked = store.submit_stat({.bucket = "data", .object = "o"});
///       auto found = co_await std::move(asked);                  // a result<object_metadata>
///       auto read = submit_read_text(context, {.bucket = "data", .object = "o"});
///       auto text = co_await resume_on(loop, std::move(read));   // goes on on `loop`
///     }
///
/// Begin the operation in a statement of its own, as here: g++ 12 destroys a braced request twice
/// that stands inside the co_await expression, which corrupts the heap without a word.
///
/// No other header includes this one: the library itself has no coroutines.
///
/// Errors: the result<T> that operation::take() would give.
/// Threads: without resume_on the coroutine goes on on the thread that brings the result, which is
/// one of the store's. Until it awaits again or ends it must not block there, nor destroy the
/// store. An operation that has ended before it is awaited does not suspend the coroutine.
/// Lifetime: the operation moves into the coroutine. Destroying a coroutine that is suspended here
/// cancels the operation and waits for its end. That is allowed on the thread that would resume it;
/// elsewhere, as of any coroutine, only where it cannot be about to go on. To cancel from any
/// thread, request a stop of the call_limits: the coroutine goes on with errc::cancelled.
/// Cost: none without resume_on, an allocation with it. Awaiting does not deepen the stack, however
/// many operations have ended before they were awaited. What resumes whom at the end of a coroutine
/// is the business of your task type: chains of symmetric transfer overflow the stack on g++ 12
/// without optimisation.
namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

template <class T>
class operation_awaiter {
 public:
  explicit operation_awaiter(operation<T> awaited) noexcept : awaited_(std::move(awaited)) {}
  operation_awaiter(const operation_awaiter&) = delete;
  operation_awaiter& operator=(const operation_awaiter&) = delete;
  ~operation_awaiter() {
    if (awaited_.valid()) awaited_.on_ready({});
  }

  bool await_ready() const { return awaited_.poll(); }
  bool await_suspend(std::coroutine_handle<> coroutine) {
    return awaited_.on_ready([coroutine] { coroutine.resume(); });
  }
  result<T> await_resume() { return awaited_.take(); }

 private:
  operation<T> awaited_;
};

template <class T, class Post>
class posted_awaiter {
 public:
  posted_awaiter(Post post, operation<T> awaited)
      : post_(std::move(post)), awaited_(std::move(awaited)) {}
  posted_awaiter(const posted_awaiter&) = delete;
  posted_awaiter& operator=(const posted_awaiter&) = delete;
  ~posted_awaiter() {
    if (awaited_.valid()) awaited_.on_ready({});
    if (suspended_ != nullptr) *suspended_ = nullptr;
  }

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) {
    suspended_ = std::make_shared<std::coroutine_handle<>>(coroutine);
    auto resume = [suspended = suspended_] {
      if (const auto handle = std::exchange(*suspended, nullptr)) handle.resume();
    };
    // The awaiter may be gone as soon as one of them was posted.
    auto post = post_;
    if (!awaited_.on_ready([post, resume]() mutable { post(std::move(resume)); })) {
      post(std::move(resume));
    }
  }
  result<T> await_resume() {
    suspended_.reset();
    return awaited_.take();
  }

 private:
  Post post_;
  operation<T> awaited_;
  std::shared_ptr<std::coroutine_handle<>> suspended_{};
};

}  // namespace detail

template <class T>
detail::operation_awaiter<T> operator co_await(operation<T>&& awaited) noexcept {
  return detail::operation_awaiter<T>(std::move(awaited));
}

/// Awaits `awaited`, and goes on where `post` runs what it is given, also when the operation has
/// ended before. `post` is a copyable callable that takes a function of no arguments; it is called
/// on a thread of the store's, or inside co_await, and does not run the function before it returns.
template <class Post, class T>
detail::posted_awaiter<T, Post> resume_by(Post post, operation<T>&& awaited) {
  return {std::move(post), std::move(awaited)};
}
/// The same on a scheduler, which outlives the coroutine: object_store::executor(), say.
template <class T>
auto resume_on(scheduler& where, operation<T>&& awaited) {
  return resume_by([to = &where](unique_function<void()> resume) { to->post(std::move(resume)); },
                   std::move(awaited));
}

}  // namespace dataflux::inline DATAFLUX_ABI
