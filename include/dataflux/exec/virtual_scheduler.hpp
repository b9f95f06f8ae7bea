#pragma once

#include <dataflux/exec/detail/timer_queue.hpp>
#include <dataflux/exec/scheduler.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>

namespace dataflux::inline DATAFLUX_ABI {

/// A scheduler whose clock only the test moves: its tasks are deterministic and take no real time.
/// The clock starts at one second, so that no time is zero by accident.
///
/// Errors: none; run() does not return while a task always adds another one.
///
/// Lifetime: remaining tasks are destroyed with it, without running.
///
/// Threads: one thread at a time posts, runs and reads the clock.
///
/// Cost: that of a queue for a task, O(log n) for a timer.
class virtual_scheduler final : public scheduler {
 public:
  virtual_scheduler() = default;
  DATAFLUX_INLINE ~virtual_scheduler() override;
  time_point now() const noexcept override { return now_; }
  void post(task work) override { ready_.push_back(std::move(work)); }
  timer_id at(time_point when, task work) override { return timers_.add(when, std::move(work)); }
  bool cancel(timer_id id) noexcept override { return timers_.cancel(id); }
  bool is_current() const noexcept override { return !ending_; }

  /// Runs one task, moving the clock to it if it is a timer. False when nothing waits; a timer at
  /// `never` does not count.
  bool run_one();
  /// Runs until nothing waits; returns the number of tasks run. With a self-renewing timer it never
  /// ends: use run_until then.
  std::size_t run();
  /// Runs everything due up to `when`, then sets the clock to `when`; run() if that is `never`.
  std::size_t run_until(time_point when);
  std::size_t run_for(duration wait) { return run_until(deadline_after(now_, wait)); }
  /// Tasks and timers that wait.
  std::size_t pending() const noexcept { return ready_.size() + timers_.size(); }

 private:
  time_point now_{std::chrono::seconds(1)};
  std::deque<task> ready_{};
  detail::timer_queue timers_{};
  bool ending_{false};
};

/// The same with its own thread, which runs tasks as soon as they are posted: for tests of code
/// that blocks. Blocking calls take no real time: when no task is left the clock moves to the next
/// timer at once.
///
///     virtual_thread clock;
///     memory_store store(clock, {.rtt = 20ms});
///     auto text = read_text(store, {.bucket = "b", .object = "o"});    // 20 ms of the clock's
///
/// With several threads the order of tasks, and so the times, differ from run to run. A single
/// thread that blocks for each call sees the same each time.
///
/// Lifetime: it outlives the stores and calls on it. Its destructor runs no more tasks, destroys
/// waiting ones, and joins the thread; its own tasks must not call it.
///
/// Threads: all members from any thread.
///
/// Cost: one thread, and a lock for each task.
class virtual_thread final : public scheduler {
 public:
  virtual_thread();
  DATAFLUX_INLINE ~virtual_thread() override;
  DATAFLUX_INLINE time_point now() const noexcept override;
  DATAFLUX_INLINE void post(task work) override;
  DATAFLUX_INLINE timer_id at(time_point when, task work) override;
  DATAFLUX_INLINE bool cancel(timer_id id) noexcept override;
  DATAFLUX_INLINE bool is_current() const noexcept override;

 private:
  void loop();

  mutable std::mutex mutex_{};
  std::condition_variable arrived_{};
  time_point now_{std::chrono::seconds(1)};
  std::deque<task> ready_{};
  detail::timer_queue timers_{};
  bool ending_{false};
  std::thread thread_{};  ///< last: it uses the members above
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/exec/impl/virtual_scheduler.ipp>
#endif
