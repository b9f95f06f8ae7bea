#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/unique_function.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI {

/// Work to run once.
using task = unique_function<void()>;

/// Names a timer until it has fired or was cancelled; zero names none.
enum class timer_id : std::uint64_t { none = 0 };

/// Time and the thread on which everything of one call happens. Features never sleep or spawn a
/// thread: they wait by a scheduler and take the time from it. Implementations: each I/O thread of
/// a transport, and virtual_scheduler for simulations and tests.
///
/// Errors: a task must not block, and may throw std::bad_alloc only: then it is destroyed, and the
/// scheduler goes on. post() and at() throw std::bad_alloc, too. The caller then ends the
/// call that the task was for with resource_exhausted (detail/short_of_memory.hpp).
///
/// Lifetime: a task that is still waiting when the scheduler is destroyed is destroyed without
/// being run.
///
/// Threads: post, at, cancel and now may be called from any thread. Tasks run one at a time on the
/// scheduler's thread.
class scheduler {
 public:
  scheduler() = default;
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;
  virtual ~scheduler() = default;

  virtual time_point now() const noexcept = 0;
  /// Runs `work` soon, after everything posted before it. Cost: one short lock; one wake-up of the
  /// thread per batch of posts.
  virtual void post(task work) = 0;
  /// Runs `work` once `when` has come, not before. Tasks of equal time run in order of the calls.
  virtual timer_id at(time_point when, task work) = 0;
  /// Forgets a timer. False if it has fired, is about to, or never was.
  virtual bool cancel(timer_id id) noexcept = 0;
  /// True on the thread that runs this scheduler's tasks.
  virtual bool is_current() const noexcept = 0;
};

}  // namespace dataflux::inline DATAFLUX_ABI
