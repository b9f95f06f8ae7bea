#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/part_checksum.hpp>
#include <dataflux/transfer/transfer_context.hpp>
#include <dataflux/unique_function.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// Which object a checkpoint_reader opens, and how. 0 = the default of each size.
struct checkpoint_read_request {
  std::string bucket{};
  std::string object{};
  /// 0 = the live one when it is opened; the reader keeps to it.
  std::int64_t generation{0};
  /// Of the whole object, if the caller knows it; another checksum is an error.
  std::optional<std::uint32_t> crc32c{};
  /// The parts that the object was uploaded in, if the caller knows them. Then every range is
  /// compared: parts within it directly, those at its ends by reading the whole part. Such a part
  /// is held in memory, even if it is larger than `cache`.
  std::vector<part_checksum> parts{};
  /// Size of a cached block, at multiples of itself. Without `parts`.
  std::uint64_t block{1ULL << 20U};
  /// Most memory for blocks that were read, read ahead or prefetched; at most a quarter of the
  /// context's memory_cap.
  std::uint64_t cache{64ULL << 20U};
  /// Most that read() reads ahead; at most three quarters of `cache`. Less than `block` = nothing.
  /// It adapts to the link: nine times the bytes of a round trip, by parallel requests.
  std::uint64_t read_ahead{48ULL << 20U};
  /// Of opening.
  call_limits limits{};
  /// Added to the message of a not_found of `generation`: what the user may do then.
  std::string advice_if_it_is_gone{};
};

/// One of many ranges of a call: bytes from `offset` on that fill the memory. The memory is the
/// caller's, and borrowed until the call ends.
struct range_read {
  std::uint64_t offset{0};
  bytes_span into{};
};
/// Called once for each range, by its index, with its outcome. On the context's strand, one call at
/// a time; it must not block or throw.
using range_told = unique_function<void(std::size_t index, const result<void>& outcome)>;

namespace detail {
class reader_state;
}

/// Reads one object like a file: from any offset, by any number of threads, in order, or all at
/// once.
///
///     auto weights = checkpoint_reader::open(context, {.bucket = "b", .object = "w"}).value();
///     weights.read_at(header_size, memory).value();
///
/// Opening pins the generation: bytes never come from two objects.
///
/// Long reads: a read of at least a block that is not cached goes straight into the caller's
/// memory, by parallel requests, without a byte more. A request is half a slice (transfer_options)
/// to eight slices long, depending on the bytes left for each request in flight.
///
/// Short reads: a short read loads its block into a small cache. So a reader of a zip file, which
/// reads the directory at the end and headers between, finds most of them there. Two reads of the
/// same block wait for one request.
///
/// Integrity: without `parts`, bytes are not compared until all of the object was read; compared()
/// says whether they were. When all of the object was read, in any order and by any of these calls,
/// read-ahead included, its CRC32C is compared. Then it is `verified()`, or the completing read and
/// all later ones fail with data_loss. With checkpoint_read_request::parts each range is compared
/// at once; data_loss then names the part, and reading it again asks the service again.
///
/// Repeated bytes, whatever the ranges, are compared with the checksum of the first ones, or are
/// copies of them. If they differ the read fails with data_loss, which names the range. Once the
/// object is verified() only that read fails; otherwise all later reads fail, because the wrong
/// copy is unknown. A repeated range is read by whole cells of 64 KiB at both ends. The checksums
/// take 66 KiB for each GiB read, 4 MiB at most, and 80 bytes for each end of a range within a
/// cell. From 65,536 ends on short ranges are read by whole blocks.
///
/// Forms: each verb has three: blocking, `submit_` (an operation) and `start_` (a completion, which
/// runs on the context's strand, never inside the call; the store's error of opening: anywhere).
///
/// Errors: they name bucket, object and generation. aborted, and retryable, when the object was
/// replaced and the service does not keep the opened generation: open it again. If the request
/// named the generation, that is not_found. Cancel or time limit of one read does not affect
/// others.
///
/// Lifetime: the context's store outlives it. A read borrows its memory until it ends; after an
/// error the content is undefined. Destroying the reader cancels loads ahead, and reads under way
/// may end with cancelled; it does not wait. Movable.
///
/// Threads: all members but move and destruction from any thread; read(), seek() and tell() share
/// one cursor. Blocking forms are not for completions, nor for a virtual_scheduler. In the child of
/// a fork every verb fails with failed_precondition, inside the call.
///
/// Cost: a cached read costs a lock and a copy on the caller's thread. Memory: `cache`, 64 MiB by
/// default, outside the context's cap; sequential read() fills all of it. On a long fast link a
/// larger `cache`, and a memory_cap four times as large, make read() faster. Requests are shared
/// with all streams of the context, and hedged.
class checkpoint_reader {
 public:
  template <class T>
  using completion = object_store::completion<T>;

  /// Asks for the object's metadata. Errors: the store's, such as not_found; data_loss when the
  /// object's CRC32C differs from the request's, or from its parts' together; out_of_range when the
  /// parts do not have the object's length; invalid_argument for an empty part.
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
  /// All of the object was read, and its CRC32C was compared and equal. True from the start for an
  /// empty object.
  bool verified() const noexcept;
  /// Reads that end now are compared: the object is verified(), or its parts are known.
  bool compared() const noexcept;

  /// Fills `memory` with the bytes from `offset` on; out_of_range, naming the sizes, when the
  /// object ends earlier.
  result<void> read_at(std::uint64_t offset, bytes_span memory, const call_limits& limits = {});
  operation<void> submit_read_at(std::uint64_t offset, bytes_span memory, call_limits limits = {});
  void start_read_at(std::uint64_t offset, bytes_span memory, const call_limits& limits,
                     completion<void> done);

  /// Many ranges at once, in any order, overlapping or not: such as the tensors of a checkpoint.
  /// They are read in parallel. One request reads ranges shorter than a block that lie close
  /// together, and small gaps between them, without the cache. `each` is called for every range
  /// before the call ends. The first failure ends the call; unfinished ranges get it, too.
  ///
  /// Errors: out_of_range, naming the range, before anything is read. Cost: 100 bytes a range.
  result<void> read_ranges(std::vector<range_read> ranges, const call_limits& limits = {},
                           range_told each = {});
  operation<void> submit_read_ranges(std::vector<range_read> ranges, call_limits limits = {},
                                     range_told each = {});
  void start_read_ranges(std::vector<range_read> ranges, const call_limits& limits, range_told each,
                         completion<void> done);

  /// The whole object: `memory` has exactly its size, out_of_range otherwise. Success means
  /// `verified()` for these bytes, if the service has a checksum.
  result<void> read_all(bytes_span memory, const call_limits& limits = {});
  operation<void> submit_read_all(bytes_span memory, call_limits limits = {});
  void start_read_all(bytes_span memory, const call_limits& limits, completion<void> done);

  /// The next bytes, up to the size of `memory`; fewer at the end, and then 0. The cursor moves
  /// when the call is made, so that several may be under way. Sequential reads are read ahead,
  /// farther the longer the sequence is (checkpoint/detail/read_ahead.hpp).
  result<std::size_t> read(bytes_span memory, call_limits limits = {});
  operation<std::size_t> submit_read(bytes_span memory, call_limits limits = {});
  void start_read(bytes_span memory, const call_limits& limits, completion<std::size_t> done);

  /// Beyond the end as well: nothing is read there. Costs nothing.
  result<void> seek(std::uint64_t offset);
  std::uint64_t tell() const noexcept;

  /// Loads ranges that will be read soon, in this order, as far as the cache has room: reading them
  /// makes room for the rest. Only a hint: returns at once, and errors show in the reads.
  result<void> prefetch(std::span<const byte_extent> ranges);

 private:
  explicit checkpoint_reader(std::shared_ptr<detail::reader_state> state) noexcept;
  void close() noexcept;

  std::shared_ptr<detail::reader_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/checkpoint_reader.ipp>
#endif
