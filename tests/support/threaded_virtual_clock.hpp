#pragma once

#include <dataflux/exec/virtual_scheduler.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

/// A virtual clock to which other threads may post: for steps on real files in simulated time,
/// which goes on while such a step is made.
class threaded_virtual_clock final : public dataflux::scheduler {
 public:
  dataflux::time_point now() const noexcept override { return now_; }
  void post(dataflux::task work) override {
    if (is_current()) return inner_.post(std::move(work));
    if (short_.exchange(false)) throw std::bad_alloc();
    std::scoped_lock lock(mutex_);
    crossed_.push_back(std::move(work));
    arrived_.notify_one();
  }
  dataflux::timer_id at(dataflux::time_point when, dataflux::task work) override {
    return inner_.at(when, std::move(work));
  }
  bool cancel(dataflux::timer_id id) noexcept override { return inner_.cancel(id); }
  bool is_current() const noexcept override { return std::this_thread::get_id() == owner_; }

  /// The next post of another thread finds no memory.
  void be_short_once() noexcept { short_ = true; }
  /// Whether one still is to.
  bool is_short() const noexcept { return short_; }

  /// Runs one task; where there is none waits for one of another thread. False if none comes.
  bool step() {
    if (inner_.pending() == 0) {
      std::unique_lock lock(mutex_);
      if (!arrived_.wait_for(lock, std::chrono::seconds(60), [&] { return !crossed_.empty(); })) {
        return false;
      }
    }
    std::deque<dataflux::task> crossed;
    {
      std::scoped_lock lock(mutex_);
      crossed.swap(crossed_);
    }
    for (auto& work : crossed) inner_.post(std::move(work));
    inner_.run_one();
    now_ = inner_.now();
    return true;
  }

 private:
  const std::thread::id owner_{std::this_thread::get_id()};
  dataflux::virtual_scheduler inner_{};
  std::atomic<dataflux::time_point> now_{inner_.now()};
  std::atomic<bool> short_{false};
  std::mutex mutex_{};
  std::condition_variable arrived_{};
  std::deque<dataflux::task> crossed_{};
};
