#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

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
};

/// A listing has taken another page. Views are valid during the call only.
struct list_event {
  std::string_view bucket{};
  std::string_view prefix{};
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
};

/// Sees requests, retries, listings and log lines; the library itself never prints. All members do
/// nothing by default. It never receives a secret.
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

/// Running totals of a client.
///
/// Threads: written by I/O threads, read from anywhere at any time. The numbers of one reading need
/// not belong to one instant.
struct counters {
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

}  // namespace dataflux::inline DATAFLUX_ABI
