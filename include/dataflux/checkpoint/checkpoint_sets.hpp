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

/// All the sets of a run (checkpoint/checkpoint_set.hpp): which there are, and removing what is no
/// longer wanted. `prefix` means a folder everywhere, with or without its slash: "a/b" is what lies
/// below "a/b/", and never "a/bc".
///
/// Removal goes by generations: what is written while it runs stays, and what somebody else has
/// removed counts as removed, so that every rank may call it. A last object that was replaced
/// meanwhile is a failure, and what the new one names stays with it. Of each set the last object
/// goes first, and nothing else before that is gone: killed at any moment, it leaves a set whole or
/// no set. The manifests go last, when all else is gone, so that a removal that was killed shows
/// among checkpoint_set_list::unfinished, and can be done again. Objects go 16 at a time, free of
/// charge (protocol.md 3.4); a bucket with soft delete or versions keeps them as it does all
/// others.
///
/// Errors: of all, invalid_argument; those of listing and reading; cancelled and deadline_exceeded
/// by the limits. An object that could not be removed is in the report, and is no error.
///
/// Lifetime: the store outlives the operations.
///
/// Threads: any may call. `done` is called on an executor of the store, or inside for a mistake of
/// the caller. Blocking forms are not for completions, nor for a virtual_scheduler.
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
  /// Unfinished sets for which nothing was written for longer go, too: choose more than a save
  /// takes, such as a day, for one that is under way would be damaged. Nothing: they stay. None
  /// goes where the service does not tell the time.
  std::optional<duration> remove_unfinished_older_than{};
  call_limits limits{};
};

struct unfinished_checkpoint_set {
  /// With its slash: the set's; of a save over a set that save's own folder, such as
  /// "run/latest/.dataflux-save-0123456789abcdef/". Where a set was saved over, and something of
  /// the first one is left, it is the prefix of a complete set, too: keep_last_checkpoint_sets()
  /// knows them apart, start_remove_checkpoint_set() does not.
  std::string prefix{};
  std::uint64_t objects{0};
  std::uint64_t bytes{0};
  /// Of members of a save over a set, that are open: how many bytes they have nobody tells, but
  /// they are billed.
  std::uint64_t uploads{0};
  /// When the last of them was written, or an upload begun, and how long before the listing that
  /// was, both by the service's clock; nothing where it does not tell.
  std::optional<timestamp> written{};
  std::optional<duration> age{};
};

struct checkpoint_set_list {
  /// The oldest commit first.
  std::vector<checkpoint_set_info> complete{};
  /// Their last object is there, but not all of the rest. One that is being replaced or removed
  /// may seem so: checkpoint_set::open() looks again.
  std::vector<damaged_checkpoint_set> damaged{};
  /// Members or manifests of no last object: a save, a commit or a removal that is under way or was
  /// given up. Members are known by what checkpoint_set::open_member() writes
  /// into their metadata; open uploads by their names, so those of a save over a set alone.
  std::vector<unfinished_checkpoint_set> unfinished{};
  /// Why open uploads are not among them, where they may not be listed
  /// (storage.multipartUploads.list).
  std::optional<error> uploads_unknown{};
};

/// The sets below `prefix`, its own included; an empty prefix is the whole bucket. Complete
/// are those that checkpoint_set::open() would give. Cost: a listing of the prefix, one of its open
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

/// Opens the newest complete set below `prefix`, by the time of its commit: what a run that
/// is begun again loads.
///
///     auto saved = latest_checkpoint_set(context, {.bucket = "bucket", .prefix = "run"});
///     if (!saved && saved.error().code() == errc::not_found) start_from_nothing();
///
/// Damaged sets are passed over for the next older one, and checkpoint_set_reader::passed_over()
/// names them: look there before training goes on from an older step. A set that is removed
/// meanwhile is passed over as well. When the last of those that were found has been removed, the
/// prefix is listed again, for there may be a newer one.
///
/// Errors: not_found when there is no set; data_loss when all sets are damaged, which says how many
/// those are, and why the newest of them is; unimplemented when the newest one is of a later
/// version; aborted, and retryable, when sets are removed as fast as they are found; else those of
/// listing and reading. Lifetime: the reader keeps the context. Cost: a listing of the prefix, and
/// checkpoint_set::open() of the newest set; the manifests of older ones are not read, unless
/// it is damaged.
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

/// Removes the oldest complete sets below `prefix`, by the time of their commits and not by
/// their names, until `count` are left. Sets that are damaged neither count nor go, nor do
/// unfinished ones but by an option, and then with their open uploads; nor does anything that a set
/// which goes does not list as its own.
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

/// Removes all that lies below `prefix`, whether it is a set, several, an unfinished one, or
/// somebody else's checkpoint: first what is a last object, or has the name of one
/// (".metadata"). Open uploads of names below it are aborted. The prefix is not empty.
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
