#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

/// A line on the terminal that shows how far a phase is; nothing when output goes elsewhere.
/// Drawn by a thread of its own four times a second; add() may be called from any thread.
class progress {
 public:
  /// `total_bytes` 0: unknown, then only counts are shown.
  progress(std::string phase, std::uint64_t total_bytes);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();

  void add(std::uint64_t objects, std::uint64_t bytes) noexcept {
    objects_.fetch_add(objects, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  double seconds() const noexcept;

 private:
  void draw() const;

  const std::string phase_;
  const std::uint64_t total_;
  const bool visible_;
  const std::chrono::steady_clock::time_point started_{std::chrono::steady_clock::now()};
  std::atomic<std::uint64_t> objects_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::mutex mutex_{};
  std::condition_variable ended_{};
  bool end_{false};
  std::thread drawer_{};
};
