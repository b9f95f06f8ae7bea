#pragma once

#include <atomic>
#include <csignal>
#include <stop_token>
#include <thread>

/// Turns SIGINT, SIGTERM and SIGHUP into a stop request, so that an interrupted run cleans up; a
/// second one ends the program at once. Signals that were ignored at the start (nohup) stay so.
/// Make it before any other thread: it blocks the signals in every thread made later.
class interrupt {
 public:
  interrupt();
  interrupt(const interrupt&) = delete;
  interrupt& operator=(const interrupt&) = delete;
  ~interrupt();

  std::stop_token token() const { return stop_.get_token(); }
  /// 128 + the signal, as shells say it; 0 when there was none. Valid once the token is stopped.
  int exit_status() const noexcept { return status_; }

 private:
  void watch(const std::stop_token& end);

  ::sigset_t signals_{};
  std::atomic<int> status_{0};
  std::stop_source stop_{};
  std::jthread watcher_{};
};
