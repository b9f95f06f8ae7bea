#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Finds and removes leftovers in a bucket, which are billed: of uploads and reads that were
/// killed, or lost the service.
namespace dataflux::inline DATAFLUX_ABI {

enum class leftover_kind : std::uint8_t {
  /// A multipart upload that was neither completed nor aborted, of any program.
  upload,
  /// Below temporary_objects_prefix: uploaded, and not moved to its own name. Or of a question to a
  /// server of S3 (docs/s3.md), directly below the prefix that was asked for.
  temporary_object,
  /// Below composed_objects_prefix: was composed for a read (get_many_request::compose).
  composite,
};

enum class leftover_verdict : std::uint8_t {
  stale,    ///< expired: it was removed, or with find_leftovers() would be
  young,    ///< may be in use, for all that is known of its age
  foreign,  ///< below one of the prefixes, but not dataflux's: never removed
  failed,   ///< could not be removed
};

struct leftover {
  leftover_kind kind{leftover_kind::upload};
  leftover_verdict verdict{leftover_verdict::foreign};
  /// The intended name of an upload or a temporary object; otherwise its name.
  std::string target{};
  /// False: `target` is the beginning of a name that was too long to be kept, up to the end of a
  /// character.
  bool whole_target{true};
  /// What it is called in the bucket.
  std::string name{};
  /// Of an open upload; empty = an object.
  std::string upload_id{};
  std::int64_t generation{0};
  /// Of an object; the service does not say what an open upload's parts take.
  std::uint64_t size{0};
  /// An object that was removed or replaced, in a bucket that keeps versions.
  bool noncurrent{false};
  /// By the service's clock; nothing if unknown.
  std::optional<timestamp> began{};
  /// Why it was not removed, where that failed.
  std::optional<error> failure{};
};

struct leftovers_report {
  /// In order of targets; of one target, the oldest first.
  std::vector<leftover> rows{};
  std::uint64_t stale{0};
  std::uint64_t stale_bytes{0};
  std::uint64_t young{0};
  std::uint64_t foreign{0};
  std::uint64_t failed{0};
};

struct leftovers_request {
  std::string bucket{};
  /// Of uploads and temporary objects: those whose target or name begins with it.
  std::string prefix{};
  /// Lists open uploads and temporary objects.
  bool uploads{true};
  /// Lists composites: only if `prefix` is empty, because they belong to no name.
  bool composites{true};
  /// Stale is what has this age; 0 = everything. Unset: composites whose own time has passed
  /// (compose_options::lifetime), and nothing else, since an upload may be somebody's at work.
  std::optional<duration> older_than{};
  /// Of the whole call.
  call_limits limits{};
};

/// Finds leftovers and says of each what remove_leftovers() would do. Removes nothing.
///
/// Ages are by the service's clock: from when it created the object, or began the upload, to when
/// it answered a listing (list_page::served). So a wrong clock here, or where the leftover was
/// made, does no harm. A store that does not tell the time is asked with this machine's clock.
///
/// Errors: invalid_argument before any request; those of the listings; cancelled and
/// deadline_exceeded by the limits.
/// Lifetime: the store outlives the call.
/// Threads: any may call. Blocking forms are not for completions.
/// Cost: a listing of the prefix of composites, two of that of temporary objects (versions, too),
/// two of the open uploads. Memory: the rows.
result<leftovers_report> find_leftovers(object_store& store, leftovers_request request);
operation<leftovers_report> submit_find_leftovers(object_store& store, leftovers_request request);
/// `done` runs on an executor of the store; inside this call only when the request is invalid, or
/// the store was inherited by a fork.
void start_find_leftovers(object_store& store, const leftovers_request& request,
                          object_store::completion<leftovers_report> done);

/// The same, and removes what is stale: 16 at a time, each object by its generation and for good,
/// uploads by aborting them. A leftover that somebody else has removed meanwhile counts as removed.
///
/// Safe beside running jobs as far as ages are: an upload that is aborted while somebody is at work
/// on it fails, so choose an age that no upload takes. A job whose composite is taken away reads
/// the objects one by one.
///
/// Errors: as above, and what the rest would meet, too: unauthenticated, and unavailable when no
/// reply came. All other failures are in the report.
/// Lifetime, Threads: as above.
/// Cost: that of find_leftovers(); removals are free of charge (protocol.md 3.4).
result<leftovers_report> remove_leftovers(object_store& store, leftovers_request request);
operation<leftovers_report> submit_remove_leftovers(object_store& store, leftovers_request request);
void start_remove_leftovers(object_store& store, const leftovers_request& request,
                            object_store::completion<leftovers_report> done);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/leftovers.ipp>
#endif
