#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/transfer/detail/quantile_sketch.hpp>
#include <dataflux/transfer/transfer_options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The requests of one read so far. A plain value, owned by the read.
struct hedged_read {
  static constexpr std::size_t most_requests = 3;

  /// When each of its requests was sent, the first one at [0].
  std::array<time_point, most_requests> sent_at{};
  std::uint8_t requests{1};
  /// Of the first so many it is known how long they took to their first byte: a body has begun, and
  /// was given up. 0 = none was.
  std::uint8_t known{0};
  /// It has waited longer than the threshold, or its body has.
  bool overdue{false};
  /// When to consider() it for the first time.
  time_point next_check{never};
  std::uint64_t number{0};  ///< of the read, for the policy
  std::uint64_t seen{0};    ///< bytes of the body when it was last checked
};

/// A body under way.
struct body_progress {
  std::size_t request{0};  ///< of the read's, which brings it
  time_point first_byte{};
  std::uint64_t received{0};
  std::uint64_t length{0};
  /// What the read usually takes, from the request on; 0 = not known, and nothing is decided.
  duration usual{0};
};

struct hedge_decision {
  /// Send another request now, on another connection; of a body that has begun: in its place.
  bool ask{false};
  /// When to consider the read again, unless a byte comes before; `never` = not again.
  time_point next_check{never};
};

/// Decides when a read is asked for again: one that has no first byte yet, or a body that falls
/// behind. One request in a hundred may take a hundred times as long as the others, and a stream in
/// order waits for it. But more requests make a slow service slower. So a read gets another request
/// only if all of this holds:
/// - Its last one has waited for max(floor, 2 x the 95th percentile of time to first byte).
/// - 200 first bytes have been seen, so that there is a percentile.
/// - The token bucket has a token. Each read pays for a twentieth, and the bucket holds 256 at
///   most. So requests beyond the first are never more than 5 % of the reads so far.
/// - The service has not been throttling (429) within the last 10 s.
/// - Of the reads that were begun with it and just before (256 to 512) no more than 5 % had to wait
///   so long. When more do, the service is slow, and the read is no straggler; in time the
///   percentile grows, and they are not late. The time of their beginning counts: when a stream in
///   order is held up by one of them, many stragglers become overdue at once and nothing else is
///   under way.
///
/// It gets THREE requests at most. Where one in a hundred stalls, of one read in 10,000 the second
/// one stalls, too: a stream of thousands a second meets that every second or so, and would wait
/// for it. Of three it meets it once in minutes.
///
/// A body is given up and asked for anew under the same rules, and under three more. Since its
/// first byte max(floor, 4 x the usual time of the read) has passed. And at its own pace the rest
/// would take more than twice as long as the whole anew, or nothing has come since the last check.
/// And it is the read's first body. Two bodies at once would need memory twice. Not for writes. In
/// use:
///
///     hedged_read r = policy.begin(now);           // with the request; a timer at r.next_check
///     on the timer: if (!r has a byte) {
///       hedge_decision d = policy.consider(r, now);
///       if (d.ask) send another request;            // to another connection, same range
///       a timer at d.next_check, if that is not never
///     }
///     else: as above with policy.consider_body(r, progress, now); cancel the one that brings it
///     on the first body byte of any: policy.first_byte(r, request, now); cancel the others
///
/// A read that ends without a byte is reported by nothing. One that was denied is checked again
/// when it has waited twice as long: no polling.
///
/// Times are passed in. One executor at a time. Cost: begin() and first_byte() some 20 ns; the
/// percentile is worked out anew after each 64 first bytes.
class hedge_policy {
 public:
  explicit hedge_policy(hedge_options options = {}) noexcept : options_(options) {}

  hedged_read begin(time_point now) noexcept;
  /// Whether the read, which has no byte yet, gets another request now.
  hedge_decision consider(hedged_read& read, time_point now) noexcept;
  /// Whether the read, whose body has begun, is asked for anew.
  hedge_decision consider_body(hedged_read& read, const body_progress& body,
                               time_point now) noexcept;
  /// The first byte of the read has come, by the request of that number.
  void first_byte(const hedged_read& read, std::size_t request, time_point now) noexcept;
  /// The service refused a request for its rate (429, or what means the same).
  void throttled(time_point now) noexcept;

  /// How long a request waits before its read is overdue.
  duration threshold() const noexcept { return threshold_; }
  const hedge_counters& counters() const noexcept { return counters_; }

 private:
  /// Reads that became overdue, of 256 that were begun one after the other.
  struct cohort {
    std::uint64_t id{0};
    std::uint32_t overdue{0};
  };

  cohort& cohort_of(std::uint64_t id) noexcept;
  double overdue_share(std::uint64_t number) noexcept;
  hedge_decision ask(hedged_read& read, duration waited, time_point now) noexcept;
  void learn(const hedged_read& read, std::size_t request, time_point first_byte) noexcept;
  void saw(duration waited) noexcept;

  hedge_options options_;
  /// Remembers so many that the reads of a held up stream, of which only stragglers arrive for a
  /// while, cannot be a twentieth of it.
  quantile_sketch waits_{1e-5, 2000};
  duration threshold_{options_.floor};
  time_point quiet_until_{time_point::min()};
  double tokens_{0};
  std::array<cohort, 128> cohorts_{};
  hedge_counters counters_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/hedge.ipp>
#endif
