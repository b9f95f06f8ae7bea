#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/shard/shard_index.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// What is wrong with a shard.
enum class shard_fault : std::uint8_t {
  changed,  ///< another object has its name now
  deleted,  ///< nothing has its name
  damaged,  ///< its bytes are no archive, or not those of its checksum
  samples,  ///< it is whole, and the index has other samples, places, fields or checksums
};

struct wrong_shard {
  std::uint64_t shard{0};  ///< its number in the index
  std::string name{};
  shard_fault fault{shard_fault::changed};
  error why;
};

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

/// What lies in the bucket, compared with the index.
struct verify_shards_summary {
  static constexpr std::size_t most_wrong = 1000;

  std::uint64_t shards{0};
  std::uint64_t samples{0};     ///< of the shards that are right
  std::uint64_t bytes_read{0};  ///< of all shards
  /// Shards whose samples had no checksums, and have them in the index that was written.
  std::uint64_t filled{0};
  std::uint64_t wrong_count{0};
  /// The first most_wrong of them, in the order of the index.
  std::vector<wrong_shard> wrong{};
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
