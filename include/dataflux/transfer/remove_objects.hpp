#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// What could not be removed, and why.
struct failed_removal {
  std::string name{};
  error why;
};

/// An object whose removal has ended.
struct ended_removal {
  std::string name{};
  std::int64_t generation{0};
  std::uint64_t size{0};
  /// Nothing: it is gone, or in a dry run would be.
  std::optional<error> failure{};
};

/// What remove_objects() has done.
struct removed_objects {
  /// Gone, or in a dry run would be; and their bytes.
  std::uint64_t objects{0};
  std::uint64_t bytes{0};
  /// Younger than remove_objects_request::older_than.
  std::uint64_t young{0};
  std::uint64_t failed{0};
  /// The first of those that failed, up to remove_objects_request::max_failures.
  std::vector<failed_removal> failures{};
};

/// How far remove_objects() is.
struct removal_progress {
  std::uint64_t objects{0};
  std::uint64_t bytes{0};
  std::uint64_t failed{0};
  /// Those that have ended since the call before; borrowed during this one.
  std::span<const ended_removal> ended{};
};

/// What to remove: one of `prefix`, `rows`, `names`. With none of them nothing is removed.
struct remove_objects_request {
  std::string bucket{};
  /// All objects whose names begin with it; "" is the whole bucket, unset is no object.
  std::optional<std::string> prefix{};
  /// The generations of a listing, such as a part of what fast_list() gave.
  object_columns rows{};
  /// The live objects of these names: each is statted when it has its turn, and that generation
  /// is removed.
  std::vector<std::string> names{};
  /// Leaves no noncurrent version in a bucket that keeps those.
  bool for_good{false};
  /// With `prefix`: only objects of this age, by the service's clock. Unset = of any age.
  std::optional<duration> older_than{};
  /// Removes nothing, and reports what would be.
  bool dry_run{false};
  /// How many are removed at a time; 0 = 16.
  std::size_t parallel{0};
  /// How many failures the result names; all of them are counted, and passed to `progress`. 0 =
  /// 100.
  std::size_t max_failures{0};
  /// Called on an executor of the store with those that have ended: some ten times a second, sooner
  /// when they are a thousand, and at the end. Must neither block nor throw.
  std::function<void(const removal_progress&)> progress{};
  /// Of the whole call.
  call_limits limits{};
};

/// Removes many objects. Below a prefix they are removed while it is listed, a page ahead, so that
/// memory does not grow with it.
///
///     auto done = remove_objects(*client, {.bucket = "data", .prefix = "tmp/"});
///     for (const failed_removal& each : done.value().failures) report(each.name, each.why);
///
/// Each object is removed by its generation: newer objects stay, and the store may repeat a request
/// whose reply was lost. An object that is already gone counts as removed.
///
/// Errors: invalid_argument before any request; those of the listing; cancelled and
/// deadline_exceeded by the limits; and failures that the rest would meet, too: unauthenticated,
/// and unavailable when no reply came. Objects that were removed before stay removed. All other
/// failures of objects are in the result:
/// failed_precondition when another generation has replaced it, not_found for a name without an
/// object. Lifetime: the store outlives the call. Threads: any may call, and nothing happens inside
/// of it. Blocking forms are not for completions. Cost: removals are free of charge (protocol.md
/// 3.4). A listing is a request for each thousand objects; a name is one, too.
result<removed_objects> remove_objects(object_store& store, remove_objects_request request);
/// The same as an operation: cancel it, poll it, wait for it.
operation<removed_objects> submit_remove_objects(object_store& store,
                                                 remove_objects_request request);
/// The same in callback form. `done` runs on an executor of the store; inside this call only when
/// the request is invalid, or the store was inherited by a fork.
void start_remove_objects(object_store& store, remove_objects_request request,
                          object_store::completion<removed_objects> done);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/remove_objects.ipp>
#endif
