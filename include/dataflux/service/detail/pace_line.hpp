#pragma once

#include <dataflux/detail/ref.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/http/detail/pacing.hpp>
#include <dataflux/observer.hpp>

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

class call;

/// The calls that wait for their turn in one lane of the pacing, oldest first. One timer serves
/// them all, so that a thousand calls held back cost one question per start and not a thousand.
/// Thread-safe; calls of all executors share it.
class pace_line {
 public:
  pace_line(http::pacing::lane& lane, std::string_view bucket, http::operation_class kind);
  ~pace_line();
  pace_line(const pace_line&) = delete;
  pace_line& operator=(const pace_line&) = delete;

  std::string_view bucket() const noexcept { return bucket_; }
  /// Sends `c` now, or as soon as it is its turn; on its executor, whose time is `now`.
  void enter(call& c, time_point now);
  /// Takes a waiting call out. False if its turn has come.
  bool leave(call& c) noexcept;
  void report(time_point started, time_point now, http::pace_outcome outcome) noexcept {
    lane_.report(started, now, outcome);
  }
  pacing_snapshot look(time_point now) const;

 private:
  void serve(scheduler& here);
  void arm(scheduler& here, time_point when);

  http::pacing::lane& lane_;
  const std::string bucket_;
  const http::operation_class kind_;
  std::atomic<std::size_t> size_{0};
  std::mutex mutex_{};
  std::deque<ref<call>> waiting_{};
  bool armed_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
