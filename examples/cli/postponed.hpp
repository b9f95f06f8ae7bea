#pragma once

#include <dataflux/exec/scheduler.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>

namespace cli {

/// Questions that other threads answer, and the work that comes of it for the thread that asked.
/// Thread safety: settle() from any thread, the rest from the one that asks.
class postponed {
 public:
  /// One question more is open.
  void expect() {
    std::scoped_lock lock(mutex_);
    ++open_;
  }
  /// It is answered; `work`, which may be none, is to be done.
  void settle(dataflux::task work) {
    std::scoped_lock lock(mutex_);
    --open_;
    if (work) work_.push_back(std::move(work));
    answered_.notify_one();
  }
  /// Does the work that there is, until no more than `most` questions are open.
  void finish(std::size_t most = 0) {
    std::unique_lock lock(mutex_);
    while (open_ > most || !work_.empty()) {
      answered_.wait(lock, [&] { return open_ <= most || !work_.empty(); });
      if (work_.empty()) continue;
      auto next = std::exchange(work_.front(), {});
      work_.pop_front();
      lock.unlock();
      next();
      lock.lock();
    }
  }

 private:
  std::mutex mutex_{};
  std::condition_variable answered_{};
  std::size_t open_{0};
  std::deque<dataflux::task> work_{};
};

}  // namespace cli
