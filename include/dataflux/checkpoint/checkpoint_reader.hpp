#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/detail/unique_function.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/detail/part_checksum.hpp>
#include <dataflux/transfer/transfer_context.hpp>

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
  /// 0 = the live one when it is opened; it stays that one.
  std::int64_t generation{0};
  /// Of the whole object, where the caller knows it; an object that has another is refused.
  std::optional<std::uint32_t> crc32c{};
  /// The parts that the object was uploaded in, if the caller knows them. Then every range that is
  /// read is compared: parts within it directly, those at its ends by reading all of them. Such a
  /// part is held in memory, be it larger than `cache`.
  std::vector<part_checksum> parts{};
  /// What a small read brings into the cache, from a multiple of it on. Without `parts`.
  std::uint64_t block{1ULL << 20U};
  /// Most memory for what was read, is read ahead or was prefetched; at most a quarter of the
  /// context's memory_cap.
  std::uint64_t cache{64ULL << 20U};
  /// Most that read() reads ahead; at most three quarters of `cache`. Less than `block` = nothing.
  /// It goes as far as the link rewards: nine times what comes in a round trip, by as many requests
  /// as are worth while.
  std::uint64_t read_ahead{48ULL << 20U};
  /// Of opening.
  call_limits limits{};
  /// Added to the message of a not_found of `generation`: what the caller may do then.
  std::string advice_if_it_is_gone{};
};

/// One of many ranges that are read by one call: the bytes from `offset` on, as many as there is
/// memory for. The memory is the caller's, and borrowed until the call has ended.
struct range_read {
  std::uint64_t offset{0};
  bytes_span into{};
};
/// Is told once of each range, by its index, when its bytes are there, or why they are not. On the
/// context's strand, one call at a time; it must not block or throw.
using range_told = unique_function<void(std::size_t index, const result<void>& outcome)>;

namespace detail {
class reader_state;
}

/// Reads one object as a file is read: from anywhere, by as many threads as there are, in order, or
/// all of it at once.
///
///     auto weights = checkpoint_reader::open(context, {.bucket = "b", .object = "w"}).value();
///     weights.read_at(header_size, memory).value();
///
/// The generation is pinned when it is opened: what is read is never of two objects.
///
/// Long reads: what is at least a block long and not in memory goes straight into the caller's
/// memory, by requests in parallel, and asks for not a byte more. Requests are of half a slice
/// (transfer_options) to eight slices, by how much is left for each that may be in flight.
///
/// Short reads: a short read brings its block into a small cache. So a reader of a zip file, which
/// reads the directory at the end and headers between, finds most of them there. Two that want the
/// same block wait for one request.
///
/// Integrity: a byte that a read has given was compared, or lies in an object of which not all has
/// come; compared() says which. As soon as all of the object has been read, in any order and by any
/// of these calls, read-ahead included, its CRC32C is compared: `verified()`, or data_loss from the
/// read that completed it and from all after it. With checkpoint_read_request::parts each range is
/// compared, the first time, too; data_loss then names the part, and reading it again asks the
/// service again.
///
/// What comes again, by whatever ranges, is compared with the checksum of what came first, or is
/// that copy. Where it differs the read fails with data_loss, which names the range: that read
/// alone once the object is verified(), and else all that follow, since nobody knows which copy is
/// wrong. To be compared, what is read again comes by whole cells of 64 KiB at both of its ends.
/// Checksums that are remembered take 66 KiB for each GiB of what was read, 4 MiB at most, and 80
/// bytes for each end of a range within a cell. With 65,536 of those short ranges are read by whole
/// blocks.
///
/// Forms: each verb has three: blocking, `submit_` (an operation) and `start_` (a completion, which
/// runs on the context's strand, never inside the call; the store's error of opening: anywhere).
///
/// Errors: they name bucket, object and generation. aborted, and retryable, when the object was
/// replaced meanwhile and the service does not keep what was opened: open it again; not_found then
/// where the request named the generation. One read's cancel or time limit leaves what others wait
/// for alone.
///
/// Lifetime: the context's store outlives it. Memory belongs to the read until that has ended;
/// after an error what is in it is undefined. Destroying it cancels what is being loaded ahead, and
/// reads that are under way may end with cancelled; it does not wait. Movable.
///
/// Threads: all members but move and destruction from any thread; read(), seek() and tell() share
/// one cursor. Blocking forms are not for completions, nor for a virtual_scheduler. In the child of
/// a fork every verb fails with failed_precondition, inside the call.
///
/// Cost: what is in the cache costs a lock and a copy on the caller's thread. Memory: the cache's,
/// of the context's slabs but no part of its cap: `cache`, 64 MiB by default, of which read() in
/// sequence fills all. On a link whose rate and delay ask for more, a larger `cache`, and a
/// memory_cap four times as large, make read() faster. Requests in flight are shared with all
/// streams of the context, and hedged.
class checkpoint_reader {
 public:
  template <class T>
  using completion = object_store::completion<T>;

  /// Asks for the object's metadata. Errors: the store's, not_found for one; data_loss when the
  /// object has another CRC32C than the request, or than its parts together; out_of_range when the
  /// parts are not as long as the object; invalid_argument for a part of no bytes.
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
  /// What a read gives that ends now was compared: it is verified(), or its parts are known.
  bool compared() const noexcept;

  /// Fills `memory` with the bytes from `offset` on; out_of_range, naming the sizes, when the
  /// object ends before.
  result<void> read_at(std::uint64_t offset, bytes_span memory, const call_limits& limits = {});
  operation<void> submit_read_at(std::uint64_t offset, bytes_span memory, call_limits limits = {});
  void start_read_at(std::uint64_t offset, bytes_span memory, const call_limits& limits,
                     completion<void> done);

  /// Many ranges at once, in any order, overlapping or not: what a reader of tensors wants, who
  /// knows beforehand which bytes go where. They are read in parallel; those shorter than a block
  /// that lie close together by one request, gaps included where that costs less than another one,
  /// and not by way of the cache. `each` is told of every range before the call ends. The first
  /// failure ends the call: ranges that are not there by then are told of it.
  ///
  /// Errors: out_of_range, naming the range, before anything is read. Cost: 100 bytes a range.
  result<void> read_ranges(std::vector<range_read> ranges, const call_limits& limits = {},
                           range_told each = {});
  operation<void> submit_read_ranges(std::vector<range_read> ranges, call_limits limits = {},
                                     range_told each = {});
  void start_read_ranges(std::vector<range_read> ranges, const call_limits& limits, range_told each,
                         completion<void> done);

  /// The whole object: `memory` is exactly as large, out_of_range otherwise. A success means
  /// `verified()`, and these bytes, if the service told a checksum.
  result<void> read_all(bytes_span memory, const call_limits& limits = {});
  operation<void> submit_read_all(bytes_span memory, call_limits limits = {});
  void start_read_all(bytes_span memory, const call_limits& limits, completion<void> done);

  /// The next bytes, as many as there is memory for, less at the end, and then 0. The cursor moves
  /// when the call is made, so that several may be under way. Reads in sequence are read ahead,
  /// the farther the longer they go on (checkpoint/detail/read_ahead.hpp).
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
#include <dataflux/checkpoint/impl/checkpoint_reader.ipp>
#endif
