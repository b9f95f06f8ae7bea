#pragma once

#include <dataflux/byte_range.hpp>
#include <dataflux/bytes.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

/// One object, or a range of it, read by parallel ranges.
struct get_one_request {
  std::string bucket{};
  std::string object{};
  /// 0 = the live one; pinned by the first answer, over all ranges and repetitions.
  std::int64_t generation{0};
  byte_range range{};
  /// Bytes of each range; 0 = 8 MiB.
  std::uint64_t slice{0};
  /// A file's part that is there already and right is not read again; see get_to_file().
  bool resume{false};
  call_limits limits{};
};

/// Reads into `memory`, which must be exactly as large as what is read (out_of_range otherwise,
/// naming both sizes). Ranges that cover the object are combined and compared with its checksum:
/// data_loss when it differs. On an error the memory's contents are undefined. The memory is the
/// caller's until `done`, which runs on an executor of the store; nothing counts against the budget
/// but requests in flight.
void start_get_one(const transfer_context& context, const get_one_request& request,
                   bytes_span memory, object_store::completion<read_summary> done);

/// Reads into a file, which gets its name when it is whole, checked, and on the disk: until then it
/// is `path` with ".part-" and the generation behind, preallocated. A file that was there is replaced.
/// On an error the part file is removed, but with `resume`: then it stays, with a journal of what it
/// has, size and CRC32C of each range, and a later call with `resume` goes on from it, for the same
/// generation; what is there is checked before it counts.
///
/// Errors of the file system name the path: not_found (no such folder), permission_denied,
/// resource_exhausted (disk full). Files are written by the context's worker, not on I/O threads;
/// bytes on their way there count against the budget.
void start_get_to_file(const transfer_context& context, const get_one_request& request,
                       std::string path, object_store::completion<read_summary> done);

inline operation<read_summary> submit_get_one(const transfer_context& context,
                                              get_one_request request, bytes_span memory) {
  return start_operation<read_summary>(request.limits, [&](auto done) {
    start_get_one(context, request, memory, std::move(done));
  });
}
inline result<read_summary> get_one(const transfer_context& context, get_one_request request,
                                    bytes_span memory) {
  return submit_get_one(context, std::move(request), memory).take();
}
inline operation<read_summary> submit_get_to_file(const transfer_context& context,
                                                  get_one_request request, std::string path) {
  return start_operation<read_summary>(request.limits, [&](auto done) {
    start_get_to_file(context, request, std::move(path), std::move(done));
  });
}
inline result<read_summary> get_to_file(const transfer_context& context, get_one_request request,
                                        std::string path) {
  return submit_get_to_file(context, std::move(request), std::move(path)).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/get_one.ipp>
#endif
