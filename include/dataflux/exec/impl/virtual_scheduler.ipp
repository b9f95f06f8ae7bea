#pragma once

#include <dataflux/exec/virtual_scheduler.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE virtual_scheduler::~virtual_scheduler() {
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

}  // namespace dataflux::inline DATAFLUX_ABI
