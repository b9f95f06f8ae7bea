#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/http/detail/failure.hpp>
#include <dataflux/http/retry_policy.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

/// When a failed attempt is made again, and after how long: decisions only. No clock, no random
/// source, no socket; time and chance are arguments. Rules: protocol.md 3.1 and 3.2.
namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// What a reply's status means for a repetition.
enum class reply_class : std::uint8_t {
  final,            ///< success, or a failure that repeating does not mend
  transient,        ///< 408, 5xx: the service may do better soon
  throttled,        ///< 429: too many requests; not carried out
  unauthenticated,  ///< 401: perhaps the token expired on the way; not carried out
};

/// By status, and by the service's reason where a status has several (protocol.md 1.10): a 403 or
/// 503 with rateLimitExceeded, userRateLimitExceeded or SlowDown is throttled. 501 and 505 are
/// final: no server learns a method within minutes.
reply_class classify(int http_status, std::string_view reason = {}) noexcept;

/// What became of one attempt.
struct attempt_outcome {
  /// 0 when no reply came; `failure` says why then. Both set: the reply broke off.
  int http_status{0};
  transport_failure failure{transport_failure::none};
  /// Any byte of the request may have reached the service.
  bool request_sent{true};
  /// There was nobody to send it to, and never was.
  bool nobody{false};
  /// Another signature may mend a refusal: there is, or can be, another token, or the clock was
  /// wrong. Such an attempt was not carried out.
  bool mendable{false};
  /// The service says where else to ask. Such an attempt was not carried out, and whoever makes
  /// this says so once in a call.
  bool elsewhere{false};
  /// The service's reason; a view for the duration of the call.
  std::string_view reason{};
  /// What the service means by status and reason, where it is not what classify() says.
  std::optional<reply_class> meaning{};
  /// The Retry-After field, 0 when there was none.
  duration retry_after{0};
};

enum class retry_action : std::uint8_t {
  stop,        ///< the outcome is the caller's answer
  retry,       ///< again after the delay
  sign_again,  ///< again at once, with another signature, or elsewhere
  pace,        ///< again through pacing, not before the delay
};

/// Why it is not tried again.
enum class stop_reason : std::uint8_t {
  none,            ///< it is tried again
  final_outcome,   ///< repeating does not change the outcome
  not_idempotent,  ///< the request may have been carried out, twice could do harm
  attempts,        ///< max_attempts
  elapsed,         ///< max_elapsed, or the deadline, or a Retry-After beyond one of them
};
/// Such as "not_idempotent".
std::string_view to_string(stop_reason reason) noexcept;

struct retry_decision {
  retry_action action{retry_action::stop};
  duration delay{0};
  stop_reason reason{stop_reason::none};
};

/// The attempts of one call so far. A plain value, owned by the call.
struct retry_state {
  time_point started{};        ///< of the call, not of the attempt
  time_point deadline{never};  ///< the caller's
  /// Carrying the request out twice equals once: a read, or a write under a condition that the
  /// first success makes false (protocol.md 3.1).
  bool idempotent{true};

  int attempts{0};           ///< made so far, counted by decide(); for error::attempts
  int failures{0};           ///< in a row, since the last progress
  int throttles{0};          ///< in a row
  bool signed_again{false};  ///< since the last progress
  /// An attempt whose outcome is not known may have been carried out. A later 412 of a create or
  /// 404 of a delete may then mean that it was: compare before reporting (protocol.md 3.1).
  bool may_have_been_executed{false};

  /// Bytes arrived or were stored before the attempt broke off: the next one continues after them,
  /// so the count of failures and the backoff begin anew, and a token that has expired meanwhile is
  /// replaced again. max_elapsed goes on; a caller whose bytes are kept sets `started`, too.
  void progressed() noexcept {
    failures = throttles = 0;
    signed_again = false;
  }
};

/// Keeps an outage from being amplified: retries of failures are paid for by successes. The bucket
/// holds 500 retries, each success pays for a tenth of one. While it is empty a retry is not
/// refused but postponed: to half or more of the wait that comes three retries later in the
/// sequence. So a client in an outage asks less and less, and its calls still survive it as long as
/// their own limits allow. One per client. Throttled requests (429) pay nothing: pacing slows those
/// down.
///
/// Thread-safe, lock-free. While the bucket is full, a success costs one load.
class retry_budget {
 public:
  /// Takes the price of one retry; false, and nothing taken, when there is not enough.
  bool spend() noexcept;
  /// A request was answered with success.
  void succeeded() noexcept;
  /// Retries that can be paid for now.
  int available() const noexcept;

  static constexpr int capacity = 500;  ///< retries
  static constexpr int successes_per_retry = 10;

 private:
  std::atomic<std::int32_t> tenths_{capacity * successes_per_retry};
};

/// Counts the attempt in `state` and says what comes next.
///
/// `uniform` is a random number in [0, 1). `budget` may be null.
/// - A failure or transient reply is retried if the request is idempotent or was not sent; the
///   delay is the jittered backoff or Retry-After, whichever is longer.
/// - The backoff is cut to what is left of max_elapsed; a Retry-After that does not fit into it,
///   and any delay that reaches the deadline, stop at once: waiting would not help.
/// - A throttled request goes back to pacing; from its second rejection in a row on it also waits
///   its own backoff. Counts against the time limits only.
/// - The first refusal that another signature may mend asks for one, the second stops.
///
/// Cost: some nanoseconds, no allocation.
retry_decision decide(const retry_policy& policy, retry_state& state,
                      const attempt_outcome& outcome, time_point now, double uniform,
                      retry_budget* budget) noexcept;

/// The wait before retry `n` (from 1) at its longest: min(cap, first * factor^(n-1)).
duration backoff_ceiling(const retry_policy& policy, int n) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/retry.ipp>
#endif
