#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/shard/shard_index.hpp>
#include <dataflux/shard/wrong_shard.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

struct verify_shards_options {
  /// Where the index is written with the checksums of all samples, a file; that of the index itself
  /// is replaced whole. Nothing is written where a shard is wrong. Empty: nothing is written.
  std::string path{};
  /// Wrong shards are in the summary, and are no error.
  bool return_wrong{false};
  /// Shards that are read at the same time. 0 = 64.
  std::uint32_t parallelism{0};
  /// Called on the strand with the shards that are through, and the bytes read so far. Must neither
  /// throw nor block for long.
  std::function<void(std::uint64_t, std::uint64_t)> progress{};
  /// Of the whole call.
  call_limits limits{};
};

/// Reads all bytes of the indexed shards again, and compares headers, samples and checksums with
/// the index. Each block of the index itself is checked, too. Samples without checksums get theirs,
/// where `path` says so.
///
///     auto index = shard_index::open("train.dfx").value();
///     verify_shards(context, index, {.path = "train.dfx"}).value();
///
/// Errors: of wrong shards, unless `return_wrong`: the first one's, with how many there are:
/// failed_precondition for a changed one, not_found for a deleted one, data_loss for the others.
/// Those of reading and of the file system, and data_loss for a damaged index, end the call.
///
/// Lifetime: the context's store outlives the call.
///
/// Threads: as of index_shards().
///
/// Cost: all shards are read once; that of index_shards() for the rest.
void start_verify_shards(const transfer_context& context, const shard_index& index,
                         const verify_shards_options& options,
                         object_store::completion<verify_shards_summary> done);

inline operation<verify_shards_summary> submit_verify_shards(const transfer_context& context,
                                                             const shard_index& index,
                                                             verify_shards_options options) {
  return start_operation<verify_shards_summary>(options.limits, [&](auto done) {
    start_verify_shards(context, index, options, std::move(done));
  });
}
inline result<verify_shards_summary> verify_shards(const transfer_context& context,
                                                   const shard_index& index,
                                                   verify_shards_options options) {
  return submit_verify_shards(context, index, std::move(options)).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/verify_shards.ipp>
#endif
