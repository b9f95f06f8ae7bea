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
  /// Size and checksum of the whole object, from a listing. With both and the generation a request
  /// for its metadata is saved.
  std::optional<std::uint64_t> object_size{};
  std::optional<std::uint32_t> crc32c{};
  /// The file. An existing file is replaced, a folder is not.
  std::string path{};
  /// An open folder, borrowed until `done`: the file's name in it is the last part of `path`,
  /// whatever the rest of `path` now means. -1 = the folder of `path`.
  int folder{-1};
  /// Keeps the partial file of a failed call, and the next call continues it.
  bool resume{false};
  /// Flushes the file to the disk before it gets its name, so that not even a power loss leaves a
  /// torn one. False: the system decides when.
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
  /// Bytes that an earlier call left.
  std::uint64_t resumed{0};
};

/// Reads an object, or a range of it, into a file by parallel ranges, each of a slice. The file
/// gets its name when it is complete and compared with the object's CRC32C. Until then it has no
/// name, and is preallocated if the file system can do that. After a failure or a kill it is gone.
///
/// With `resume` the partial file has a name, the same in each call for `path`
/// (".dataflux-part-..."). A journal behind its bytes lists its slices and their checksums. After a
/// failure or a kill it stays, unless it has no slice yet or the whole did not match its checksum.
/// The next call for the same path, object, generation and range continues it: a slice counts if
/// its bytes are read back and match. Other calls start over.
///
/// Errors: those of the file system name the path, and no bucket. not_found (no such folder, or it
/// was removed meanwhile); permission_denied; resource_exhausted (disk full, or a limit of the
/// process reached); invalid_argument (a folder has the name); failed_precondition when another
/// call uses the partial file. Those of reads are the store's and name the object: out_of_range
/// when the range begins behind its end; data_loss for the checksum; aborted, and retryable, when
/// it was replaced meanwhile. Cancelling and the time limit end the call after the current step.
///
/// Lifetime: the context's store outlives the call; a copy of the context is held until its end.
///
/// Threads: any may call; nothing happens inside this call. `done` runs on the context's strand,
/// when no read and no step is under way. Blocking forms are not for completions, nor for a
/// virtual_scheduler.
///
/// Cost: slices that were read and not yet written are under the context's cap. Threads for files
/// write two slices of a call a turn, so that many calls share the threads. A slow disk stops the
/// network.
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
