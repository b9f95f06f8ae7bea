#pragma once

#include <dataflux/byte_range.hpp>
#include <dataflux/bytes.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/ranged_read_request.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

/// One object, or a range of it.
struct get_one_request {
  std::string bucket{};
  std::string object{};
  /// 0 = the live one: that of the first answer, over all ranges and repetitions.
  std::int64_t generation{0};
  byte_range range{};
  /// Of the whole object, where a listing has told it; else what the service says.
  std::optional<std::uint32_t> crc32c{};
  call_limits limits{};
};

/// Reads an object, or a range of it, into the caller's memory by ranges in parallel, each of a
/// slice (transfer_options, 8 MiB): bytes land in their place as they arrive.
///
///     std::vector<std::byte> weights(size);
///     auto got = get_one(context, {.bucket = "data", .object = "weights.bin"}, weights);
///
/// `memory` must be exactly as large as what there is to read, out_of_range otherwise, naming both
/// sizes. It is the caller's until `done`, and on an error what is in it is undefined. It is no
/// part of the context's cap; requests in flight are shared with all its streams, and hedged.
///
/// When the range is the whole object the checksums of the slices are combined and compared with
/// its own (`verified`; data_loss when they differ). All slices are of one generation: aborted, and
/// retryable, when the object was replaced while it was read and the one begun with is gone. Other
/// errors are the store's, of the first slice that fails; the others are cancelled then.
///
/// No range is asked for where there is no byte: an empty object costs one request for its
/// metadata, as does a range that counts from the end.
///
/// Any thread may call; nothing happens inside this call. `done` runs on the context's home. The
/// context's store outlives it; a copy of the context is held until then. Blocking forms are not
/// for completions, nor for a virtual_scheduler.
void start_get_one(const transfer_context& context, get_one_request request, bytes_span memory,
                   object_store::completion<ranged_read_summary> done);

inline operation<ranged_read_summary> submit_get_one(const transfer_context& context,
                                                     get_one_request request, bytes_span memory) {
  return start_operation<ranged_read_summary>(request.limits, [&](auto done) {
    start_get_one(context, std::move(request), memory, std::move(done));
  });
}
inline result<ranged_read_summary> get_one(const transfer_context& context, get_one_request request,
                                           bytes_span memory) {
  return submit_get_one(context, std::move(request), memory).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/get_one.ipp>
#endif
