#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

/// How far a phase is.
struct progress_state {
  std::uint64_t objects{0};
  std::uint64_t bytes{0};
  /// Of what is known so far; 0 = unknown.
  std::uint64_t total_bytes{0};
  double seconds{0};
};

/// One line of text: bar, objects, bytes, rate and, when the total is known, time left.
std::string progress_line(std::string_view phase, const progress_state& state);

/// Writes a whole line to standard error; where a progress line stands there, in its place.
void print_line(std::string_view line);

/// A line on the terminal that shows how far a phase is; nothing when output goes elsewhere.
/// Drawn by a thread of its own four times a second; add() may be called from any thread.
class progress {
 public:
  /// `total_bytes` 0: unknown, then only counts are shown.
  progress(std::string phase, std::uint64_t total_bytes);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();

  /// More is to come than was known.
  void expect(std::uint64_t bytes) noexcept { total_.fetch_add(bytes, std::memory_order_relaxed); }
  void add(std::uint64_t objects, std::uint64_t bytes) noexcept {
    objects_.fetch_add(objects, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  double seconds() const noexcept;

 private:
  void draw() const;

  const std::string phase_;
  std::atomic<std::uint64_t> total_;
  const bool visible_;
  const std::chrono::steady_clock::time_point started_{std::chrono::steady_clock::now()};
  std::atomic<std::uint64_t> objects_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::mutex mutex_{};
  std::condition_variable ended_{};
  bool end_{false};
  std::thread drawer_{};
};
