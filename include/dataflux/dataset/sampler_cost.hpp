#pragma once

#include <dataflux/dataset/sampler.hpp>
#include <dataflux/result.hpp>

#include <cstdint>

/// What an order costs, and how well it mixes, before anything is read.
///
///     auto told = cost_of(order, {.workers = 8, .batch = 64, .sample_bytes = 1e5,
///                                 .shard_samples = 1e4}).value();
///     told.requests;     // of a sample: 1 with shuffle_kind::full
///     told.bytes_read;   // for each byte that is used
namespace dataflux::inline DATAFLUX_ABI {

/// Who reads an epoch, and what its samples are.
struct epoch_reads {
  /// Processes of each rank, which take turns by batches. 0 = 1.
  std::uint32_t workers{0};
  /// Samples of a rank's batch. 0 = 1.
  std::uint64_t batch{0};
  /// Mean bytes of a sample. 0 = 1.
  double sample_bytes{0};
  /// Mean samples of a shard. 0 = a sample is an object of its own.
  double shard_samples{0};
  /// Bytes that each process has for reads: its client's memory_cap. 0 = 256 MiB.
  std::uint64_t memory{0};
  /// Bytes between two samples that are read rather than left out: what a connection carries in the
  /// time of a request. 0 = 256 KiB.
  std::uint64_t gap{0};
};

/// Means over an epoch, which docs/sampling.md derives.
struct sampler_cost {
  /// Requests for each sample.
  double requests{1};
  /// Bytes that are read for each one that is used: 2 at most.
  double bytes_read{1};
  /// Processes that read rows of one block; 0 where there are no blocks.
  double readers{0};
  /// Bytes of samples that a process keeps until their turn comes.
  double held{0};
  /// Correlation of the number of a rank's sample with that of its next one: 1 without a shuffle,
  /// 0 with a full one.
  double lag_correlation{0};
  /// How likely two samples of a rank's batch are of one shard, and what it is with a full shuffle.
  double same_shard{0};
  double same_shard_of_full{0};
};

/// The cost of an order whose windows are read as sampler::window_end() says: rows of a window by
/// their numbers, where memory allows. Estimates for a whole epoch: requests within a fifth of what
/// is counted, bytes at most a tenth fewer, and for few samples less exact.
///
/// Errors (invalid_argument): a mean below 0, infinite or NaN. Threads: any. Cost: microseconds.
result<sampler_cost> cost_of(const sampler& order, const epoch_reads& reads);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/dataset/impl/sampler_cost.ipp>
#endif
