#pragma once

#include <dataflux/deadline.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

/// How fast requests may start, learned from the service's 429 replies. Pure arithmetic over times
/// that are passed in: no clock, no timer, no queue.
///
/// Nothing is held back until the service rejects something. Then the rate is set to 0.9 of the
/// rate that the service has accepted in the last second, or since the first request if that is
/// less than a second ago; or since the first that it rejected, if that is less: so a rate that
/// falls to a hundredth is found at once. For that nothing is started until what was under way has
/// been rejected, too, for twice as long as that first rejection took; and in the first second
/// only what was accepted since then counts. From there on the rate is found by trial:
/// - down at a rejection of a request that was started after the last cut, at most once per 100 ms,
///   by 0.9, or by more (0.5 at most) when far more was sent than accepted;
/// - back in half a second to just below what was accepted, then up by 2 % of it a second;
/// - doubling each second when 3 s (up to 6 s at rates below 10/s) have passed without a rejection,
///   0.25 s until a limit has been met a second time;
/// - after 10 s without one nothing is held back any more.
///
/// The number of requests in flight is limited in the same steps, never below what the rate starts
/// in a second: it protects a service whose limit is on concurrency while requests take seconds.
///
/// In simulations with a token bucket of 100 to 4,000 requests a second and a burst of 0.1 s or
/// more this gives at least 0.94 of the service's rate and at most 8 % rejected over the first
/// minute; at round trips of 20 ms at least 0.9 and 10 % over the first five seconds. A service
/// that allows no burst at all, or counts by the full second, gives 0.6 to 0.9.
///
/// The service's own advice, to double a bucket's load every 20 minutes at most (protocol.md 3.3),
/// is the caller's to follow, by limit(); else it shows as 429s, and those are obeyed.
namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// The kinds of requests for which the service has separate limits (protocol.md 3.3).
enum class operation_class : std::uint8_t { read, write, metadata };  // metadata: list, stat, ...
/// "read", "write", "metadata".
std::string_view to_string(operation_class c) noexcept;

enum class pace_outcome : std::uint8_t {
  rejected,      ///< 429, or what means the same: classify() == throttled
  not_rejected,  ///< any other reply, failures included, or none
};

/// For observers and logs.
struct pace_snapshot {
  bool limited{false};
  double rate{0};         ///< starts per second allowed now; 0 = any number
  double concurrency{0};  ///< requests in flight allowed now; 0 when not limited
  int in_flight{0};
  std::uint64_t started{0};
  std::uint64_t rejected{0};
};

/// The decisions for one kind of request. Not thread-safe. Times must not be far apart from each
/// other's order: those of different threads may differ by some milliseconds either way.
class pace_controller {
 public:
  /// Asks to start one request. `now` in return = it may start; it is in flight now and must be
  /// followed by one report(). A later time = not yet, ask again then; nothing is remembered of the
  /// question. When several wait, let only the oldest ask: answers go to whoever asks first.
  time_point admit(time_point now) noexcept;

  /// The end of a request that was started at `started` (the `now` of its admit()).
  void report(time_point started, time_point now, pace_outcome outcome) noexcept;

  /// No more starts a second than that from now on, whatever the service takes; 0 = any number.
  void limit(double rate, time_point now) noexcept;

  pace_snapshot snapshot(time_point now) const noexcept;

 private:
  /// Starts, and how many of them were rejected later, in one slot of time.
  struct tally {
    std::int64_t slot{-1};
    std::uint32_t started{0};
    std::uint32_t rejected{0};
    double accepted() const noexcept {
      return static_cast<double>(started) - static_cast<double>(rejected);
    }
  };

  double allowed() const noexcept;
  void grow(time_point now) noexcept;
  void cut(time_point started, time_point now) noexcept;
  double accepted_per_second(time_point now) const noexcept;
  void calibrate_from(time_point started) noexcept;
  double accepted_since_refused(time_point now) const noexcept;

  bool limited_{false};
  bool found_{false};  ///< a limit was met while limited: `level_` is worth returning to
  double rate_{0};
  double cap_{0};  ///< of limit()
  double concurrency_{0};
  double before_{0};  ///< the rate until the last cut
  double level_{0};   ///< the rate that the service seemed to accept then
  int in_flight_{0};
  time_point next_start_{};  ///< when the next request is due at rate_
  time_point grown_{};       ///< up to when rate_ has been grown
  time_point last_cut_{};
  time_point last_rejection_{};
  time_point busy_since_{};  ///< start of the activity that the tallies show
  time_point last_start_{};
  std::array<tally, 10> tenths_{};         ///< of the last second
  std::array<tally, 128> milliseconds_{};  ///< the last of them
  /// Since the start of the first that was rejected when nothing was limited; `never` = it is not
  /// known how many that were. Between the first cut and the end of the pause nothing was started.
  time_point refused_from_{never};
  tally since_refused_{};
  time_point first_cut_{};
  time_point paused_until_{};
  std::uint64_t started_{0};
  std::uint64_t rejected_{0};
};

/// The controllers of one client, by bucket and class of operation. Thread-safe. The lanes live as
/// long as the pacing object; there is one for each bucket that was ever used.
class pacing {
 public:
  /// One controller with its lock. All members are thread-safe. Cost: a short lock, no allocation;
  /// some 30 ns without contention (50 ns for both).
  class lane {
   public:
    lane() noexcept = default;
    lane(const lane&) = delete;
    lane& operator=(const lane&) = delete;

    /// As for pace_controller.
    time_point admit(time_point now) noexcept;
    void report(time_point started, time_point now, pace_outcome outcome) noexcept;
    void limit(double rate, time_point now) noexcept;
    pace_snapshot snapshot(time_point now) const noexcept;

   private:
    mutable std::mutex mutex_{};
    pace_controller controller_{};
  };

  pacing() = default;
  pacing(const pacing&) = delete;
  pacing& operator=(const pacing&) = delete;

  /// The lane of that key, made on first use. Look it up once per operation or bucket and keep the
  /// reference: it stays valid. Cost: a lock and a tree search.
  lane& of(std::string_view bucket, operation_class c);
  /// The limit that lanes of buckets begin with that nobody has used yet.
  void limit_new(operation_class c, double rate);

 private:
  struct entry {
    std::array<lane, 3> classes{};
  };
  std::mutex mutex_{};
  std::map<std::string, entry, std::less<>> buckets_{};
  std::array<double, 3> limits_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/pacing.ipp>
#endif
