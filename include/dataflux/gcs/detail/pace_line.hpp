#pragma once

#include <dataflux/exec/scheduler.hpp>
#include <dataflux/http/pacing.hpp>
#include <dataflux/ref.hpp>

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>

namespace dataflux::inline DATAFLUX_ABI::gcs::detail {

class call;

/// The calls that wait for their turn in one lane of the pacing, oldest first. One timer serves
/// them all, so that a thousand calls held back cost one question per start and not a thousand.
/// Thread-safe; calls of all executors share it.
class pace_line {
 public:
  explicit pace_line(http::pacing::lane& lane);
  ~pace_line();
  pace_line(const pace_line&) = delete;
  pace_line& operator=(const pace_line&) = delete;

  /// Sends `c` now, or as soon as it is its turn; on its executor.
  void enter(call& c);
  /// Takes a waiting call out. False if its turn has come.
  bool leave(call& c) noexcept;
  void report(time_point started, time_point now, http::pace_outcome outcome) noexcept {
    lane_.report(started, now, outcome);
  }

 private:
  void serve(scheduler& here);
  void arm(scheduler& here, time_point when);

  http::pacing::lane& lane_;
  std::atomic<std::size_t> size_{0};
  std::mutex mutex_{};
  std::deque<ref<call>> waiting_{};
  bool armed_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::gcs::detail
