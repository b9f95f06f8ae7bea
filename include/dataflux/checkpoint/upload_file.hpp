#pragma once

#include <dataflux/exec/operation.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>
#include <dataflux/transfer/upload_request.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

/// Files with such names are journals of upload_file(), and no content of the folder.
inline constexpr std::string_view upload_journal_prefix = ".dataflux-upload-";

/// A file, and the object that it becomes.
struct upload_file_request {
  std::string path{};
  /// An open folder, borrowed until `done`: the file is the last part of `path` in it, whatever the
  /// rest of `path` now means. -1 = the folder of `path`.
  int folder{-1};
  /// Its size_hint is the file's size; its limits are those of the whole call.
  upload_request upload{};
  /// Keeps a journal, with which the next call continues a failed one.
  bool resume{false};
  /// Where journals are; empty = beside the file.
  std::string journal_folder{};
  /// Called on the strand with each number of bytes that the service has: after each part, and for
  /// a small object at its end. Must not throw.
  std::function<void(std::uint64_t)> progress{};
};

struct uploaded_file {
  committed_object made{};
  /// Bytes that an earlier call sent.
  std::uint64_t resumed{0};
};

/// Writes a file as an object, which appears whole and verified, or not at all, as
/// checkpoint_writer does with a stream, commit modes and fallbacks included. Up to a part's size
/// it is one insert. More is read by several threads and sent in parts, each checksummed as it is
/// read. If the target changes after the call began, the call fails.
///
/// With `resume` a journal, ".dataflux-upload-..." beside the file or in `journal_folder`, says
/// which parts the service has. If a call fails, or its process is killed, parts and journal stay,
/// and the next call for the same path and object continues. A part counts if the service lists it
/// with that size and ETag, and the file's bytes, read again, have its checksum. If the file (size,
/// time, inode) or the object's attributes have changed, the old upload is aborted and all parts
/// are sent again. So they are if the service no longer has the upload. Abandoned parts are billed:
/// remove_leftovers() removes them. After data_loss nothing stays. An upload that fell back to a
/// resumable one (no permission for parts) starts over.
///
/// The journal has a head, which is on the disk before a part is acknowledged, and appended lines,
/// each with its checksum. A kill or a power loss costs one part at most, because the service's
/// list and the file's bytes decide. So it is neither rewritten nor renamed, and many parts share
/// one flush. Only its owner can read it.
///
/// Errors: those of the file system name the path, and no bucket, if possible before a request is
/// sent. not_found; permission_denied; resource_exhausted (no room for the journal);
/// invalid_argument if it is no regular file; failed_precondition when another call uses this file
/// and object. aborted, and retryable, when the file changes while it is read (size or modification
/// time); then nothing becomes visible. All others are those of checkpoint_writer.
///
/// Lifetime: the context's store outlives the call; a copy of the context is held until its end.
///
/// Threads: any may call; nothing happens inside this call. `done` runs on the context's strand,
/// when no request and no step is under way. Blocking forms are not for completions, nor for a
/// virtual_scheduler.
///
/// Cost: the file is read once, and with `resume` once more as far as parts exist. Memory: parts
/// that were read and not sent, under transfer_options::upload_memory.
void start_upload_file(const transfer_context& context, upload_file_request request,
                       object_store::completion<uploaded_file> done);

inline operation<uploaded_file> submit_upload_file(const transfer_context& context,
                                                   upload_file_request request) {
  return start_operation<uploaded_file>(request.upload.limits, [&](auto done) {
    start_upload_file(context, std::move(request), std::move(done));
  });
}
inline result<uploaded_file> upload_file(const transfer_context& context,
                                         upload_file_request request) {
  return submit_upload_file(context, std::move(request)).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/upload_file.ipp>
#endif
