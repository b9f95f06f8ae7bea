#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/detail/unique_function.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/detail/ranged_read.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
/// `memory` must be exactly as large as the bytes to read, out_of_range otherwise, naming both
/// sizes. It is the caller's until `done`, and on an error its content is undefined. It is no
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
/// Any thread may call; nothing happens inside this call. `done` runs on the context's strand. The
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

/// The same into memory of the library, where the size need not be known: gives the item that a
/// getter of this one request gives, with its index 0 and without its failure, which is the error
/// of the call. So while it is read it is under the context's cap, and borrowed afterwards.
///
///     auto got = get_one(context, {.bucket = "data", .object = "index.bin"});
///
/// Errors, besides those: resource_exhausted for more bytes than the cap.
///
/// Cost: one request up to 1 MiB, or up to a slice where the range has an end; of a longer object
/// that much is asked for twice.
void start_get_one(const transfer_context& context, get_one_request request,
                   object_store::completion<got_item> done);

inline operation<got_item> submit_get_one(const transfer_context& context,
                                          get_one_request request) {
  return start_operation<got_item>(request.limits, [&](auto done) {
    start_get_one(context, std::move(request), std::move(done));
  });
}
inline result<got_item> get_one(const transfer_context& context, get_one_request request) {
  return submit_get_one(context, std::move(request)).take();
}

/// A whole object whose size need not be known.
struct read_bytes_request {
  std::string bucket{};
  std::string object{};
  /// 0 = the live one.
  std::int64_t generation{0};
  /// Of the object, where a listing has told it; else what the service says.
  std::optional<std::uint32_t> crc32c{};
  /// A larger object is an error. 0 = 1 GiB; UINT64_MAX = no bound.
  std::uint64_t max_bytes{0};
  call_limits limits{};
};

namespace detail {
/// Reads the whole object into what `memory(size)` gives. That is called again for a larger size,
/// or at the end for a smaller one, and keeps the bytes it already holds.
void start_whole_read(const transfer_context& context, read_bytes_request request,
                      unique_function<bytes_span(std::size_t)> memory,
                      object_store::completion<void> done);

template <class Bytes>
void start_read_into(const transfer_context& context, read_bytes_request request,
                     object_store::completion<Bytes> done) {
  auto bytes = std::make_shared<Bytes>();
  start_whole_read(
      context, std::move(request),
      [bytes](std::size_t size) {
        bytes->resize(size);
        return bytes_span(reinterpret_cast<std::byte*>(bytes->data()), size);
      },
      [bytes, done = std::move(done)](result<void> outcome) mutable {
        if (!outcome) return done(std::move(outcome).error());
        done(std::move(*bytes));
      });
}
}  // namespace detail

/// Reads one object as a whole and gives its bytes: for configurations, indexes and all else that
/// is small. read_text gives a string, read_bytes a vector.
///
///     auto config = read_text(*client, {.bucket = "data", .object = "config.json"});
///
/// The first request asks for a slice (transfer_options, 8 MiB). An object that is not longer is
/// there with it. Of a longer object the rest is read by ranges in parallel, of the same
/// generation. Text is given as it is stored: nothing is decoded.
///
/// Errors: out_of_range for an object of more than `max_bytes`, naming both sizes; data_loss when
/// the bytes do not match the CRC32C of the object; aborted, and retryable, when the object was
/// replaced while it was read; else the store's.
///
/// Lifetime: as get_one. The form that takes a store makes a context for the one call, hence has
/// no part in the limits and measurements of others.
/// Threads: as get_one.
/// Cost: one request for each slice. Memory: the object's size; of an object longer than a slice
/// the first slice is copied once.
inline void start_read_bytes(const transfer_context& context, read_bytes_request request,
                             object_store::completion<std::vector<std::byte>> done) {
  detail::start_read_into(context, std::move(request), std::move(done));
}
inline void start_read_text(const transfer_context& context, read_bytes_request request,
                            object_store::completion<std::string> done) {
  detail::start_read_into(context, std::move(request), std::move(done));
}

inline operation<std::vector<std::byte>> submit_read_bytes(const transfer_context& context,
                                                           read_bytes_request request) {
  return start_operation<std::vector<std::byte>>(request.limits, [&](auto done) {
    start_read_bytes(context, std::move(request), std::move(done));
  });
}
inline operation<std::string> submit_read_text(const transfer_context& context,
                                               read_bytes_request request) {
  return start_operation<std::string>(request.limits, [&](auto done) {
    start_read_text(context, std::move(request), std::move(done));
  });
}

inline result<std::vector<std::byte>> read_bytes(const transfer_context& context,
                                                 read_bytes_request request) {
  return submit_read_bytes(context, std::move(request)).take();
}
inline result<std::string> read_text(const transfer_context& context, read_bytes_request request) {
  return submit_read_text(context, std::move(request)).take();
}
inline result<std::vector<std::byte>> read_bytes(object_store& store, read_bytes_request request) {
  return read_bytes(transfer_context(store), std::move(request));
}
inline result<std::string> read_text(object_store& store, read_bytes_request request) {
  return read_text(transfer_context(store), std::move(request));
}

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/get_one.ipp>
#endif
