#pragma once

#include <dataflux/simulate/detail/simulated_epoch.hpp>
#include <dataflux/simulate/simulate_epoch.hpp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// How much of what there is was used, on the average over the steady part of an epoch: 1 = all.
struct epoch_use {
  bool steps{false};       ///< there is a training step
  double waited{0};        ///< share of all the time that it waited
  double waited_later{0};  ///< the same of the steady part alone
  double link{0};
  double io_threads{0};
  double processors{0};
  double decoders{0};
  double memory{0};
  double concurrency{0};
  bool short_lived{false};  ///< it was over within a few batches or round trips
};

/// What bounds an epoch of such use.
epoch_bound bound_of(const epoch_use& use) noexcept;

/// All samples of an epoch, and what the processes had.
struct epoch_size {
  std::uint64_t samples{0};
  std::uint64_t bytes{0};
  std::uint64_t listed{0};  ///< objects of a listing; 0: there was none
};

/// What the epoch would be, of what was simulated of it.
epoch_forecast forecast_of(const epoch_outcome& outcome, const simulated_network& network,
                           const epoch_plan& plan, const epoch_size& size,
                           const request_prices& prices);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/simulate/impl/epoch_reckoning.ipp>
#endif
