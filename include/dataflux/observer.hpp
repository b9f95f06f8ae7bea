#pragma once

#include <dataflux/cache_counters.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>
#include <dataflux/latency_histogram.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

enum class log_level : std::int32_t { debug = 0, info = 1, warning = 2, error = 3 };

/// How the service bills a request (protocol.md 3.4).
enum class request_class : std::uint8_t { a, b, free };

/// One HTTP attempt that has ended. Views are valid during the call only.
struct request_event {
  std::string_view verb{};
  std::string_view bucket{};
  std::string_view object{};
  /// Counted from 1.
  int attempt{1};
  /// 0 when no reply came.
  int http_status{0};
  request_class billed_as{request_class::b};
  bool connection_reused{false};
  std::uint64_t bytes_sent{0};
  std::uint64_t bytes_received{0};
  time_point started{never};
  /// `never` when no byte came.
  time_point first_byte{never};
  time_point finished{never};
  /// Of URLs of the store: "gs", "s3", "ais".
  std::string_view scheme{"gs"};
};

/// An attempt failed and another one will follow.
struct retry_event {
  std::string_view verb{};
  std::string_view bucket{};
  std::string_view object{};
  /// The attempt that failed, counted from 1.
  int attempt{1};
  /// Wait before the next one.
  duration delay{};
  const dataflux::error* cause{nullptr};
  std::string_view scheme{"gs"};
};

/// A listing has taken another page. Views are valid during the call only.
struct list_event {
  std::string_view bucket{};
  std::string_view prefix{};
  /// The request's number, fast_list_request::call.
  std::uint64_t call{0};
  /// Handed out so far, folded prefixes not counted.
  std::uint64_t objects{0};
  /// An estimate of all entries, with what filters drop: grows with what is known.
  std::uint64_t expected{0};
  /// Entries seen so far, to compare with `expected`.
  std::uint64_t listed{0};
  std::uint64_t calls{0};
  std::size_t calls_in_flight{0};
  /// Pieces of the names that are not finished.
  std::size_t open_ranges{0};
  std::string_view scheme{"gs"};
};

/// Receives requests, retries, listings and log lines; the library itself never prints. All members
/// do nothing by default. It never receives a secret.
///
/// Errors: members must not throw.
///
/// Lifetime: it outlives every client and call that was given it. Events are valid during the call
/// only.
///
/// Threads: members are called on I/O threads, several at once, and must not block.
class observer {
 public:
  observer() = default;
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;
  virtual ~observer() = default;

  virtual void on_log(log_level, std::string_view /*line*/) noexcept {}
  virtual void on_request(const request_event&) noexcept {}
  virtual void on_retry(const retry_event&) noexcept {}
  virtual void on_list(const list_event&) noexcept {}
};

/// Writes a client's events as lines of time, level and text. The library itself never prints; use
/// this to see what it does:
///
///     dataflux::log_observer log;                              // DATAFLUX_LOG=debug ./program
///     auto client = gcs::client::create({.observer = &log});
///
///     2026-11-22T21:44:43.127Z warning objects.get gs://data/o attempt 1 failed: unavailable ...
///
/// Log lines have their own level, repeated attempts `warning`, every request `debug`. Progress of
/// listings has `info`, once a second at most.
///
/// Errors: none. A line that cannot be written is lost, and a line of more than 4 KiB is cut.
/// Lifetime: outlives every client that was given it. The descriptor is borrowed. Threads: all
/// members from any thread. Lines do not mix: each is one write(2), of no more than what a pipe
/// takes at once. A descriptor that is not read from blocks the I/O threads. Cost: no allocation; a
/// comparison for what is below the level.
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

/// Running totals of a client. A copy has the numbers of its moment.
///
/// Threads: written by I/O threads, read from anywhere at any time. The numbers of one reading need
/// not belong to one instant.
struct counters {
  counters() = default;
  counters(const counters& other) noexcept;
  counters& operator=(const counters& other) noexcept;

  std::atomic<std::uint64_t> requests_a{0};
  std::atomic<std::uint64_t> requests_b{0};
  std::atomic<std::uint64_t> requests_free{0};
  /// Attempts beyond the first that followed a failure, without those below.
  std::atomic<std::uint64_t> retries{0};
  /// Requests the service refused for their rate (429) and that were queued again.
  std::atomic<std::uint64_t> paced{0};
  /// Of bodies, as they move.
  std::atomic<std::uint64_t> bytes_sent{0};
  std::atomic<std::uint64_t> bytes_received{0};
  /// Calls that ended with an error.
  std::atomic<std::uint64_t> failed{0};

  void count(request_class c) noexcept {
    auto& counter = c == request_class::a   ? requests_a
                    : c == request_class::b ? requests_b
                                            : requests_free;
    counter.fetch_add(1, std::memory_order_relaxed);
  }
};

/// The attempts of one verb. Times are those of turns of the I/O thread: what begins and ends in
/// one turn took none.
struct verb_latency {
  /// Such as "objects.get".
  std::string_view verb{};
  /// From when the call, or its next attempt, reached its I/O thread until it had a connection:
  /// waiting for a token, for its turn and in line. Its count is that of requests begun.
  latency_histogram queued{};
  /// From there to the first byte of the reply; sending the body is part of it. Its count is that
  /// of requests with a reply.
  latency_histogram first_byte{};
  /// From there to the last one. Its count is that of whole replies, refusals included.
  latency_histogram body{};
};

/// The connections of a transport; clients that share one share these.
struct connection_snapshot {
  /// In all: idle, being made, and at work.
  std::size_t open{0};
  std::size_t idle{0};
  std::size_t connecting{0};
  /// Requests in line for a connection.
  std::size_t waiting{0};
  /// Of a new connection, TLS included, the name's resolution not. Failed ones are not counted.
  latency_histogram connect{};
};

/// Requests of one kind to one bucket, as the service's limits go (docs/tuning.md).
struct pacing_snapshot {
  std::string bucket{};
  /// "read", "write" or "metadata".
  std::string_view kind{};
  /// The service has refused some of late: rate and concurrency hold.
  bool limited{false};
  /// Starts a second that are allowed now, and requests in flight; 0 = any number.
  double rate{0};
  double concurrency{0};
  std::size_t in_flight{0};
  /// Calls in line for their turn.
  std::size_t waiting{0};
  std::uint64_t started{0};
  /// Of them, those that the service refused for their rate.
  std::uint64_t rejected{0};
};

/// The memory of a transfer_context, in bytes.
struct memory_snapshot {
  std::uint64_t cap{0};
  std::uint64_t held{0};      ///< under it: read ahead, or being read
  std::uint64_t borrowed{0};  ///< with readers, beside it
  std::uint64_t upload_cap{0};
  std::uint64_t upload_held{0};
};

/// A client's counters and current state (gcs::client::snapshot()), as a copy.
struct client_snapshot {
  counters totals{};
  /// Verbs that have been used, in the order of docs/retries.md.
  std::vector<verb_latency> verbs{};
  connection_snapshot connections{};
  /// By bucket and kind, those that have been used.
  std::vector<pacing_snapshot> pacing{};
  /// Of whom the caller says so: `seen.memory = context.memory()`.
  std::optional<memory_snapshot> memory{};
  /// The same: `seen.cache = cache.counters()`, which are of all clients that it serves.
  std::optional<cache_counters> cache{};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/impl/observer.ipp>
#endif
