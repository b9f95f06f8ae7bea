#pragma once

#include <dataflux/exec/operation.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

/// Writes a listing as a manifest to a file, which is then there whole or not at all: it has no
/// name until all of it is flushed to disk (see exec/hidden_file.hpp); a file that was there is
/// replaced. Whatever fails, nothing is left.
///
/// `rows` must be in order of names, and of generations within a name: invalid_argument otherwise,
/// as for a description that is not UTF-8. not_found: the folder is missing; permission_denied: it
/// may not be written to; resource_exhausted: the disk is full, or a limit of the process reached.
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

/// Writes a listing as a manifest to an object, which appears when all of it is there, in place of
/// the one of that name that is there now: looked up first, by one request. When it fails, or is
/// cancelled, the upload is aborted first, the object that was there stays, and what could not be
/// removed is named.
///
/// Errors as for a file, and those of object_upload, which it goes through: failed_precondition
/// when another has written the object meanwhile. The rows are shared (object_columns::slice), not
/// copied; parts are made one by one on the store's executor, which is busy for some milliseconds
/// with each. Memory: four parts. The store outlives the operation; blocking forms are not for
/// completions, nor for a virtual_scheduler.
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

/// Reads a manifest from an object into memory, in one request: the object's checksum is compared,
/// and blocks are checked as ever. Errors are those of the read and of manifest::over().
void start_load_manifest(object_store& store, const read_request& request,
                         object_store::completion<manifest> done);

inline operation<manifest> submit_load_manifest(object_store& store, read_request request) {
  return start_operation<manifest>(
      request.limits, [&](auto done) { start_load_manifest(store, request, std::move(done)); });
}
inline result<manifest> load_manifest(object_store& store, read_request request) {
  return submit_load_manifest(store, std::move(request)).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/manifest_object.ipp>
#include <dataflux/list/impl/manifest_writer.ipp>
#endif
