#pragma once

#include <dataflux/folder/copy_folder.hpp>
#include <dataflux/list/name_selection.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

/// All objects below a prefix to another one, by the service: copy_objects().
namespace dataflux::inline DATAFLUX_ABI {

/// Which objects, and where they go. Both buckets are of one service.
struct copy_objects_request {
  std::string source_bucket{};
  /// Empty = all of the bucket; otherwise a missing '/' is added, as to `prefix`.
  std::string source_prefix{};
  std::string bucket{};
  std::string prefix{};
  /// Which names below the prefixes; all others are left alone on both sides.
  name_selection select{};
  /// These objects below the source's prefix, by their generations; null = those of a listing.
  std::shared_ptr<const object_columns> rows{};
  /// Leaves out what the target has with the same content, as far as two listings tell.
  bool only_changed{false};
  /// Replaces nothing: an object that is there counts as already_there.
  bool no_clobber{false};
  /// Removes each source when its copy is there.
  bool move{false};
  /// Changes nothing; reports what would be done.
  bool dry_run{false};
  /// Finally removes names that only the target has. Not with `rows` and `move`.
  bool delete_extra{false};
  /// If any is set the copies have exactly these; otherwise those of the sources.
  object_attributes attributes{};
  copy_on_error on_error{copy_on_error::go_on};
  /// Failures that the report lists; all are counted. 0 = 100.
  std::size_t max_failures{0};
  /// As in copy_folder_request. `object` of an item is the target's name, `path` the source's.
  std::function<void(const copy_item&)> item{};
  std::function<void(std::uint64_t, std::uint64_t)> found{};
  std::function<void(std::uint64_t)> progress{};
  /// Of the whole call.
  call_limits limits{};
};

/// Copies or moves objects within a service, which does it without their bytes passing here.
///
/// Which content is the same: of equal size, with equal CRC32C. Where a listing has none (S3): with
/// equal ETag, or written to the target a minute or more after it was written to the source.
///
/// Atomic: an object appears whole, or not at all, and a source is removed by the generation that
/// was copied. With only_changed a copy replaces what the listing has shown and nothing newer;
/// that one fails. Otherwise the last writer wins.
///
/// One prefix may lie in the other: names below the target are no source then. delete_extra is
/// refused where the source lies in the target.
///
/// delete_extra: removes by the generation that was seen, when all else is done, and nothing if
/// something failed or the source is empty: see copy_folder_report::not_removed. It never removes
/// objects "x/" of folders, nor below a reserved prefix.
///
/// Errors: as upload_folder(): a failed name is reported, and the others are copied.
/// invalid_argument for a prefix onto itself, and for what is said above.
/// Lifetime: the context's store outlives the call.
/// Threads: any may call; nothing happens inside this call. `done` runs on the context's strand.
/// Blocking forms are not for completions.
/// Cost: a request for each object, two for a move that is no rename; a listing of the source, and
/// with only_changed or delete_extra of the target. Memory: pages of listings, and the names that
/// delete_extra removes.
void start_copy_objects(const transfer_context& context, copy_objects_request request,
                        object_store::completion<copy_folder_report> done);

inline operation<copy_folder_report> submit_copy_objects(const transfer_context& context,
                                                         copy_objects_request request) {
  return start_operation<copy_folder_report>(request.limits, [&](auto done) {
    start_copy_objects(context, std::move(request), std::move(done));
  });
}
inline result<copy_folder_report> copy_objects(const transfer_context& context,
                                               copy_objects_request request) {
  return submit_copy_objects(context, std::move(request)).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/folder/impl/copy_objects.ipp>
#endif
