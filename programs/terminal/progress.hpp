#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

/// How far a phase is.
struct progress_state {
  std::uint64_t objects{0};
  /// Of what is known so far, here and below; 0 = unknown.
  std::uint64_t all_objects{0};
  std::uint64_t bytes{0};
  std::uint64_t all_bytes{0};
  /// What has been transferred meanwhile, that of parts which are not complete, too; the rate is
  /// then that of these. Nothing = not asked.
  std::optional<std::uint64_t> wire_bytes{};
  double seconds{0};
  /// What was finished last.
  std::string_view last{};
};

/// One line of text that takes at most `columns`: phase, bar, objects, bytes, those on the wire,
/// rate, time left where the total is known, and what was finished last. What has no room is left
/// out: first the end of that name and all of it, then the bar, the bytes on the wire, the rate,
/// the time left, the objects. A single object is not counted.
std::string progress_line(std::string_view phase, const progress_state& state, std::size_t columns);

/// Writes a whole line to standard error; where a progress line stands there, in its place.
void print_line(std::string_view line);

/// A line on the terminal that shows how far a phase is; nothing when output goes elsewhere.
/// Drawn by a thread of its own four times a second; add() may be called from any thread.
class progress {
 public:
  using meter = std::function<std::uint64_t()>;

  /// `total_bytes` 0: unknown, then only counts are shown. `wire` gives what went over the
  /// network since any time; asked by the drawing thread.
  explicit progress(std::string phase, std::uint64_t total_bytes = 0, meter wire = {});
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();

  /// More is to come than was known.
  void expect(std::uint64_t objects, std::uint64_t bytes) noexcept {
    all_objects_.fetch_add(objects, std::memory_order_relaxed);
    all_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  void add(std::uint64_t objects, std::uint64_t bytes) noexcept {
    objects_.fetch_add(objects, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  /// The name of what was finished just now.
  void finished(std::string_view name);
  double seconds() const noexcept;

 private:
  void draw() const;

  const std::string phase_;
  const meter wire_;
  const std::uint64_t wire_before_;
  const bool visible_;
  const std::chrono::steady_clock::time_point started_{std::chrono::steady_clock::now()};
  std::atomic<std::uint64_t> all_objects_{0};
  std::atomic<std::uint64_t> all_bytes_;
  std::atomic<std::uint64_t> objects_{0};
  std::atomic<std::uint64_t> bytes_{0};
  mutable std::mutex name_mutex_{};
  std::string last_{};
  std::mutex mutex_{};
  std::condition_variable ended_{};
  bool end_{false};
  std::thread drawer_{};
};
