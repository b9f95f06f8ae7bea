#pragma once

#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/exec/detail/blocking_worker.hpp>
#include <dataflux/exec/detail/signals.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A queue and its threads in one process. Never destroyed: a thread may sit in a blocking call
/// when the process ends.
struct blocking_worker {
  explicit blocking_worker(std::size_t threads) : most(threads) {}

  /// A forked child has no such thread, and the mutex may have been locked when it was forked:
  /// whose state this is must be known without touching the rest of it.
  const process_stamp born{};
  std::mutex mutex{};
  std::condition_variable arrived{};
  std::deque<task> waiting{};
  const std::size_t most;
  std::size_t started{0};
  std::size_t idle{0};

  void work_forever() {
    for (;;) {
      std::unique_lock lock(mutex);
      ++idle;
      arrived.wait(lock, [this] { return !waiting.empty(); });
      --idle;
      task next = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      detail::within_memory(next);
    }
  }

  /// Call with the mutex held. Signals stay with the application's threads.
  void start() {
    const all_signals_blocked guard;
    try {
      std::thread([this] { work_forever(); }).detach();
      ++started;
    } catch (const std::bad_alloc&) {
      if (started == 0) throw;
    } catch (const std::exception&) {  // for want of threads
    }
  }

  result<void> run(task work) {
    std::scoped_lock lock(mutex);
    if (started < most && waiting.size() >= idle) start();
    if (started == 0) {
      return error{errc::unavailable, "no thread can be started for a blocking step"}
          .with_retryable(true);
    }
    waiting.push_back(std::move(work));
    arrived.notify_one();
    return {};
  }

  static blocking_worker& of_this_process(std::atomic<blocking_worker*>& instance,
                                          std::size_t threads) {
    blocking_worker* found = instance.load(std::memory_order_acquire);
    while (found == nullptr || found->born.inherited()) {
      auto* const fresh = new blocking_worker(threads);
      if (instance.compare_exchange_strong(found, fresh, std::memory_order_acq_rel)) return *fresh;
      delete fresh;
    }
    return *found;
  }
};

DATAFLUX_INLINE result<void> run_blocking(task work) {
  static std::atomic<blocking_worker*> instance{nullptr};
  return blocking_worker::of_this_process(instance, 1).run(std::move(work));
}

DATAFLUX_INLINE result<void> run_file_step(task work) {
  constexpr std::size_t threads = 8;
  static std::atomic<blocking_worker*> instance{nullptr};
  return blocking_worker::of_this_process(instance, threads).run(std::move(work));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
