#pragma once

#include <dataflux/download/download_file_request.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

/// Reads an object, or a range of it, into a file by ranges in parallel, each of a slice. The file
/// has its name when all of it is there and has been compared with the object's CRC32C; until then
/// it has none (see exec/hidden_file.hpp), and is preallocated where the file system can do that.
/// Whatever fails, it is gone, as it is when the process is killed.
///
/// With `resume` it has a name, the same in each call for `path` (".dataflux-part-..."), and behind
/// its bytes a journal says which slices it has, and their checksums. When a call fails it stays,
/// unless it has no slice yet or the whole did not match its checksum; so it does when the process
/// is killed. The next call for the same path, object, generation and range goes on from it: a
/// slice counts when its bytes are read back and match; all else begins anew.
///
/// Memory: slices that were read and are not in the file yet, under the context's cap, and two
/// that are being written. Files are written on threads for that (exec/blocking_worker.hpp), two
/// slices a turn, so that many calls share the threads; a slow disk stops the network.
///
/// Errors of the file system name the path, and no bucket: not_found (no such folder, or it was
/// removed meanwhile), permission_denied, resource_exhausted (disk full, or a limit of the process
/// reached), invalid_argument (a folder has the name); failed_precondition when another call is at
/// work on the part. Those of reads are the store's and name the object; out_of_range when the
/// range begins behind its end; data_loss for the checksum; aborted, and retryable, when it was
/// replaced meanwhile. Cancelling and the time limit end the call after the step that is being
/// made.
///
/// Any thread may call; nothing happens inside this call. `done` runs on the context's home, when
/// no read and no step is under way any more. The context's store outlives it. Blocking forms are
/// not for completions, nor for a virtual_scheduler.
void start_download_file(const transfer_context& context, download_file_request request,
                         object_store::completion<downloaded_file> done);

inline operation<downloaded_file> submit_download_file(const transfer_context& context,
                                                       download_file_request request) {
  return start_operation<downloaded_file>(request.limits, [&](auto done) {
    start_download_file(context, std::move(request), std::move(done));
  });
}
inline result<downloaded_file> download_file(const transfer_context& context,
                                             download_file_request request) {
  return submit_download_file(context, std::move(request)).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/download_file.ipp>
#endif
