#pragma once

#include <dataflux/exec/blocking_worker.hpp>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// The queue and the thread of one process. Never destroyed: the thread may sit in a blocking call
/// when the process ends.
struct blocking_worker {
  /// A forked child has no such thread, and the mutex may have been locked when it was forked:
  /// whose state this is must be known without touching the rest of it.
  const pid_t process{::getpid()};
  std::mutex mutex{};
  std::condition_variable arrived{};
  std::deque<task> waiting{};
  bool started{false};

  void work_forever() {
    for (;;) {
      std::unique_lock lock(mutex);
      arrived.wait(lock, [this] { return !waiting.empty(); });
      task next = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      next();
    }
  }

  /// Call with the mutex held. Signals stay with the application's threads.
  void start() {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      std::thread([this] { work_forever(); }).detach();
      started = true;
    } catch (const std::system_error&) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  static blocking_worker& of_this_process() {
    static std::atomic<blocking_worker*> instance{nullptr};
    blocking_worker* found = instance.load(std::memory_order_acquire);
    while (found == nullptr || found->process != ::getpid()) {
      auto* const fresh = new blocking_worker;
      if (instance.compare_exchange_strong(found, fresh, std::memory_order_acq_rel)) return *fresh;
      delete fresh;
    }
    return *found;
  }
};

}  // namespace detail

DATAFLUX_INLINE result<void> run_blocking(task work) {
  auto& worker = detail::blocking_worker::of_this_process();
  std::scoped_lock lock(worker.mutex);
  if (!worker.started) worker.start();
  if (!worker.started) {
    return error{errc::unavailable, "no thread can be started for a blocking step"}.with_retryable(
        true);
  }
  worker.waiting.push_back(std::move(work));
  worker.arrived.notify_one();
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI
