#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

/// One object, or a range of it, and the file that it becomes.
struct download_file_request {
  std::string bucket{};
  std::string object{};
  /// 0 = the live one.
  std::int64_t generation{0};
  byte_range range{};
  /// Size of the whole object and its checksum, where a listing has told them. One request for its
  /// metadata is saved when both and the generation are given.
  std::optional<std::uint64_t> object_size{};
  std::optional<std::uint32_t> crc32c{};
  /// The file. One of its name is replaced, but not a folder.
  std::string path{};
  /// An open folder, borrowed until `done`: the file gets the last part of `path` as its name
  /// there, wherever the rest of it leads by now. -1 = the folder that `path` says.
  int folder{-1};
  /// The part of a file that a failed call leaves is kept, and the next call goes on with it.
  bool resume{false};
  /// The file is on the disk before it gets its name, so that not even a loss of power leaves a
  /// torn one under it. False: when the system sees fit.
  bool flush{true};
  /// Called with each number of bytes that is in the file, on a thread for files; must not throw.
  std::function<void(std::uint64_t)> progress{};
  call_limits limits{};
};

struct downloaded_file {
  std::uint64_t bytes{0};
  std::uint32_t crc32c{0};  ///< of these bytes
  std::uint64_t object_size{0};
  std::int64_t generation{0};
  /// The bytes are the whole object, and its checksum was compared and equal.
  bool verified{false};
  /// Bytes that an earlier call had left.
  std::uint64_t resumed{0};
};

/// Reads an object, or a range of it, into a file by ranges in parallel, each of a slice. The file
/// gets its name when all of it is there and has been compared with the object's CRC32C. Until then
/// it has none, and is preallocated where the file system can do that. Whatever fails, it is gone,
/// as it is when the process is killed.
///
/// With `resume` the part has a name, the same in each call for `path` (".dataflux-part-..."), and
/// behind its bytes a journal says which slices it has, and their checksums. When a call fails it
/// stays, unless it has no slice yet or the whole did not match its checksum; so it does when the
/// process is killed. The next call for the same path, object, generation and range goes on from
/// it: a slice counts when its bytes are read back and match. All else begins anew.
///
/// Errors: those of the file system name the path, and no bucket: not_found (no such folder, or it
/// was removed meanwhile); permission_denied; resource_exhausted (disk full, or a limit of the
/// process reached); invalid_argument (a folder has the name); failed_precondition when another
/// call is at work on the part. Those of reads are the store's and name the object: out_of_range
/// when the range begins behind its end; data_loss for the checksum; aborted, and retryable, when
/// it was replaced meanwhile. Cancelling and the time limit end the call after the step that is
/// being made.
///
/// Lifetime: the context's store outlives the call; a copy of the context is held until its end.
///
/// Threads: any may call; nothing happens inside this call. `done` runs on the context's strand,
/// when no read and no step is under way any more. Blocking forms are not for completions, nor for
/// a virtual_scheduler.
///
/// Cost: slices that were read and are not in the file yet are under the context's cap; two are
/// being written. Files are written on threads for that, two slices a turn, so that many calls
/// share the threads. A slow disk stops the network.
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
