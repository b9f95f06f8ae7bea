#pragma once

#include <dataflux/deadline.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI {

/// How many requests of a context may be in flight.
struct concurrency_options {
  /// Most requests in flight, at least 1; as many as there may be connections.
  int max{256};
};

/// When a slow read is asked for again.
struct hedge_options {
  /// No request of a read is followed by another one before it has waited so long;
  /// duration::max() = none ever is.
  duration floor{std::chrono::seconds(1)};
};

/// The limits of a context. 0 = the default of each.
struct transfer_options {
  /// Most bytes that all streams hold together, from the start of a read until the reader takes its
  /// bytes.
  std::uint64_t memory_cap{256ULL << 20U};
  /// Longest single read; longer pieces become parallel reads of equal size. At least 1.
  std::uint64_t slice{8ULL << 20U};
  concurrency_options concurrency{};
  hedge_options hedge{};
  /// Most bytes that all uploads hold together, borrowed ones included: from the first byte of a
  /// part until the service has it. If writers hold all of it, one upload of a file at a time has a
  /// part beyond it.
  std::uint64_t upload_memory{256ULL << 20U};
};

/// Running totals.
struct hedge_counters {
  std::uint64_t reads{0};
  std::uint64_t asked{0};  ///< second and third requests
  std::uint64_t left{0};   ///< of them, in place of a body that had fallen behind
  std::uint64_t won{0};    ///< reads that one of them brought the first byte of
  std::uint64_t lost{0};   ///< those whose first request did after all
  /// Answers to consider() that would have been `ask`, and why they were not.
  std::uint64_t denied_by_budget{0};
  std::uint64_t denied_by_throttling{0};
  std::uint64_t denied_by_service{0};
};

/// Estimates of the network, from recent requests. 0 = not known yet.
struct network_estimate {
  /// The shortest time to first byte that is usual: its 10th percentile. There is no other round
  /// trip to be seen above HTTP; it holds the service's own time, too.
  duration round_trip{0};
  duration first_byte{0};          ///< the median
  double connection_bandwidth{0};  ///< bytes/s of one body, median of those of 256 KiB and more
  double goodput{0};               ///< bytes/s of all together, in the last window

  /// What a read of so many bytes usually takes; 0 = not known.
  duration time_of(std::uint64_t bytes) const noexcept;
};

/// Counters of a context's streams. Some microseconds old.
struct transfer_counters {
  /// Under the cap: bytes read ahead or being read, and their maximum so far.
  std::uint64_t held{0};
  std::uint64_t peak_held{0};
  /// Bytes of items that readers hold; no part of `held`.
  std::uint64_t borrowed{0};
  std::size_t in_flight{0};          ///< reads
  std::size_t waiting{0};            ///< reads that wait for their turn
  int concurrency{0};                ///< reads that may be in flight
  std::uint64_t items{0};            ///< arrived, failed ones included
  std::uint64_t bytes{0};            ///< of items
  std::uint64_t revoked{0};          ///< items that were given up for others, and read again
  std::uint64_t composites{0};       ///< made of several objects, to read those as one
  std::uint64_t composites_left{0};  ///< of them: that could not be removed, or not for certain
  hedge_counters hedges{};
  network_estimate network{};
  /// Under upload_memory: bytes that uploads hold, and their maximum so far.
  std::uint64_t upload_held{0};
  std::uint64_t upload_peak{0};
  std::uint64_t uploads{0};         ///< that ended well
  std::uint64_t uploaded_bytes{0};  ///< of parts that the service has taken
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/transfer_options.ipp>
#endif
