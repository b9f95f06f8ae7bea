#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/transfer/detail/quantile_sketch.hpp>
#include <dataflux/transfer/transfer_options.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// One request that ended well.
struct finished_request {
  time_point started{};
  time_point first_byte{};
  time_point finished{};
  std::uint64_t bytes{0};
};

/// How many requests should be in flight, found by trial: more, for as long as more is gained by
/// it. Shared by all streams of a client.
///
/// It compares windows. A window counts the requests that were both started and ended since the
/// limit was last changed. Its goodput is the number in flight, times the work of a request, by the
/// time of a request (Little's law). Unlike bytes that arrive in an interval, that is not disturbed
/// by requests that come in waves. The work of a request is its bytes and 1 MiB. That is about what
/// its round trip could have brought, so that windows of small and of large objects compare.
/// - From 32 the limit is doubled, as long as goodput grows by at least a fifth of what the limit
///   does. Then the steps become smaller: 1.5, 1.25. Each that succeeds makes the next one larger
///   again.
/// - When a step of 1.25 brings too little, and requests take longer than they did with fewer in
///   flight, a fifth less is tried. It is kept if it costs no more than 3 % of goodput. Only
///   rejections bring the limit below 16.
/// - After that it rests for eight windows, within 0.5 to 4 s, and then tries again.
/// - A rejection (429 or an equivalent; a plain 503 does not count) takes a fifth away. Then it
///   rests for 1 s, or for 2 s and 4 s when rejections go on. A rejection of a request from before
///   the last cut changes nothing: so there is one cut per round trip.
///
/// A window in which less was in flight than was allowed says nothing and changes nothing: then the
/// reader, or memory, is the limit. Only the next step is smaller: one that is too large makes a
/// queue for a moment, and a reader in order waits for it.
///
/// In simulations (links of 1 and 10 Gbit/s, round trips of 2 to 100 ms, bodies from 10 KB to
/// 8 MiB, jitter) goodput is within 6 % of that of the best fixed number. Beside a service that
/// allows N requests a second it stays near N and is at full rate within 10 s of the limit's end;
/// the rate itself is held by the pacing of the client below.
///
/// Times are passed in, and must not go back. One executor at a time. Cost: finished() some 60 ns,
/// for three logarithms. Memory: 4 KB.
class concurrency_control {
 public:
  explicit concurrency_control(concurrency_options options = {}) noexcept;

  /// Requests that may be in flight now. When it falls nothing is cancelled: in_flight() is above
  /// it for a while. To be asked again after each member below.
  int limit() const noexcept { return limit_; }
  int in_flight() const noexcept { return in_flight_; }
  int most() const noexcept { return max_; }
  bool may_start() const noexcept { return in_flight_ < limit_; }

  void started(time_point now) noexcept;
  void finished(const finished_request& request) noexcept;
  /// A request ended in another way: failed, cancelled, overtaken by its second one.
  void dropped(time_point now) noexcept;
  /// An attempt of a request that was started at `started` was refused with 429 or 503. The request
  /// is still in flight if it is going to be repeated.
  void throttled(time_point started, time_point now) noexcept;

  /// Whether windows or rejections have said anything about the limit.
  bool learned() const noexcept { return learned_; }
  /// The limit is another one, as concurrency_ramp has found.
  void set_limit(int limit, time_point now) noexcept;

  network_estimate estimate() const noexcept;

 private:
  enum class phase : std::uint8_t { rest, baseline, trial };

  /// What has happened since `since`; requests from before are not counted.
  struct window {
    time_point opened{};
    time_point since{never};  ///< the first start
    time_point updated{};
    double in_flight_seconds{0};
    double busy_seconds{0};  ///< of counted requests, each from start to end
    double work{0};
    double bytes{0};
    int count{0};
  };

  void pass_time(time_point now) noexcept;
  void open_window(phase next, time_point now) noexcept;
  void close_window(time_point now) noexcept;
  void verify(double goodput, double slowness, time_point now) noexcept;
  void try_level(double factor, time_point now) noexcept;
  void rest(duration least, time_point now) noexcept;
  bool window_full(time_point now) const noexcept;
  double ratio_needed() const noexcept;
  double in_flight_on_average() const noexcept;
  double window_goodput() const noexcept;

  int max_;
  int limit_;
  int in_flight_{0};
  phase phase_{phase::baseline};
  double step_{2};
  bool downward_{false};
  bool learned_{false};
  int base_limit_{0};
  double base_goodput_{0};
  double base_slowness_{0};
  double fastest_{0};     ///< least seconds per work seen
  int fastest_limit_{0};  ///< least limit since then; 0 = none yet
  window window_{};
  duration last_window_{0};
  time_point rest_until_{};
  time_point last_cut_{time_point::min()};
  duration cut_rest_{0};
  double goodput_{0};
  quantile_sketch first_bytes_{};
  quantile_sketch rates_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/concurrency.ipp>
#endif
