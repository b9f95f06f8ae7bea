#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/error.hpp>
#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// Memory of the caller's for one batch, and where in it each row begins. So rows of one size,
/// padded rows and packed rows are the same. The room of a row ends where the next one begins, and
/// that of the last one with the memory; bytes that a row does not fill stay as they are.
struct batch_memory {
  bytes_span memory{};
  /// One for each row, ascending. Empty: row i begins at i * stride.
  std::span<const std::uint64_t> offsets{};
  /// 0 = the memory divided by the number of rows.
  std::uint64_t stride{0};
  /// Where push() writes the size of each row, 0 where it is refused; of one element for each row.
  /// Empty = nowhere.
  std::span<std::uint64_t> sizes{};
};

struct failed_row {
  std::size_t row{0};  ///< its place in the batch
  error why;
};

/// A batch whose rows have all ended.
struct got_batch {
  std::uint64_t number{0};  ///< from 0, in the order of the pushes
  bytes_span memory{};      ///< that it was pushed with
  std::size_t rows{0};
  std::uint64_t bytes{0};  ///< of the rows that have not failed
  /// All rows that have not failed were compared with a checksum, as got_item::verified says.
  bool verified{false};
  /// Rows that failed, in no order. What lies in their memory is not specified.
  std::vector<failed_row> failures{};
};

namespace detail {
class batch_board;
class get_stream;
}  // namespace detail

/// Reads batches of objects, or of ranges of objects, into memory of the caller's: a row each. It
/// is a getter whose items are counted where they arrive, so a consumer is woken once for a batch.
///
///     batch_getter batches(context, {.bucket = "data"}, std::move(listing.objects));
///     batches.push_rows(rows, {.memory = first});     // as many batches ahead as there is memory
///     batches.push_rows(more, {.memory = second});
///     auto batch = batches.next().value();            // `first` is filled
///
/// Order: get_order::as_asked gives batches in the order in which they were pushed, as_ready as
/// they are complete. Within a batch rows are read in order, and several at a time as in a getter;
/// the rows of later batches follow without a gap.
///
/// Sizes have to be known before: from the listing, get_request::object_size, or a range with an
/// end.
///
/// Window, integrity, retries, ranges of one object that are read together, and composing are as
/// getter says. The memory is the caller's, so the context's cap does not bound it: what is pushed
/// does. How many rows are read at a time the context decides.
///
/// Errors: a failed row has its error in the batch, and the others go on; get_on_error::stop ends
/// the stream with it instead. Those of a getter's items, and: out_of_range where a row has less
/// room than bytes, invalid_argument where the size of a request is not known. No such row is asked
/// for. push() and next() say how they fail themselves.
///
/// Lifetime: the context's store outlives it. Memory of a batch is borrowed until next() has given
/// that batch, or the batch_getter is destroyed; so after a failure of next(), until that. The
/// destructor cancels and waits for the reads under way: then nothing is written any more. On the
/// context's strand it does not wait, and memory must stay until they end.
///
/// Threads: all members from any thread but move and destruction; each batch goes to one. Blocking
/// members are not for completions, nor for a virtual_scheduler.
///
/// Cost: no copy of a body, and nothing of the consumer's thread for a row. A push copies 8 bytes a
/// row (a request where rows are requests), and 8 for an offset. A steady stream of a listing
/// allocates nothing for a row; it does once for what a turn of the strand brings.
class batch_getter {
 public:
  /// `objects`: what rows are numbers of; may be none where requests are pushed. A time limit is
  /// one of the whole stream.
  batch_getter(const transfer_context& context, get_many_request how, object_columns objects = {});
  ~batch_getter();
  batch_getter(batch_getter&&) noexcept;
  batch_getter& operator=(batch_getter&&) noexcept;

  /// Begins a batch of rows of `objects` by number, in this order, and gives the batch's number.
  /// Never waits; a batch without rows is complete.
  ///
  /// Errors: invalid_argument: offsets that descend, or leave the memory, or are not one for each
  /// row, and so with `sizes`. failed_precondition after finish(), and in the child of a fork; what
  /// has ended the stream. Then nothing is read and no memory is borrowed.
  result<std::uint64_t> push_rows(std::span<const std::uint64_t> rows, const batch_memory& where);
  /// The same of requests, which are taken from; `into` of each is set.
  result<std::uint64_t> push(std::span<get_request> requests, const batch_memory& where);
  /// Declares the end. Pushed batches are still read.
  void finish();

  /// The next batch; nothing at the end, and in later calls. Errors, which later calls repeat:
  /// cancelled, at once; deadline_exceeded, and with get_on_error::stop the first error of a row,
  /// after the batches that were complete before.
  result<std::optional<got_batch>> next();
  /// The same without waiting: sets `into` where there is a batch.
  result<taken> try_next(std::optional<got_batch>& into);
  /// Pushes {tag, ok} into `queue` once, as soon as try_next() gives a batch, the end or an error;
  /// at once if it does already. The queue outlives the batch_getter.
  void notify(completion_queue& queue, std::uint64_t tag);

  void cancel() noexcept;

 private:
  void close() noexcept;
  std::shared_ptr<detail::batch_board> board_;
  std::shared_ptr<detail::get_stream> stream_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/batch_getter.ipp>
#endif
