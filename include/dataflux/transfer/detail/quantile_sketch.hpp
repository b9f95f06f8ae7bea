#pragma once

#include <dataflux/detail/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What share of recent values lies below which value, in fixed memory: how long the slowest
/// twentieth of first bytes takes, how fast the usual connection is. A histogram whose buckets
/// grow by a constant factor, so that every answer is within 2 % of a value that was there.
///
/// Values are positive numbers of any one unit from `lowest` to 1e8 times that: seconds from 10 us
/// to 1,000 s as it is made by default, or bytes per second from 100 up. What lies outside counts
/// as the nearest end.
///
/// Older values count less: by half after each `half_life` of newer ones. It is a number of values
/// and not a time, so that a pause forgets nothing and no clock is needed.
///
/// A value type; distinct objects are independent, one object belongs to one executor at a time.
/// Memory: 1.9 KB, no allocation. add() costs a logarithm, quantile() a pass over 461 floats.
class quantile_sketch {
 public:
  explicit quantile_sketch(double lowest = 1e-5, double half_life = 1000) noexcept;

  void add(double value) noexcept;

  /// Values added so far, however old.
  std::uint64_t count() const noexcept { return count_; }
  /// The value that the share `q` in [0, 1] of all weight does not exceed; 0 when there is none.
  double quantile(double q) const noexcept;

 private:
  static constexpr std::size_t buckets = 461;

  void rescale() noexcept;

  double lowest_;
  double growth_;     ///< of the weight from one value to the next
  double weight_{1};  ///< of the next value
  std::uint64_t count_{0};
  std::array<float, buckets> weights_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/quantile_sketch.ipp>
#endif
