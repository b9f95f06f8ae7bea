#pragma once

#include <dataflux/exec/detail/signals.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE virtual_scheduler::~virtual_scheduler() {
  ending_ = true;
  // One by one, with all members alive: a task's destructor may cancel timers or post again.
  while (pending() > 0) {
    task dropped = timers_.take_due(never);
    if (dropped || ready_.empty()) continue;
    dropped = std::move(ready_.front());
    ready_.pop_front();
  }
}

DATAFLUX_INLINE bool virtual_scheduler::run_one() {
  task work;
  if (!ready_.empty()) {
    work = std::move(ready_.front());
    ready_.pop_front();
  } else if (timers_.next() != never) {
    now_ = std::max(now_, timers_.next());
    work = timers_.take_due(now_);
  } else {
    return false;
  }
  work();
  return true;
}

DATAFLUX_INLINE std::size_t virtual_scheduler::run() {
  std::size_t count = 0;
  while (run_one()) ++count;
  return count;
}

DATAFLUX_INLINE std::size_t virtual_scheduler::run_until(time_point when) {
  std::size_t count = 0;
  while (!ready_.empty() || timers_.next() <= when) {
    if (!run_one()) break;
    ++count;
  }
  if (when != never) now_ = std::max(now_, when);
  return count;
}

DATAFLUX_INLINE virtual_thread::virtual_thread() {
  const detail::all_signals_blocked quiet;
  thread_ = std::thread([this] { loop(); });
}

DATAFLUX_INLINE virtual_thread::~virtual_thread() {
  {
    std::scoped_lock lock(mutex_);
    ending_ = true;
    arrived_.notify_one();
  }
  thread_.join();
  // One by one and unlocked: a task's destructor may post again, or cancel.
  for (task dropped;; dropped = {}) {
    std::scoped_lock lock(mutex_);
    if (!ready_.empty()) {
      dropped = std::move(ready_.front());
      ready_.pop_front();
    } else if (dropped = timers_.take_due(never); !dropped) {
      break;
    }
  }
}

DATAFLUX_INLINE time_point virtual_thread::now() const noexcept {
  std::scoped_lock lock(mutex_);
  return now_;
}

DATAFLUX_INLINE void virtual_thread::post(task work) {
  std::scoped_lock lock(mutex_);
  ready_.push_back(std::move(work));
  arrived_.notify_one();
}

DATAFLUX_INLINE timer_id virtual_thread::at(time_point when, task work) {
  std::scoped_lock lock(mutex_);
  const timer_id id = timers_.add(when, std::move(work));
  arrived_.notify_one();
  return id;
}

DATAFLUX_INLINE bool virtual_thread::cancel(timer_id id) noexcept {
  // The task goes outside of the lock, as its destructor may come back.
  std::unique_lock lock(mutex_);
  const task dropped = timers_.take(id);
  lock.unlock();
  return static_cast<bool>(dropped);
}

DATAFLUX_INLINE bool virtual_thread::is_current() const noexcept {
  return std::this_thread::get_id() == thread_.get_id();
}

DATAFLUX_INLINE void virtual_thread::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [this] { return ending_ || !ready_.empty() || timers_.next() != never; });
    if (ending_) return;
    task work;
    if (!ready_.empty()) {
      work = std::move(ready_.front());
      ready_.pop_front();
    } else {
      now_ = std::max(now_, timers_.next());
      work = timers_.take_due(now_);
    }
    lock.unlock();
    work();
    work = {};
    lock.lock();
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI
