#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/detail/unique_function.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/detail/object_chunk.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/transfer/detail/borrowed_bytes.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// One object, or a range of it.
struct get_request {
  std::string object{};
  /// 0 = the live one. Requests that are read together get the same one.
  std::int64_t generation{0};
  byte_range range{};
  /// Where the bytes go: exactly as large as the bytes to read, else the item is out_of_range.
  /// Empty = memory of the library, which the item then holds.
  bytes_span into{};
  /// Size of the whole object and its checksum, where a listing has told them. With them memory is
  /// reserved before anything is sent, and the bytes are compared with the listing as well.
  std::optional<std::uint64_t> object_size{};
  std::optional<std::uint32_t> crc32c{};

  /// A listed object as a whole, exactly as it was listed: that generation, of that size.
  ///
  ///     for (object_row row : listing.objects) requests.push_back(get_request::of(row));
  static get_request of(const object_row& row) {
    return {.object = std::string(row.name),
            .generation = row.generation,
            .object_size = row.size,
            .crc32c = row.crc32c};
  }
};

/// What became of one request. Movable; memory of the library goes back when the item does, and is
/// `borrowed` until then. A name out of a listing lies in the listing's memory, which stays as long
/// as an item has it.
struct got_item {
  /// Which request it answers, counted from 0 in the order in which they came.
  std::uint64_t index{0};
  object_name object{};
  std::int64_t generation{0};
  /// The bytes: in `memory`, or the request's `into`.
  bytes_view bytes{};
  borrowed_bytes memory{};
  /// CRC32C of the bytes.
  std::uint32_t crc32c{0};
  /// The bytes are a whole object, or cover one together with others of the call, and its checksum
  /// was compared and equal. A range by itself has nothing to compare with.
  bool verified{false};
  /// Why there are none, with the object's name in it.
  std::optional<error> failure{};
};

/// get_many_request::compose. docs/compose.md has when it pays: a group costs one class A operation
/// in place of up to 32 of class B (protocol.md 3.4). It writes to the bucket, and needs permission
/// to create and delete objects. While a group is read its composite lies below
/// composed_objects_prefix: fast_list() leaves it out (list_filter_options::skip_composed), other
/// listings of the whole bucket show it.
struct compose_options {
  /// Most bytes of one composite. An eighth of the context's memory cap where that is less.
  std::uint64_t max_bytes{32ULL << 20U};
  /// Fewest objects that are worth a composite; at least 2. The most is what the store takes, 32.
  std::size_t min_objects{14};
  /// How long a composite may be of use to whoever made it: after that remove_leftovers() takes it
  /// for a leftover.
  duration lifetime{std::chrono::hours(1)};
  /// Is told by on_log() when composing is given up, and when a composite could not be removed.
  /// Outlives the stream.
  dataflux::observer* observer{nullptr};
};

enum class get_order : std::uint8_t {
  as_asked,  ///< items come in the order of the requests
  as_ready,  ///< whichever is there first
};

enum class get_on_error : std::uint8_t {
  fail_item,  ///< a failed request is an item with its error, in its place; all others go on
  stop,       ///< the stream ends with the first error
};

/// A stream of reads from one bucket.
struct get_many_request {
  std::string bucket{};
  get_order order{get_order::as_asked};
  get_on_error on_error{get_on_error::fail_item};
  /// Whole objects of known size and generation that follow each other are composed by the service,
  /// read as one, and sliced; nothing = never. compose_options{} says when that pays.
  std::optional<compose_options> compose{};
  /// Of the whole stream.
  call_limits limits{};
};

/// Called for the next request when there is room; nothing means the end. On I/O threads, one call
/// at a time; it must not block or throw.
using get_source = unique_function<std::optional<get_request>()>;

namespace detail {
class feed_state;
class get_stream;
}  // namespace detail

/// Requests that become known while a stream runs, such as what a sampler draws. A stream whose
/// feed is empty waits; it ends when that is finished, too.
///
///     get_feed feed;
///     getter items(context, {.bucket = "data"}, feed);
///     feed.push(requests);          // any thread, again and again; what it returned is taken
///     feed.finish();
///
/// Lifetime: a handle, of one getter; it takes nothing when that is over, nor in a fork's child.
/// Threads: all members from any thread.
class get_feed {
 public:
  /// Holds as many requests as `capacity` says (0 = 65,536), besides those that the stream has.
  explicit get_feed(std::size_t capacity = 0);
  /// The same, and rows of `objects` by their numbers.
  explicit get_feed(object_columns objects, std::size_t capacity = 0);

  /// Takes requests, from the first on, and gives their number: fewer when it is full (items that
  /// are taken make room), 0 after finish() and when the stream is over. Never waits.
  std::size_t push(std::span<get_request> requests);
  /// The same by row numbers.
  std::size_t push_rows(std::span<const std::uint64_t> rows);
  /// No more will come. What was pushed is read.
  void finish();

  /// For the streams themselves.
  const std::shared_ptr<detail::feed_state>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<detail::feed_state> state_;
};

/// Reads very many objects, or ranges of objects, with as many requests in flight as the network
/// rewards, and hands them out one by one or in batches.
///
///     transfer_context context(*client);
///     getter items(context, {.bucket = "data"}, listing.objects.slice(first, count));
///     while (auto item = items.next().value()) use(item->bytes);
///
/// Window: a request starts as soon as there is room for its bytes under the context's cap and for
/// itself among the requests in flight; there are no rounds. A reader that takes nothing stops the
/// network. Streams of one context cannot block each other. An item that a reader has taken is
/// borrowed: it is no part of the cap, and the window does not wait for it.
///
/// Sizes: with object_size (a listing has it), a range with an end, or `into`, memory is reserved
/// before anything is sent. Otherwise the first request asks for as much as objects of this stream
/// had of late, and its answer tells the size; a larger object is asked for again as a whole. What
/// is longer than a slice (transfer_options, 8 MiB) becomes parallel ranges of one generation,
/// shorter ones where the cap is small for so many connections. What fills more than a quarter of
/// the cap begins with the memory that is left, and goes on as there is more. Nothing is asked for
/// the bytes of an empty object of known size.
///
/// Ranges of one object and generation that follow each other among the requests, up to a slice
/// together, are read together: by few requests, gaps between them included where that costs less
/// than a request. They may overlap, and are borrowed with the first of them.
///
/// With compose_options whole objects go in groups of up to 32 by way of a composite of exactly the
/// generations asked for; items are the same as without it, compared one by one. Where a composite
/// cannot be made or read, the objects are read; what forbids it for good is said once to the
/// observer. A composite is removed as soon as it has been read, and on every other path: error,
/// cancel, a getter destroyed early, which then waits for it, 70 s at most. One that could not be
/// removed is counted (transfer_counters::composites_left); remove_leftovers() takes it.
///
/// Integrity: whole objects, and ranges read together that are all of one, are compared with the
/// service's CRC32C, and with the request's. A generation is pinned over all requests for an item.
///
/// Errors: an item that failed has its error in its place; a failed request never shortens the
/// stream. out_of_range: the object is not as large as the request or `into` says, or the range
/// begins at its end or behind it, but at 0. aborted: it was replaced while it was read. not_found:
/// the generation is gone. resource_exhausted, which names the cap: more than that without `into`.
/// The stream itself fails as next() says.
///
/// Lifetime: the context's store outlives it. `into`, and what it points to, is the caller's until
/// the item has come or the getter is gone. Destroying it cancels, and waits for the requests under
/// way to end; on the context's strand it does not wait, and memory in `into` must then stay until
/// they have. Items need neither the getter nor the context.
///
/// Threads: all members but move and destruction from any thread. A pool of threads that decode may
/// share one: each item goes to one of them. Blocking members are not for completions, nor for a
/// virtual_scheduler.
///
/// Cost: no copy of a body; one request for each object up to a slice. In a steady stream of a
/// listing no allocation for an object, and one for a batch. Memory: transfer_options::memory_cap.
class getter {
 public:
  /// `into` and what it points to are the caller's until the item has come, or the getter is gone.
  getter(const transfer_context& context, get_many_request how, std::vector<get_request> requests);
  /// Whole objects by their generation: every row of a listing, or of a slice, in order.
  getter(const transfer_context& context, get_many_request how, object_columns objects);
  /// The same of the rows of these numbers, in this order, as often as they are named: what a
  /// sampler draws. A number beyond the last row makes an item that has failed with out_of_range.
  getter(const transfer_context& context, get_many_request how, object_columns objects,
         std::vector<std::uint64_t> rows);
  getter(const transfer_context& context, get_many_request how, get_source source);
  getter(const transfer_context& context, get_many_request how, const get_feed& feed);
  ~getter();
  getter(getter&&) noexcept;
  getter& operator=(getter&&) noexcept;

  /// The next item; nothing at the end, and then again. Errors, then again and again: cancelled, at
  /// once; deadline_exceeded, and with get_on_error::stop the first error of a request, after the
  /// items that were ready before it.
  result<std::optional<got_item>> next();
  /// All items that are there, at most `max` (at least 1), at least one: waits for the first. Empty
  /// at the end.
  result<std::vector<got_item>> next_batch(std::size_t max);
  /// What is there now, at most `max` (at least 1), behind what is in `into`; never waits.
  result<taken> try_next_batch(std::size_t max, std::vector<got_item>& into);
  /// Pushes {tag, ok} into `queue` once, as soon as try_next_batch() has something to say: items,
  /// the end, an error; now if it has already. Ask again when a try has found nothing. The queue
  /// outlives the getter.
  void notify(completion_queue& queue, std::uint64_t tag);
  /// Cancelling the operation, or destroying it unfinished, cancels the stream.
  operation<std::vector<got_item>> submit_next_batch(std::size_t max);
  /// `done` runs inside this call if an item is there, otherwise on an executor of the store.
  void start_next_batch(std::size_t max, object_store::completion<std::vector<got_item>> done);

  void cancel() noexcept;

 private:
  template <class Take>
  bool take_or_sleep(Take take);
  void close() noexcept;
  void wait(std::size_t max, object_store::completion<std::vector<got_item>> done,
            std::shared_ptr<void> on_stop);
  std::shared_ptr<detail::get_stream> stream_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/getter.ipp>
#endif
