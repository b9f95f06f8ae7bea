#pragma once

#include <dataflux/detail/seconds.hpp>
#include <dataflux/transfer/transfer_options.hpp>

#include <algorithm>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::concurrency {

/// Smaller bodies come in one piece: their rate says nothing about the connection.
inline constexpr std::uint64_t telling_body = 256U << 10U;
inline constexpr double longest_body = 1e6;  ///< seconds: more would overflow in nanoseconds

}  // namespace detail::concurrency

DATAFLUX_INLINE duration network_estimate::time_of(std::uint64_t bytes) const noexcept {
  if (connection_bandwidth > 0) {
    const double body = static_cast<double>(bytes) / connection_bandwidth;
    return first_byte + detail::from_seconds(std::min(body, detail::concurrency::longest_body));
  }
  return bytes < detail::concurrency::telling_body ? first_byte : duration{0};
}

}  // namespace dataflux::inline DATAFLUX_ABI
