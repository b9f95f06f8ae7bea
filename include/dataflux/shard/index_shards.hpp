#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/result.hpp>
#include <dataflux/shard/grouping_rules.hpp>
#include <dataflux/shard/shard_index.hpp>
#include <dataflux/shard/shard_rules.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// What is indexed, and how.
struct index_shards_request {
  std::string bucket{};
  /// The shards in the order in which their samples are numbered: rows of a listing, in whose
  /// generations they are read. A row without one is invalid_argument. A row "NAME.dfx" is no
  /// shard: it is the index that a writer has put beside "NAME". One without its shard is passed
  /// over, and counted.
  object_columns shards{};
  /// The index, a file. It appears whole, and replaces what is there.
  std::string path{};
  /// Indexes that know some of these shards, which are not read again then: an older index, or
  /// those of parts of the data set. A shard is known by its name, size and generation; where an
  /// index has the generation 0, by its size and its CRC32C. The rules of grouping must be the
  /// same.
  std::vector<shard_index> parts{};
  /// What happens to damage, trailing bytes and so on, and how members become samples.
  shard_rules reading{};
  grouping_rules grouping{};
  /// Data of at least so many bytes are not read: large ones cost a short read each. Samples of
  /// such a shard have no checksums. 0 = 1 MiB; UINT64_MAX reads everything.
  std::uint64_t skip_from{0};
  /// Shards that are read at the same time. 0 = 64.
  std::uint32_t parallelism{0};
  /// Where processes meet that make one index together: a prefix that all of them write to and
  /// nobody else does, such as "jobs/7/index/". Empty: this call makes the index alone. Then `path`
  /// may be empty: this process helps, and gets no index.
  std::string board_bucket{};
  std::string board_prefix{};
  /// So long a task of another process may take. Then that one is thought dead, and its shards are
  /// read once more. 0 = 5 minutes.
  duration lease{0};
  /// Called on the strand with the shards that are through, and the bytes read so far. Must neither
  /// throw nor block for long.
  std::function<void(std::uint64_t, std::uint64_t)> progress{};
  /// Of the whole call.
  call_limits limits{};
};

/// What an index holds, and what making it has met.
struct index_shards_summary {
  std::uint64_t shards{0};
  std::uint64_t samples{0};
  std::uint64_t members{0};
  /// Shards whose samples have checksums, each of which agrees with the shard's own where the
  /// service has one.
  std::uint64_t checksummed{0};
  /// Shards that were not read by this call, since an earlier call, another process, a part
  /// or an index beside them knew them.
  std::uint64_t taken_over{0};
  /// Rows "NAME.dfx" without their shard, which a killed writer has left.
  std::uint64_t orphans{0};
  std::uint64_t bytes{0};       ///< of all shards
  std::uint64_t bytes_read{0};  ///< of them
  shard_counts counts{};
  grouping_counts groups{};
  /// The first member in no sample, "shard: member", of the shards that were read.
  std::string first_left_out{};
};

/// Makes the index of a data set of tar shards: where each sample and each member lies. Many shards
/// are read at the same time. The index is written in their order, piece by piece.
///
///     auto shards = fast_list(store, {.bucket = "data", .prefix = "train/"}).value();
///     index_shards(context, {.bucket = "data",
///                            .shards = std::move(shards.objects),
///                            .path = "train.dfx"}).value();
///     auto index = shard_index::open("train.dfx").value();
///
/// Resume: what is indexed is also kept in a file with a hidden name beside the index. A later call
/// for the same path, bucket and rules takes over the shards whose name, size and generation are
/// still those of the listing, after a kill, a failure or a stop. The index is the same then, byte
/// for byte, as if nothing had happened. The file goes when the index is there.
///
/// Together: as many processes as call this with the same listing, rules and board share the work.
/// Each takes runs of shards, of 2 GiB or one shard, and leaves what it has found on the board. One
/// that dies is waited for as `lease` says; then others do its work. All calls return when all
/// shards are read. Each with a path writes the same bytes. A call for another listing or by other
/// rules is invalid_argument, and says what differs. Of a process without a path the summary has
/// only the numbers of shards and samples. A job that starts again with the same board goes on.
/// What lies on the board stays: remove its prefix when all have returned.
///
/// Integrity: each shard is read in the listed generation. Where all of its bytes were read they
/// are compared with its CRC32C, and its samples get checksums of the same bytes. Where large data
/// were skipped nothing was compared; index_shards_summary::checksummed tells.
///
/// Errors: those of the first shard that fails, with its name. data_loss: damage, or bytes without
/// the checksum that the service has. failed_precondition: what the rules do not allow.
/// invalid_argument: a field that comes twice in a sample. unimplemented: sparse files, compressed
/// shards. not_found: the generation is gone. Errors of the file system name the path;
/// failed_precondition also where another call makes the same index. After a failure there is no
/// new index, and the old one stays.
///
/// Lifetime: the context's store outlives the call.
///
/// Threads: any may call; nothing happens inside this call. `done` runs on the context's strand.
/// The file is written on threads for files. Blocking forms are not for completions, nor for a
/// virtual_scheduler.
///
/// Cost: a request for each 8 MiB that are read, and one for each large member that is skipped.
/// Memory: what is being read, up to the context's memory_cap, or 1 MiB a shard; the places of
/// samples in these shards; and those in shards that wait for one before them, some 256 MiB.
void start_index_shards(const transfer_context& context, index_shards_request request,
                        object_store::completion<index_shards_summary> done);

inline operation<index_shards_summary> submit_index_shards(const transfer_context& context,
                                                           index_shards_request request) {
  return start_operation<index_shards_summary>(request.limits, [&](auto done) {
    start_index_shards(context, std::move(request), std::move(done));
  });
}
inline result<index_shards_summary> index_shards(const transfer_context& context,
                                                 index_shards_request request) {
  return submit_index_shards(context, std::move(request)).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/index_shards.ipp>
#endif
