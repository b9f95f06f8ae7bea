#pragma once

#include <dataflux/result.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include "main_job.hpp"

/// A sharded checkpoint that several processes save, one of which is killed half-way: what is there
/// then is no set, and counts as none. The shard is saved again, the set committed, restored and
/// compared.
struct shard_job {
  /// Empty = the service itself, with the credentials that are there.
  std::string endpoint{};
  std::string bucket{};
  /// Of the set; all below it is removed in the end.
  std::string prefix{};
  std::uint64_t shard_size{std::uint64_t{64} << 20U};
  std::size_t shards{4};
  std::stop_token stop{};
};

struct shard_report {
  step_report saved{};
  step_report restored{};
};

/// Starts the processes, and prints what happens to them.
dataflux::result<shard_report> save_and_restore(const dataflux::transfer_context& context,
                                                const shard_job& job);

/// One of the processes: writes a shard and says its record. Told to `linger`, it says "half-way"
/// there, and waits for its end.
int write_shard(const shard_job& job, std::size_t rank, bool linger);
