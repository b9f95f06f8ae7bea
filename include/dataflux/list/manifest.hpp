#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/list/listing_changes.hpp>
#include <dataflux/list/shared_list.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A saved listing: written once, and loaded by every rank of a job; docs/manifest.md has the
/// format. A manifest records how it was listed, so that it can be listed again and compared:
///
///     auto now = refresh_manifest(store, *before, {});
///     for (auto i : now->changes.added) use(now->now.objects.name(i));
///     save_manifest(path, now->description, now->now.objects);
namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
class manifest_joiner;
}

/// What was listed, how and when. All texts are UTF-8.
struct manifest_description {
  std::string bucket{};
  /// These four as in list_page_request.
  std::string prefix{};
  std::string start_offset{};
  std::string end_offset{};
  std::string match_glob{};
  /// Rows are all generations, not the live ones alone.
  bool versions{false};
  /// When the listing began: earlier writes are in it, later ones may be.
  timestamp taken{};
  /// Other filters of the listing, as names and values; kept unchanged.
  std::vector<std::pair<std::string, std::string>> options{};
  std::string scheme{"gs"};  ///< store_traits::scheme of what was listed

  bool operator==(const manifest_description&) const = default;
};

/// A saved listing, in order of names, read where it lies.
///
/// Opening checks the end, the table and the description, and reads no block. A block, of up to
/// 65,536 objects, is checked (checksum and offsets) at its first use. So no row ever comes from a
/// damaged block, and a rank reads only the blocks of its rows.
///
/// Errors: those of open(), over() and rows().
///
/// Lifetime: a handle: copies share the mapping, which lives as long as any of them or any rows
/// from it.
///
/// Threads: all members from any thread.
///
/// Cost: opening grows with the blocks, not with the rows.
class manifest {
 public:
  /// Maps a file. It must not be written to or cut off while it is in use (save_manifest()
  /// never does: it replaces the file); a cut raises SIGBUS.
  ///
  /// Errors: not_found, permission_denied and other failures of the file system; invalid_argument:
  /// not a manifest; unimplemented: a newer version; data_loss: truncated, or damaged, and where.
  static result<manifest> open(const std::string& path);

  /// The same over memory that `owner` keeps alive and unchanged; its address must be a multiple of
  /// 8. Errors, also those of rows(), begin with `shown_as`.
  static result<manifest> over(bytes_view bytes, std::shared_ptr<const void> owner,
                               std::string shown_as = {});

  const manifest_description& description() const noexcept;
  std::size_t size() const noexcept;  ///< rows
  /// Bytes of the whole file or object.
  std::size_t bytes() const noexcept;

  /// Rows first .. first + count, cut at size(), in the manifest's own memory. The error
  /// (data_loss) names the damaged block and its rows. Cost: for blocks that are met for the first
  /// time about 4 ns a row, reading from disk apart; nothing for a row later on.
  result<object_columns> rows(std::size_t first, std::size_t count) const;
  result<object_columns> rows() const { return rows(0, size()); }

  /// Row `i`, whose name lies in the manifest's memory. out_of_range for i >= size(); data_loss as
  /// of rows(). Cost: a binary search over the blocks, no allocation; a block that is met for the
  /// first time as of rows().
  result<object_row> row(std::size_t i) const;

  /// The differences to a later listing of the same place: compare_listings() with these rows.
  result<listing_changes> changes_to(const object_columns& later) const;

 private:
  friend class detail::manifest_joiner;
  struct state;
  explicit manifest(std::shared_ptr<const state> s) noexcept : state_(std::move(s)) {}
  std::shared_ptr<const state> state_;
};

/// Writes a listing as a manifest to a file, which appears whole or not at all: it has no name
/// until all of it is flushed to disk (see exec/detail/hidden_file.hpp). It replaces an existing
/// file. After a failure nothing is left.
///
/// Errors: invalid_argument when `rows` are not in order of names, and of generations within a
/// name, or a description is not UTF-8. not_found: the folder is missing; permission_denied: it may
/// not be written to; resource_exhausted: the disk is full, or a limit of the process reached.
///
/// Threads: any may call; it blocks for the disk.
///
/// Cost: about 30 ns a row and the disk; memory for one block, some 5 MB.
result<void> save_manifest(const std::string& path, const manifest_description& description,
                           const object_columns& rows);

/// Where in a store a manifest goes.
struct manifest_target {
  std::string bucket{};
  std::string object{};
  /// A manifest of at most so many bytes is inserted in one request, a larger one uploaded in parts
  /// of that size, four at a time. Raised to what the store asks of a part and to a multiple of
  /// part_quantum; 0 = 8 MiB.
  std::size_t part_size{0};
  /// For the whole, all requests of it.
  call_limits limits{};
};

/// Writes a listing as a manifest to an object. It appears whole and replaces the object of that
/// name, whose generation is found first, by one request. If it fails or is cancelled, the upload
/// is aborted, the old object stays, and the error names what could not be removed.
///
/// Errors: as for a file, and those of an upload (upload_request): failed_precondition when another
/// has written the object meanwhile.
///
/// Lifetime: the store outlives the operation. Rows are shared (object_columns::slice), not copied.
///
/// Threads: any may call. Parts are made one by one on the store's executor, which is busy for some
/// milliseconds with each. Blocking forms are not for completions, nor for a virtual_scheduler.
///
/// Cost: memory for four parts; requests as manifest_target::part_size says.
void start_save_manifest(object_store& store, const manifest_target& target,
                         const manifest_description& description, const object_columns& rows,
                         object_store::completion<object_metadata> done);

inline operation<object_metadata> submit_save_manifest(object_store& store, manifest_target target,
                                                       const manifest_description& description,
                                                       const object_columns& rows) {
  return start_operation<object_metadata>(target.limits, [&](auto done) {
    start_save_manifest(store, target, description, rows, std::move(done));
  });
}
inline result<object_metadata> save_manifest(object_store& store, manifest_target target,
                                             const manifest_description& description,
                                             const object_columns& rows) {
  return submit_save_manifest(store, std::move(target), description, rows).take();
}

/// Reads a manifest from an object into memory, in one request; checks it as manifest::open() does.
///
/// Errors: those of the read and of manifest::over().
/// Lifetime: the store outlives the operation, and the manifest may outlive the store.
/// Threads: any may call. Blocking forms are not for completions, nor for a virtual_scheduler.
/// Cost: one request; memory for the whole object, as long as the manifest or rows of it live.
void start_load_manifest(object_store& store, const read_request& request,
                         object_store::completion<manifest> done);

inline operation<manifest> submit_load_manifest(object_store& store, read_request request) {
  return start_operation<manifest>(
      request.limits, [&](auto done) { start_load_manifest(store, request, std::move(done)); });
}
inline result<manifest> load_manifest(object_store& store, read_request request) {
  return submit_load_manifest(store, std::move(request)).take();
}

/// The description of a manifest of that listing of a store of `scheme`, begun at `taken`. Its
/// options have the filter: skip_markers and skip_composed ("true" or "false"), and if set suffix,
/// regex, min_size, max_size, and storage_class once for each.
///
/// Errors (invalid_argument): a delimiter, because a manifest has no folded prefixes. Pure.
result<manifest_description> describe_listing(const fast_list_request& request, timestamp taken,
                                              std::string_view scheme = "gs");

/// The reverse: the request that lists the same again; a missing option is fast_list's default.
/// `extra` are the columns that the rows had (object_columns::kept).
///
/// Errors: unimplemented for an option of a name or value that this version does not know, because
/// the listing would be another one. Pure.
result<fast_list_request> request_again(const manifest_description& description,
                                        extra_columns extra);

struct refresh_options {
  /// These three as in fast_list_request.
  std::uint32_t parallelism{0};
  dataflux::observer* observer{nullptr};
  std::uint64_t call{0};  ///< as fast_list_request::call
  call_limits limits{};
};

/// The new listing, in order of names, and its differences: `before` in the changes is a row of the
/// manifest, `after` and `added` are rows of `now`.
struct refreshed_listing {
  manifest_description description{};
  listing now{};
  listing_changes changes{};
};

/// Lists again what `before` lists, and compares. Nothing is written.
///
/// Errors: invalid_argument for a manifest of another service, before any request; those of
/// request_again(), fast_list() and manifest::rows(); resource_exhausted without memory for rows.
///
/// Lifetime: the store and the observer outlive the operation.
///
/// Threads: any may call; none of the rows is touched inside the call. They are checked on threads
/// for files, before any request. `done` runs on an executor of the store; inside the call only in
/// the child of a fork. Blocking forms are not for completions, nor for a virtual_scheduler.
///
/// Cost: that of manifest::rows() and fast_list(), and about 10 ns a row for the comparison, on
/// that executor.
void start_refresh_manifest(object_store& store, const manifest& before,
                            const refresh_options& options,
                            object_store::completion<refreshed_listing> done);

inline operation<refreshed_listing> submit_refresh_manifest(object_store& store,
                                                            const manifest& before,
                                                            refresh_options options) {
  return start_operation<refreshed_listing>(options.limits, [&](auto done) {
    start_refresh_manifest(store, before, options, std::move(done));
  });
}
inline result<refreshed_listing> refresh_manifest(object_store& store, const manifest& before,
                                                  refresh_options options) {
  return submit_refresh_manifest(store, before, std::move(options)).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/manifest.ipp>
#include <dataflux/list/impl/manifest_object.ipp>
#include <dataflux/list/impl/manifest_refresh.ipp>
#include <dataflux/list/impl/manifest_writer.ipp>
#include <dataflux/list/impl/share_call.ipp>
#endif
