#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Whole folders: upload_folder() and download_folder().
namespace dataflux::inline DATAFLUX_ABI {

/// What became of one name.
enum class copy_outcome : std::uint8_t {
  copied,         ///< in a dry run: would be
  already_there,  ///< with `resume`: the target has it, of the same size and CRC32C
  folder,         ///< a download of an empty object "x/": the folder x is there
  removed,        ///< with `delete_extra`; in a dry run: would be
  failed,         ///< nothing of it is there that was not before
};

/// One name. What it points to lasts for the call that tells it. Of what is removed only the target
/// has a name.
struct copy_item {
  copy_outcome outcome{copy_outcome::copied};
  /// Empty where the name can be no object's.
  std::string_view object{};
  /// Of the file, with the request's `path` before it; empty where the name can be no file's.
  std::string_view path{};
  std::uint64_t bytes{0};
  /// Why it failed. An error of the file system names the path, and no bucket.
  const error* failure{nullptr};
  /// A remark, such as that the service gave no checksum to compare with.
  std::string_view note{};
};

enum class copy_on_error : std::uint8_t {
  go_on,  ///< with the next name, unless that would fail as well: see upload_folder()
  stop,   ///< the call ends with the first failure of a name
};

/// A folder here, and the objects in a bucket that stand for its files.
struct copy_folder_request {
  /// The folder. Symbolic links on the way to it are followed.
  std::string path{};
  std::string bucket{};
  /// An object is called as this and the file's path below the folder. Empty = all of the bucket; a
  /// '/' is put behind any other that does not end with one.
  std::string prefix{};
  /// What the target has already, of the same size and CRC32C, is not copied, and what an earlier
  /// call has left of a large file is gone on with: see upload_file() and download_file(). False:
  /// all is copied, and what fails leaves nothing.
  bool resume{false};
  /// Copies, makes and removes nothing; tells what would be.
  bool dry_run{false};
  /// In the end, names that only the target has are removed.
  bool delete_extra{false};
  copy_on_error on_error{copy_on_error::go_on};
  /// Failures that the report lists; all are counted. 0 = 100.
  std::size_t max_failures{0};
  /// Called on the strand for each name, one call at a time, when it is known what became of it.
  /// Must neither throw nor block for long.
  std::function<void(const copy_item&)> item{};
  /// Called on the strand when more is known to come: objects, and bytes. Must not throw.
  std::function<void(std::uint64_t, std::uint64_t)> found{};
  /// Called with each number of bytes that were copied or compared, on threads of the library, by
  /// several at a time. Must not throw.
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

/// What was done, or in a dry run would be.
struct copy_folder_report {
  std::uint64_t found{0};   ///< files or objects of the source
  std::uint64_t copied{0};  ///< of these; and what they have
  std::uint64_t bytes{0};
  std::uint64_t already_there{0};
  std::uint64_t folders{0};
  std::uint64_t removed{0};
  std::uint64_t failed{0};
  /// The first ones.
  std::vector<copy_failure> failures{};
  /// With `delete_extra`: why nothing was removed. Empty = extra names are gone, but for
  /// failures.
  std::string not_removed{};
};

/// Copies the files below a folder into objects. Small ones (up to 16 MiB) are one insert each,
/// many at a time; larger ones go as upload_file() sends them, some at a time. Objects get the
/// content type of their name's extension.
///
/// What is copied: regular files, and links to some. Not copied and told as failed: links to
/// folders, broken links, devices, sockets, and what cannot be read. Left out without a word: what
/// copies that broke off have left (journals, parts, files that have not got their name).
///
/// Atomic: an object appears whole and compared, or not at all. It takes the place of what was
/// there when its copy began; of two writers at once one fails. A file that changes while it is
/// read fails. A call that ends early leaves whole objects.
///
/// delete_extra: objects below the prefix that no file stands for are removed, each the generation
/// that was seen. It begins when everything else has been done; source and target are listed
/// once more for it. Nothing is removed when something could not be read or copied, or when the
/// source is empty, which copy_folder_report::not_removed tells. Never removed: objects "x/" that
/// stand for folders, what lies below a reserved prefix (store/detail/reserved_prefixes.hpp), and
/// journals and parts by their name.
///
/// Errors: that of a name is told with it, and counted; the others are copied all the same. The
/// call itself fails when not all of the source could be listed, after what was found has been
/// copied; when it was cancelled or its time has passed; and when the rest would fail as well: no
/// space on the disk, no service, no credentials. Those of the file system name the path, and no
/// bucket: not_found, permission_denied, resource_exhausted, failed_precondition (a file where a
/// folder must be). invalid_argument for a request that makes no sense.
///
/// Lifetime: the context's store outlives the call.
/// Threads: any may call; nothing happens inside this call. `done` runs on the context's strand.
/// Blocking steps run on threads for files (exec/detail/blocking_worker.hpp). Blocking forms are
/// not for completions, nor for a virtual_scheduler.
///
/// Cost: memory does not grow with the number of files, but for the names of the folders on the way
/// down. Bytes of files are under transfer_options::upload_memory; listings read 32 MiB ahead. With
/// `resume` the prefix is listed, and files of equal size are read to compare them.
void start_upload_folder(const transfer_context& context, copy_folder_request request,
                         object_store::completion<copy_folder_report> done);

/// Copies the objects below a prefix into files. Those of up to a slice come many together by a
/// `getter`; larger ones as download_file() reads them, some at a time. The folder is made when
/// there is something to put into it, with those above it. Nothing is forced to the disk.
///
/// Which names: see why_no_file_name(). Others are told as failed. An empty object "x/" makes the
/// folder x. Below the folder symbolic links are never followed: a link in the place of a file is
/// replaced, one in the place of a folder fails.
///
/// Atomic: a file gets its name when all its bytes are there and have been compared, in place of
/// what had it, but not of a folder. A call that ends early leaves whole files.
///
/// delete_extra: as for uploads: regular files and links to some are removed that no object stands
/// for. Folders stay, and what upload_folder() would leave out or not copy.
///
/// Errors, Lifetime, Threads: as above. Nothing below the prefix is no error: found is 0.
/// Cost: memory does not grow with the number of objects; bytes are under
/// transfer_options::memory_cap.
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

/// Why an object's name, taken relative to a folder, is no path of a file in it; empty when it is
/// one. Names in a bucket are any UTF-8 and belong to whoever may write there, so one is taken as
/// it is or refused, never cleaned up: two names could then become one file. Refused: nothing at
/// all; an empty part ("/x", "a//b", "x/"); "." and ".."; a zero byte; a part of more than 255
/// bytes. Any other byte is taken, since files with it go up: one rule both ways. Pure.
std::string_view why_no_file_name(std::string_view name) noexcept;

/// The content type that a name's extension stands for, as other tools of the service set it;
/// "application/octet-stream" for those that are not known. Case does not matter. Pure.
std::string_view content_type_of(std::string_view name) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/folder/impl/copy_folder.ipp>
#include <dataflux/folder/impl/file_names.ipp>
#endif
