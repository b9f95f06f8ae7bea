#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/ranged_read_summary.hpp>
#include <dataflux/transfer/transfer_context.hpp>
#include <dataflux/unique_function.hpp>

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
  /// 0 = the live one: that of the first answer, for all ranges and retries.
  std::int64_t generation{0};
  byte_range range{};
  /// Of the whole object, from a listing; otherwise the service's.
  std::optional<std::uint32_t> crc32c{};
  /// As read_request::member; into the library's memory only.
  std::string member{};
  call_limits limits{};
};

/// Reads an object, or a range of it, into the caller's memory by parallel ranges, each of a slice
/// (transfer_options, 8 MiB). Bytes arrive in their final place.
///
///     std::vector<std::byte> weights(size);
///     auto got = get_one(context, {.bucket = "data", .object = "weights.bin"}, weights);
///
/// `memory` must have exactly the size of the range; otherwise out_of_range names both sizes. It
/// must stay until `done`; after an error its content is undefined. It is outside the context's
/// cap. Requests are shared with all streams of the context, and hedged.
///
/// When the range is the whole object the checksums of the slices are combined and compared with
/// its own (`verified`; data_loss when they differ). All slices are of one generation: aborted, and
/// retryable, when the object was replaced during the read and that generation is gone. Other
/// errors are the store's, of the first slice that fails; then the other slices are cancelled.
///
/// A range without bytes is not requested: an empty object costs one request for its metadata, and
/// so does a range that counts from the end. So does an object of more than a slice where the
/// store does not tell the checksum with a range (store_traits), and a range that turns out to be
/// all of one. Where that request fails the bytes are not compared, and not `verified`.
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

/// The same into the library's memory, for an object of unknown size. Returns the item of a getter
/// with this one request, with index 0; its failure is the error of the call. It is under the
/// context's cap during the read, and borrowed afterwards.
///
///     auto got = get_one(context, {.bucket = "data", .object = "index.bin"});
///
/// Errors, besides those: resource_exhausted for more bytes than the cap.
///
/// Cost: one request up to 1 MiB, or up to a slice if the range has an end; that part of a longer
/// object is requested twice. Where the store does not tell the checksum with a range, the first
/// request of a longer object is broken off at once, which costs its connection.
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
  /// Of the object, from a listing; otherwise the service's.
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

/// Reads one whole object and returns its bytes: for configurations, indexes and other small
/// objects. read_text returns a string, read_bytes a vector.
///
///     auto config = read_text(*client, {.bucket = "data", .object = "config.json"});
///
/// The first request asks for a slice (transfer_options, 8 MiB), which is enough for an object up
/// to that size. The rest of a longer object is read by parallel ranges of the same generation.
/// Text is returned as stored, without decoding.
///
/// Errors: out_of_range for an object of more than `max_bytes`, naming both sizes; data_loss when
/// the bytes do not match the CRC32C of the object; aborted, and retryable, when the object was
/// replaced while it was read; else the store's. An object without a checksum is compared with
/// nothing.
///
/// Lifetime: as get_one. The form that takes a store makes a context for this call, so it does not
/// share limits and measurements with others. Threads: as get_one. Cost: one request for each
/// slice. Memory: the object's size; of an object longer than a slice the first slice is copied
/// once.
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
