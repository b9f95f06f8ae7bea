#pragma once

#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// All the sets of a run (checkpoint/checkpoint_set.hpp): listing them, and removing old ones.
/// `prefix` always means a folder, with or without its slash: "a/b" is "a/b/", and never "a/bc".
///
/// Objects are removed by generation: newer objects stay, and objects already gone count as
/// removed, so that every rank may call it. If a last object was replaced meanwhile, that is a
/// failure, and the new one's objects stay. The last object of a set is removed first, before
/// anything else: if the process is killed, each set is whole or gone. The manifests are removed
/// last, so that a killed removal shows in checkpoint_set_list::unfinished, and can be repeated. 16
/// removals run at a time, free of charge (protocol.md 3.4). A bucket with soft delete or versions
/// keeps the objects as usual.
///
/// Errors of all: invalid_argument; those of listing and reading; cancelled and deadline_exceeded
/// by the limits. A failed removal is in the report, and is no error.
///
/// Lifetime: the store outlives the operations.
///
/// Threads: any may call. `done` is called on an executor of the store, or inside the call for an
/// invalid request. Blocking forms are not for completions, nor for a virtual_scheduler.
///
/// Cost: one listing, one of open uploads, and one read for each manifest; removals are free of
/// charge.
namespace dataflux::inline DATAFLUX_ABI {

/// Where the sets are.
struct checkpoint_sets_request {
  std::string bucket{};
  /// Empty = the whole bucket, where nothing is removed.
  std::string prefix{};
  call_limits limits{};
};

/// What stays when old sets are removed.
struct keep_last_request {
  std::string bucket{};
  /// Not empty.
  std::string prefix{};
  /// Complete sets that stay, the newest; at least 1.
  std::size_t count{1};
  /// Also removes unfinished sets without a write for this long. Choose more than a save takes,
  /// such as a day: a save under way would be damaged. Nothing = they stay; they also stay if the
  /// service does not tell the time.
  std::optional<duration> remove_unfinished_older_than{};
  call_limits limits{};
};

struct unfinished_checkpoint_set {
  /// The set's prefix with its slash; for a save over a set that save's own folder, such as
  /// "run/latest/.dataflux-save-0123456789abcdef/". If a set was saved over, and leftovers of the
  /// first one remain, this is also the prefix of a complete set. keep_last_checkpoint_sets() tells
  /// them apart, start_remove_checkpoint_set() does not.
  std::string prefix{};
  std::uint64_t objects{0};
  std::uint64_t bytes{0};
  /// Open uploads of a save over a set. Their bytes are unknown, but billed.
  std::uint64_t uploads{0};
  /// When the last of them was written, or an upload begun, and its age at the listing, by the
  /// service's clock; nothing if the service does not tell.
  std::optional<timestamp> written{};
  std::optional<duration> age{};
};

struct checkpoint_set_list {
  /// The oldest commit first.
  std::vector<checkpoint_set_info> complete{};
  /// Sets with a last object and without some of the rest. A set that is being replaced or removed
  /// may look so: checkpoint_set::open() looks again.
  std::vector<damaged_checkpoint_set> damaged{};
  /// Members or manifests without a last object: a save, a commit or a removal that is under way or
  /// abandoned. Members are recognised by the metadata of checkpoint_set::open_member(), open
  /// uploads by their names, so only those of a save over a set.
  std::vector<unfinished_checkpoint_set> unfinished{};
  /// Why open uploads are missing, if they may not be listed (storage.multipartUploads.list).
  std::optional<error> uploads_unknown{};
};

/// The sets below `prefix`, its own included; an empty prefix is the whole bucket. Complete are
/// those that checkpoint_set::open() would open. Cost: a listing of the prefix, one of its open
/// uploads, a read for each set.
void start_list_checkpoint_sets(object_store& store, const checkpoint_sets_request& request,
                                object_store::completion<checkpoint_set_list> done);
inline operation<checkpoint_set_list> submit_list_checkpoint_sets(object_store& store,
                                                                  checkpoint_sets_request request) {
  return start_operation<checkpoint_set_list>(request.limits, [&](auto done) {
    start_list_checkpoint_sets(store, request, std::move(done));
  });
}
inline result<checkpoint_set_list> list_checkpoint_sets(object_store& store,
                                                        checkpoint_sets_request request) {
  return submit_list_checkpoint_sets(store, std::move(request)).take();
}

/// Opens the newest complete set below `prefix`, by the time of its commit, such as for a restarted
/// run.
///
///     auto saved = latest_checkpoint_set(context, {.bucket = "bucket", .prefix = "run"});
///     if (!saved && saved.error().code() == errc::not_found) start_from_nothing();
///
/// It skips damaged sets for the next older one, and checkpoint_set_reader::passed_over() names
/// them: check that before training resumes from an older step. It skips sets removed meanwhile,
/// too. If none can be opened and one was removed, it lists the prefix again, because there may be
/// a newer one.
///
/// Errors: not_found without a set. data_loss when all sets are damaged, with their number and the
/// reason of the newest one. unimplemented when the newest one is of a later version. aborted, and
/// retryable, when sets are removed as fast as they are found. Otherwise those of listing and
/// reading. Lifetime: the reader keeps the context. Cost: a listing of the prefix, and
/// checkpoint_set::open() of the newest set; the manifests of older ones are not read, unless it is
/// damaged.
void start_latest_checkpoint_set(const transfer_context& context,
                                 const checkpoint_sets_request& request,
                                 object_store::completion<checkpoint_set_reader> done);
inline operation<checkpoint_set_reader> submit_latest_checkpoint_set(
    const transfer_context& context, checkpoint_sets_request request) {
  return start_operation<checkpoint_set_reader>(request.limits, [&](auto done) {
    start_latest_checkpoint_set(context, request, std::move(done));
  });
}
inline result<checkpoint_set_reader> latest_checkpoint_set(const transfer_context& context,
                                                           checkpoint_sets_request request) {
  return submit_latest_checkpoint_set(context, std::move(request)).take();
}

/// Removes the oldest complete sets below `prefix`, by the time of their commits and not by name,
/// until `count` are left. Damaged sets do not count and stay. Unfinished ones stay unless an
/// option removes them, with their open uploads. Objects that a removed set does not list stay.
void start_keep_last_checkpoint_sets(object_store& store, const keep_last_request& request,
                                     object_store::completion<removal_report> done);
inline operation<removal_report> submit_keep_last_checkpoint_sets(object_store& store,
                                                                  keep_last_request request) {
  return start_operation<removal_report>(request.limits, [&](auto done) {
    start_keep_last_checkpoint_sets(store, request, std::move(done));
  });
}
inline result<removal_report> keep_last_checkpoint_sets(object_store& store,
                                                        keep_last_request request) {
  return submit_keep_last_checkpoint_sets(store, std::move(request)).take();
}

/// Removes all objects below `prefix`: one set or several, unfinished ones, other programs'
/// checkpoints. Last objects, and objects with such a name (".metadata"), are removed first. Open
/// uploads of names below it are aborted. The prefix is not empty.
void start_remove_checkpoint_set(object_store& store, const checkpoint_sets_request& request,
                                 object_store::completion<removal_report> done);
inline operation<removal_report> submit_remove_checkpoint_set(object_store& store,
                                                              checkpoint_sets_request request) {
  return start_operation<removal_report>(request.limits, [&](auto done) {
    start_remove_checkpoint_set(store, request, std::move(done));
  });
}
inline result<removal_report> remove_checkpoint_set(object_store& store,
                                                    checkpoint_sets_request request) {
  return submit_remove_checkpoint_set(store, std::move(request)).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/checkpoint_sets.ipp>
#endif
