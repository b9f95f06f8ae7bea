#pragma once

#include <emulator/route.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace emulator {

/// How fast the service may be asked (protocol.md 3.3); 0: no limit.
struct rate_options {
  double requests_per_second{0};     ///< of each bucket, with a second's worth saved up
  double writes_per_name_second{0};  ///< of each object; the service's is 1
};

/// How far away and how narrow the network is; 0: not at all.
struct network_options {
  std::chrono::milliseconds round_trip{0};  ///< before each reply, and once more on a connection
  std::uint64_t connection_bytes_per_second{0};  ///< each way together
  std::uint64_t total_bytes_per_second{0};       ///< of all connections

  bool narrow() const noexcept {
    return connection_bytes_per_second > 0 || total_bytes_per_second > 0;
  }
};

/// Refuses calls that come too fast. Thread safe.
class rate_limits {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit rate_limits(const rate_options& options) : options_(options) {}
  /// Whether it must be told the name of each object that is written.
  bool by_name() const noexcept { return options_.writes_per_name_second > 0; }
  /// Throws service_error 429 when the call comes too early.
  void check(const call& asked, time_point now);

 private:
  struct allowance {
    double saved;
    time_point at;
  };
  void check_bucket(const std::string& bucket, time_point now);
  void check_name(const call& asked, time_point now);

  const rate_options options_;
  std::mutex mutex_{};
  std::map<std::string, allowance, std::less<>> buckets_{};
  std::map<std::string, time_point, std::less<>> names_{};
};

/// Says how long to wait so that bytes flow no faster than a rate. Thread safe.
class pacer {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit pacer(std::uint64_t bytes_per_second) : rate_(bytes_per_second) {}
  /// `bytes` have been moved: how long to move no more.
  std::chrono::nanoseconds after(std::uint64_t bytes, time_point now);

 private:
  const std::uint64_t rate_;
  std::mutex mutex_{};
  time_point free_at_{};
};

}  // namespace emulator
