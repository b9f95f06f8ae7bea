#pragma once

#include <condition_variable>
#include <mutex>

/// One thread tells another that something has happened. May be destroyed as soon as wait() has
/// returned, which std::semaphore of libstdc++ 12 does not allow: its release() still touches it.
class flag {
 public:
  void raise() {
    std::scoped_lock lock(mutex_);
    raised_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return raised_; });
  }

 private:
  std::mutex mutex_{};
  std::condition_variable changed_{};
  bool raised_{false};
};
