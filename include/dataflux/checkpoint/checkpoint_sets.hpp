#pragma once

#include <dataflux/checkpoint/checkpoint_sets_report.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstddef>
#include <string>

/// All the sets of a run (checkpoint/checkpoint_set.hpp): which there are, and removing what is no
/// longer wanted. `prefix` means a folder everywhere, with or without its slash: "a/b" is what lies
/// below "a/b/", and never "a/bc".
///
/// Removal goes by generations: what is written while it runs stays, and what somebody else has
/// removed counts as removed, so that every rank may call it. Of each set the last object goes
/// first, and nothing else before that is gone: killed at any moment, it leaves a set whole or no
/// set. The manifests go last, when all else is gone, so that a removal that was killed shows among
/// checkpoint_set_list::unfinished, and can be done again. Objects go 16 at a time, free of charge
/// (protocol.md 3.4); a bucket with soft delete or versions keeps them as it does all others.
///
/// Errors of all: invalid_argument; those of listing and reading; limits. What could not be removed
/// is in the report, and is no error. The store outlives the operations.
namespace dataflux::inline DATAFLUX_ABI {

/// The sets below `prefix`, its own included; an empty prefix is the whole bucket. Complete are
/// those that checkpoint_set::open() would give. Cost: a listing of the prefix, a read for each
/// set.
result<checkpoint_set_list> list_checkpoint_sets(object_store& store, const std::string& bucket,
                                                 const std::string& prefix,
                                                 call_limits limits = {});
operation<checkpoint_set_list> submit_list_checkpoint_sets(object_store& store,
                                                           const std::string& bucket,
                                                           const std::string& prefix,
                                                           call_limits limits = {});
void start_list_checkpoint_sets(object_store& store, const std::string& bucket,
                                const std::string& prefix, const call_limits& limits,
                                object_store::completion<checkpoint_set_list> done);

/// Removes the oldest complete sets below `prefix`, by the time of their commits and not by their
/// names, until `count` are left. Sets that are damaged neither count nor go, nor do unfinished
/// ones but by an option; nor does anything that a set which goes does not list as its own. `count`
/// is at least 1, and the prefix not empty.
result<removal_report> keep_last_checkpoint_sets(object_store& store, const std::string& bucket,
                                                 const std::string& prefix, std::size_t count,
                                                 call_limits limits = {},
                                                 const keep_last_options& options = {});
operation<removal_report> submit_keep_last_checkpoint_sets(
    object_store& store, const std::string& bucket, const std::string& prefix, std::size_t count,
    call_limits limits = {}, const keep_last_options& options = {});
void start_keep_last_checkpoint_sets(object_store& store, const std::string& bucket,
                                     const std::string& prefix, std::size_t count,
                                     const call_limits& limits,
                                     object_store::completion<removal_report> done,
                                     const keep_last_options& options = {});

/// Removes all that lies below `prefix`, whether it is a set, several, an unfinished one, or
/// somebody else's checkpoint: first what is a last object, or has the name of one (".metadata").
/// The prefix is not empty; open uploads are not looked at.
result<removal_report> remove_checkpoint_set(object_store& store, const std::string& bucket,
                                             const std::string& prefix, call_limits limits = {});
operation<removal_report> submit_remove_checkpoint_set(object_store& store,
                                                       const std::string& bucket,
                                                       const std::string& prefix,
                                                       call_limits limits = {});
void start_remove_checkpoint_set(object_store& store, const std::string& bucket,
                                 const std::string& prefix, const call_limits& limits,
                                 object_store::completion<removal_report> done);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/checkpoint_sets.ipp>
#endif
