#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/list/name_selection.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Whole folders: upload_folder() and download_folder().
namespace dataflux::inline DATAFLUX_ABI {

/// What became of one name.
enum class copy_outcome : std::uint8_t {
  copied,         ///< in a dry run: would be
  already_there,  ///< with `resume`: the target has it, of the same size and CRC32C; see also
                  ///< `by_time` and `no_clobber`
  folder,         ///< a download of an empty object "x/": the folder x is there
  removed,        ///< with `delete_extra`; in a dry run: would be
  failed,         ///< nothing of it is there that was not before
};

/// One name. Its pointers are valid during the callback. A removal has only the target's name.
struct copy_item {
  copy_outcome outcome{copy_outcome::copied};
  /// Empty if the name cannot be an object's.
  std::string_view object{};
  /// The file's path, below the request's `path`; empty if the name cannot be a file's.
  std::string_view path{};
  std::uint64_t bytes{0};
  /// Of the object that was read; 0 = none was.
  std::int64_t generation{0};
  /// Why it failed. An error of the file system names the path, and no bucket.
  const error* failure{nullptr};
  /// A remark, such as that it was compared with nothing.
  std::string_view note{};
};

enum class copy_on_error : std::uint8_t {
  go_on,  ///< with the next name, unless that would fail as well: see upload_folder()
  stop,   ///< the call ends with the first failure of a name
};

/// A local folder, and the objects of its files.
struct copy_folder_request {
  /// The folder. Symbolic links on the way to it are followed.
  std::string path{};
  std::string bucket{};
  /// An object's name is this prefix and the file's path below the folder. Empty = all of the
  /// bucket; otherwise a missing '/' is added.
  std::string prefix{};
  /// Which names below the folder; all others are left alone on both sides.
  name_selection select{};
  /// Of a download: these objects below the prefix, such as a manifest has, by their generations;
  /// nothing is listed. Null = those of a listing. Not with delete_extra.
  std::shared_ptr<const object_columns> rows{};
  /// Skips names that the target has with the same size and CRC32C, and continues large files of an
  /// earlier call: see upload_file() and download_file(). False: copies everything, and failures
  /// leave nothing.
  bool resume{false};
  /// With `resume`: what has the same size, and was written an hour or more after the other side,
  /// is taken to be the same, and not read. The hour is for clocks that differ.
  bool by_time{false};
  /// Replaces nothing: what is there counts as already_there, whatever it has.
  bool no_clobber{false};
  /// Of an upload: what each object gets. No content type = that of its name's extension.
  object_attributes attributes{};
  /// Changes nothing; reports what would be done.
  bool dry_run{false};
  /// Finally removes names that only the target has.
  bool delete_extra{false};
  copy_on_error on_error{copy_on_error::go_on};
  /// Failures that the report lists; all are counted. 0 = 100.
  std::size_t max_failures{0};
  /// Called on the strand with the outcome of each name, one call at a time. Must neither throw nor
  /// block for long.
  std::function<void(const copy_item&)> item{};
  /// Called on the strand when more is known to come: objects, and bytes. Must not throw.
  std::function<void(std::uint64_t, std::uint64_t)> found{};
  /// Called with each number of bytes copied or compared, on threads of the library, concurrently.
  /// Must not throw.
  std::function<void(std::uint64_t)> progress{};
  /// Of the uploads of large files: see upload_request. Outlives the call.
  dataflux::observer* observer{nullptr};
  /// Of the whole call.
  call_limits limits{};
};

struct copy_failure {
  std::string object{};
  std::string path{};
  error why;
};

/// What was done, or would be in a dry run.
struct copy_folder_report {
  std::uint64_t found{0};   ///< files or objects of the source that were selected
  std::uint64_t copied{0};  ///< of these; and what they have
  std::uint64_t bytes{0};
  std::uint64_t already_there{0};
  std::uint64_t folders{0};
  std::uint64_t removed{0};
  std::uint64_t failed{0};
  /// The first ones.
  std::vector<copy_failure> failures{};
  /// With `delete_extra`: why nothing was removed. Empty = extra names were removed, except for
  /// failures.
  std::string not_removed{};
};

/// Copies the files below a folder into objects. Small ones (up to 16 MiB) are one insert each,
/// many at a time; larger ones go as upload_file() sends them, some at a time. Objects get the
/// content type of their name's extension.
///
/// Copied: regular files, and links to them. Reported as failed: links to folders, broken links,
/// devices, sockets, and unreadable files. Skipped silently: leftovers of interrupted copies
/// (journals, parts, unfinished files).
///
/// Atomic: an object appears whole and compared, or not at all. It replaces the object that existed
/// when its copy began; of two concurrent writers one fails. A file that changes while it is read
/// fails. A call that ends early leaves whole objects.
///
/// delete_extra: removes objects below the prefix without a file, by the generation that was seen.
/// It begins when everything else is done, and lists source and target once more. It removes
/// nothing if something could not be read or copied, or if the source is empty: see
/// copy_folder_report::not_removed. It never removes objects "x/" of folders, objects below a
/// reserved prefix (store/detail/reserved_prefixes.hpp), and journals and parts.
///
/// Errors: a failed name is reported and counted, and the others are copied. The call itself fails
/// in three cases. Not all of the source could be listed (then it copies what it found); it was
/// cancelled, or its time passed; the rest would fail, too: no space on the disk, no service, no
/// credentials. Errors of the file system name the path, and no bucket: not_found,
/// permission_denied, resource_exhausted, failed_precondition (a file in place of a folder).
/// invalid_argument for an invalid request.
///
/// Lifetime: the context's store outlives the call.
/// Threads: any may call; nothing happens inside this call. `done` runs on the context's strand.
/// Blocking steps run on threads for files (exec/detail/blocking_worker.hpp). Blocking forms are
/// not for completions, nor for a virtual_scheduler.
///
/// Cost: memory holds the names of one folder for each level down to the current file, not those of
/// all files. Bytes of files are under transfer_options::upload_memory; listings read 32 MiB ahead.
/// With `resume` the prefix is listed, and files of equal size are read to compare them.
void start_upload_folder(const transfer_context& context, copy_folder_request request,
                         object_store::completion<copy_folder_report> done);

/// Copies the objects below a prefix into files. Those of up to a slice come many together by a
/// `getter`; larger ones as download_file() reads them, some at a time. The folder and its parents
/// are created for the first file. Files are not flushed to the disk.
///
/// Which names: see why_no_file_name(). Others are reported as failed. An empty object "x/" creates
/// the folder x. Below the folder symbolic links are never followed: a link in place of a file is
/// replaced, one in place of a folder fails.
///
/// Atomic: a file gets its name when all its bytes were written and compared. It replaces a file,
/// but no folder. A call that ends early leaves whole files.
///
/// delete_extra: removes regular files, and links to them, without an object, under the rules of
/// uploads. Folders stay, and so do files that upload_folder() would skip or not copy.
///
/// Errors, Lifetime, Threads: as above. An empty prefix is no error: found is 0. Cost: memory does
/// not grow with the number of objects; bytes are under transfer_options::memory_cap.
void start_download_folder(const transfer_context& context, copy_folder_request request,
                           object_store::completion<copy_folder_report> done);

inline operation<copy_folder_report> submit_upload_folder(const transfer_context& context,
                                                          copy_folder_request request) {
  return start_operation<copy_folder_report>(request.limits, [&](auto done) {
    start_upload_folder(context, std::move(request), std::move(done));
  });
}
inline result<copy_folder_report> upload_folder(const transfer_context& context,
                                                copy_folder_request request) {
  return submit_upload_folder(context, std::move(request)).take();
}
inline operation<copy_folder_report> submit_download_folder(const transfer_context& context,
                                                            copy_folder_request request) {
  return start_operation<copy_folder_report>(request.limits, [&](auto done) {
    start_download_folder(context, std::move(request), std::move(done));
  });
}
inline result<copy_folder_report> download_folder(const transfer_context& context,
                                                  copy_folder_request request) {
  return submit_download_folder(context, std::move(request)).take();
}

/// Why an object's name is no path of a file below a folder; empty if it is one. Anybody who may
/// write to a bucket chooses its names, any UTF-8. So a name is used unchanged or refused: cleaning
/// up could turn two names into one file. Refused: an empty name; an empty part ("/x", "a//b",
/// "x/"); "." and ".."; a zero byte; a part of more than 255 bytes. Any other byte is allowed, as
/// for uploads. Pure.
std::string_view why_no_file_name(std::string_view name) noexcept;

/// The content type of a name's extension, as other tools of the service set it;
/// "application/octet-stream" for unknown ones. Case does not matter. Pure.
std::string_view content_type_of(std::string_view name) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/folder/impl/copy_folder.ipp>
#include <dataflux/folder/impl/file_names.ipp>
#endif
