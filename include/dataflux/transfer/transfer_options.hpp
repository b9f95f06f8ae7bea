#pragma once

#include <dataflux/transfer/concurrency.hpp>
#include <dataflux/transfer/hedge.hpp>

#include <cstddef>
#include <cstdint>

/// What a transfer_context is told, and what it tells.
namespace dataflux::inline DATAFLUX_ABI {

struct transfer_options {
  /// Most bytes that all streams hold together, from the start of a read until the reader has its
  /// bytes.
  std::uint64_t memory_cap{256ULL << 20U};
  /// Longest single read; longer pieces become parallel ones of equal size. At least 1.
  std::uint64_t slice{8ULL << 20U};
  concurrency_options concurrency{};
  hedge_options hedge{};
  /// Most bytes that all uploads hold together, those that they have borrowed included: from when a
  /// part is begun to be filled until the service has it.
  std::uint64_t upload_memory{256ULL << 20U};
};

/// What the streams of a context do now and have done. Some microseconds old.
struct transfer_counters {
  /// Under the cap: bytes read ahead, or being read. And the most that they ever were.
  std::uint64_t held{0};
  std::uint64_t peak_held{0};
  /// Bytes that readers have and have not let go of; no part of `held`.
  std::uint64_t lent{0};
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
  /// Under upload_memory: bytes that uploads hold, and the most that they ever did.
  std::uint64_t upload_held{0};
  std::uint64_t upload_peak{0};
  std::uint64_t uploads{0};         ///< that ended well
  std::uint64_t uploaded_bytes{0};  ///< of parts that the service has taken
};

}  // namespace dataflux::inline DATAFLUX_ABI
