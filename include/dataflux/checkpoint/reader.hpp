#pragma once

#include <dataflux/byte_range.hpp>
#include <dataflux/bytes.hpp>
#include <dataflux/checkpoint/read_request.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
class reader_state;
}

/// Reads one object as a file is read: from anywhere, by as many threads as there are, in order, or
/// all of it at once.
///
///     auto weights = checkpoint_reader::open(context, {.bucket = "b", .object = "w"}).value();
///     weights.read_at(header_size, memory).value();
///
/// The generation is pinned when it is opened: what is read is never of two objects. When the
/// object was replaced meanwhile, and the service does not keep what was opened, reads fail with
/// aborted (retryable: open it again), or with not_found where the request named the generation.
///
/// How: what is at least a block long and not in memory goes straight into the caller's memory, by
/// requests in parallel, and asks for not a byte more. They are of half a slice (transfer_options)
/// to eight, by how much is left for each that may be in flight. What is shorter brings its block
/// into a small cache, so that a reader of a zip file, which looks at the directory at the end and
/// at headers between, finds most of them there; two that want the same block wait for one request.
/// What is there already costs a lock and a copy on the caller's thread.
///
/// Integrity: every byte that arrives is counted once with its checksum. As soon as all of the
/// object has been read, in any order and by any of these calls, read-ahead included, its CRC32C is
/// compared: `verified()`, or data_loss from the read that completed it and from all after it; and
/// again by each read_all(). With
/// checkpoint_read_request::parts each range is compared, too; data_loss then names the part, and
/// reading it again asks the service again.
///
/// Memory: the cache's, of the context's slabs but no part of its cap. Requests in flight are
/// shared with all streams of the context, and hedged.
///
/// Errors name bucket, object and generation. One read's cancel or time limit (`limits`) leaves
/// what others wait for alone.
///
/// Each verb has three forms: blocking, `submit_` (an operation) and `start_` (a completion that
/// runs on the context's home, never inside the call; the store's error of opening: anywhere).
/// Memory belongs to the read until it has ended; after an error what is in it is undefined.
/// Blocking forms are not for completions, nor for a virtual_scheduler.
///
/// Thread safety: all members but move and destruction from any thread; read(), seek() and tell()
/// share one cursor. Movable. Destroying it cancels what is being loaded ahead, and reads that are
/// under way may end with cancelled; it does not wait. The context's store outlives them. In the
/// child of a fork every verb fails with failed_precondition, inside the call.
class checkpoint_reader {
 public:
  template <class T>
  using completion = object_store::completion<T>;

  /// Asks for the object's metadata. Errors: the store's, not_found for one; data_loss when the
  /// object has another CRC32C than the request, or than its parts together; out_of_range when the
  /// parts are not as long as the object; invalid_argument for a part or block of no bytes.
  static void start_open(const transfer_context& context, checkpoint_read_request request,
                         completion<checkpoint_reader> done);
  static operation<checkpoint_reader> submit_open(const transfer_context& context,
                                                  checkpoint_read_request request) {
    return start_operation<checkpoint_reader>(request.limits, [&](auto done) {
      start_open(context, std::move(request), std::move(done));
    });
  }
  static result<checkpoint_reader> open(const transfer_context& context,
                                        checkpoint_read_request request) {
    return submit_open(context, std::move(request)).take();
  }

  checkpoint_reader(checkpoint_reader&&) noexcept;
  checkpoint_reader& operator=(checkpoint_reader&& other) noexcept;
  ~checkpoint_reader();

  std::uint64_t size() const noexcept;
  std::int64_t generation() const noexcept;
  /// All of the object has been read, and its CRC32C was compared and equal. Of an empty object
  /// from the start.
  bool verified() const noexcept;

  /// Fills `memory` with the bytes from `offset` on; out_of_range, naming the sizes, when the
  /// object ends before.
  result<void> read_at(std::uint64_t offset, bytes_span memory, const call_limits& limits = {});
  operation<void> submit_read_at(std::uint64_t offset, bytes_span memory, call_limits limits = {});
  void start_read_at(std::uint64_t offset, bytes_span memory, const call_limits& limits,
                     completion<void> done);

  /// The whole object: `memory` is exactly as large, out_of_range otherwise. A success means
  /// `verified()`, if the service told a checksum.
  result<void> read_all(bytes_span memory, const call_limits& limits = {});
  operation<void> submit_read_all(bytes_span memory, call_limits limits = {});
  void start_read_all(bytes_span memory, const call_limits& limits, completion<void> done);

  /// The next bytes, as many as there is memory for, less at the end, and then 0. The cursor moves
  /// when the call is made, so that several may be under way. Reads in sequence are read ahead,
  /// the farther the longer they go on (checkpoint/read_ahead.hpp).
  result<std::size_t> read(bytes_span memory, call_limits limits = {});
  operation<std::size_t> submit_read(bytes_span memory, call_limits limits = {});
  void start_read(bytes_span memory, const call_limits& limits, completion<std::size_t> done);

  /// Beyond the end as well: nothing is read there. Costs nothing.
  result<void> seek(std::uint64_t offset);
  std::uint64_t tell() const noexcept;

  /// Loads what will be read soon, in this order, as far as the cache has room: what was read of it
  /// makes room for the rest. Only a hint: returns at once, and errors show when it is read.
  result<void> prefetch(std::span<const byte_extent> ranges);

 private:
  explicit checkpoint_reader(std::shared_ptr<detail::reader_state> state) noexcept;
  void close() noexcept;

  std::shared_ptr<detail::reader_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/reader.ipp>
#endif
