#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace dataflux::inline DATAFLUX_ABI {

struct shared_list_request {
  /// What is listed. Its `limits` are those of the whole, and `parallelism` that of this process; 0
  /// = 48. A delimiter is refused, and so are an order, max_calls, memory_cap and on_error, which
  /// are of one process. There are no events.
  fast_list_request listing{};
  /// The board: a prefix that all processes write to and nobody else does, such as
  /// "jobs/7/listing/". It must not lie in what is listed.
  std::string board_bucket{};
  std::string board_prefix{};
  /// Where the manifest of the whole goes, a file. Empty: this process helps and joins nothing.
  std::string path{};
  /// So long a task of another process may take. Then that one is thought dead, and the task is
  /// listed once more; if it was slow only, what is done first counts. 0 = 5 minutes.
  duration lease{0};
};

/// What became of it.
struct shared_list_summary {
  std::uint64_t objects{0};      ///< of the whole
  std::uint64_t tasks{0};        ///< of the whole
  std::uint64_t own_objects{0};  ///< listed by this process
  std::uint64_t own_tasks{0};
  std::uint64_t calls{0};  ///< of this process: pages and probes, without those for the board
};

/// Lists a prefix that is too large for one process, by as many as call this with the same request
/// and board. Each takes ranges of the names, lists them as fast_list() does, and leaves what it
/// has on the board: a manifest of them, and where to cut what is left. Nobody decides beforehand
/// who lists what, so that names may lie as unevenly as they like. All calls return when the
/// listing is whole, and those with a path have joined it then: as if fast_list() had listed it,
/// and save_manifest() had written it.
///
///     // In each process; the first one writes the manifest.
///     list_shared(store, {.listing = {.bucket = "data", .prefix = "train/"},
///                         .board_bucket = "jobs", .board_prefix = "7/listing/",
///                         .path = rank == 0 ? "train.manifest" : ""});
///
/// Processes may come late, and need not know of each other. One that dies is waited for as long as
/// `lease` says; then others do its work. A board that is whole is joined again, without a call
/// for the listing; one that was given up is gone on with. So a job that starts again does not
/// begin again, and a new listing needs a new board. What lies on the board stays: remove its
/// prefix when all have returned.
///
/// What changes meanwhile is as with fast_list(), and `taken` is when the board was begun.
///
/// Errors: invalid_argument before any call, and for a board that is of another listing, saying
/// which argument differs; data_loss for a board that is damaged. Those of fast_list(), of writing
/// objects to the board, and of save_manifest(): where a file cannot be written, what was listed is
/// on the board, and a call with another path only joins it. One process that fails stops no other:
/// its tasks are taken over. After an error nothing is at the path that was not there before.
///
/// Lifetime: the store outlives the operation.
///
/// Threads: any may call. `done` runs on an executor of the store. Blocking forms are not for
/// completions, nor for a virtual_scheduler. The file is written on threads for files.
///
/// Cost: in simulation of 10^9 names and 64 processes 1.2 to 1.3 calls for a page, and 0.2 to 0.7
/// for the board (bench/NOTES.md). Memory of twelve tasks, each of 128,000 names at most, and of
/// 256 MiB for the join. A small prefix costs some ten calls more than fast_list().
result<shared_list_summary> list_shared(object_store& store, shared_list_request request);
operation<shared_list_summary> submit_list_shared(object_store& store, shared_list_request request);
void start_list_shared(object_store& store, const shared_list_request& request,
                       object_store::completion<shared_list_summary> done);

}  // namespace dataflux::inline DATAFLUX_ABI
