#pragma once

#include <dataflux/observer.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {

/// Writes what a client does as lines of time, level and text. The library itself never prints; a
/// program that wants to see chooses this:
///
///     dataflux::log_observer log;                              // DATAFLUX_LOG=debug ./program
///     auto client = gcs::client::create({.observer = &log});
///
///     2026-11-22T21:44:43.127Z warning objects.get gs://data/o attempt 1 failed: unavailable ...
///
/// Log lines come at the level they have, attempts that failed and are repeated at `warning`, the
/// progress of listings at `info` and once a second at most, every request at `debug`.
///
/// Errors: none. A line that cannot be written is lost, and a line of more than 4 KiB is cut.
/// Lifetime: outlives every client that was given it. The descriptor is borrowed.
/// Threads: all members from any thread. Lines do not mix: each is one write(2), of no more than
/// what a pipe takes at once. A descriptor that nobody reads from blocks the I/O threads.
/// Cost: no allocation; a comparison for what is below the level.
class log_observer final : public observer {
 public:
  /// By DATAFLUX_LOG, read now: debug, info, warning, error or off. Without it, or when it is
  /// empty: warning. Of another text the first line says so.
  explicit log_observer(int descriptor = 2) noexcept;
  /// From `least` on, whatever the variable says; nothing = off.
  explicit log_observer(std::optional<log_level> least, int descriptor = 2) noexcept
      : least_(least), descriptor_(descriptor) {}

  /// Nothing = off.
  std::optional<log_level> level() const noexcept { return least_; }

  DATAFLUX_INLINE void on_log(log_level level, std::string_view line) noexcept override;
  DATAFLUX_INLINE void on_request(const request_event& event) noexcept override;
  DATAFLUX_INLINE void on_retry(const retry_event& event) noexcept override;
  DATAFLUX_INLINE void on_list(const list_event& event) noexcept override;

 private:
  bool shows(log_level level) const noexcept { return least_ && level >= *least_; }

  std::optional<log_level> least_{log_level::warning};
  const int descriptor_;
  std::atomic<std::int64_t> last_list_{0};  ///< when, in ns of the clock
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/impl/log_observer.ipp>
#endif
