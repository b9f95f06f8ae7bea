#pragma once

#include <dataflux/exec/scheduler.hpp>
#include <dataflux/exec/timer_queue.hpp>

#include <cstddef>
#include <deque>

namespace dataflux::inline DATAFLUX_ABI {

/// A scheduler whose clock moves only when it is told to: whatever runs on it is deterministic and
/// takes no real time. The clock starts at one second, so that no time is zero by accident.
///
/// Thread safety: none; one thread posts, runs and looks.
class virtual_scheduler final : public scheduler {
 public:
  virtual_scheduler() = default;
  ~virtual_scheduler() override;
  time_point now() const noexcept override { return now_; }
  void post(task work) override { ready_.push_back(std::move(work)); }
  timer_id at(time_point when, task work) override { return timers_.add(when, std::move(work)); }
  bool cancel(timer_id id) noexcept override { return timers_.cancel(id); }
  bool is_current() const noexcept override { return true; }

  /// Runs one task, moving the clock to it if it is a timer. False when nothing waits; a timer at
  /// `never` counts as nothing.
  bool run_one();
  /// Runs until nothing waits; gives the number of tasks run. A self-renewing timer never ends it:
  /// use run_until then.
  std::size_t run();
  /// Runs everything due up to `when`, then sets the clock to `when`; run() if that is `never`.
  std::size_t run_until(time_point when);
  std::size_t run_for(duration wait) { return run_until(deadline_after(now_, wait)); }
  /// Tasks and timers that wait.
  std::size_t pending() const noexcept { return ready_.size() + timers_.size(); }

 private:
  time_point now_{std::chrono::seconds(1)};
  std::deque<task> ready_{};
  timer_queue timers_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/exec/impl/virtual_scheduler.ipp>
#endif
