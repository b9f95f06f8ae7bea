#pragma once

#include <dataflux/deadline.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// How many requests should be in flight as long as none has ended: the reads of a large object end
/// when it has come, too late for concurrency_control to learn anything from them.
///
/// It compares what arrives. When nearly all bodies have begun, their rate is measured for as long
/// as that took, which is about a round trip. If it has grown by at least a fifth of what the limit
/// did, the limit is doubled; the first time in any case. If not, the limit is as before, and the
/// ramp is over.
///
/// Pure arithmetic; one executor at a time. Cost: nothing.
class concurrency_ramp {
 public:
  struct arrivals {
    std::uint64_t bytes{0};  ///< that have come so far
    int begun{0};            ///< requests under way whose body has begun
  };

  /// The limit from now on; `most` is its largest value.
  int on_arrivals(int limit, int most, const arrivals& seen, time_point now) noexcept;
  bool over() const noexcept { return over_; }

 private:
  bool over_{false};
  time_point step_at_{never};      ///< when the limit became what it is
  time_point measured_at_{never};  ///< since when the rate is measured
  std::uint64_t measured_from_{0};
  duration measured_for_{0};
  int base_limit_{0};  ///< the last one that paid; 0 = none was measured
  double base_rate_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/concurrency_ramp.ipp>
#endif
