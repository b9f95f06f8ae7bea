#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_chunk.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/transfer/borrowed_bytes.hpp>
#include <dataflux/transfer/transfer_context.hpp>
#include <dataflux/unique_function.hpp>

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
  /// Memory of exactly the bytes' size. Empty = the library's memory, which the item then holds.
  bytes_span into{};
  /// Size and checksum of the whole object, from a listing. With them memory is reserved before a
  /// request is sent, and the bytes are also compared with the listing.
  std::optional<std::uint64_t> object_size{};
  std::optional<std::uint32_t> crc32c{};
  /// Checksum of the range, from an index of shards, with which its bytes are compared.
  std::optional<std::uint32_t> range_crc32c{};
  /// As read_request::member. One longer than was expected is asked for again, as a whole.
  std::string member{};

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

/// The result of one request. Movable. Destroying the item returns the library's memory, which is
/// `borrowed` until then. A name from a listing lies in the listing's memory, which the item keeps
/// alive.
struct got_item {
  /// The number of its request, from 0 in their order.
  std::uint64_t index{0};
  object_name object{};
  std::int64_t generation{0};
  /// The bytes: in `memory`, or the request's `into`.
  bytes_view bytes{};
  borrowed_bytes memory{};
  /// CRC32C of the bytes.
  std::uint32_t crc32c{0};
  /// The bytes are a whole object, cover one together with other ranges of the call, or are a range
  /// with a range_crc32c; and that checksum was compared and equal.
  bool verified{false};
  /// Why there are no bytes, with the object's name.
  std::optional<error> failure{};
};

/// Options of get_many_request::compose. docs/compose.md says when it pays: a group costs one class
/// A operation instead of up to 32 of class B (protocol.md 3.4). It writes to the bucket, and needs
/// permission to create and delete objects. While a group is read its composite lies below
/// composed_objects_prefix: fast_list() skips it (list_filter_options::skip_composed) by default.
struct compose_options {
  /// Most bytes of one composite, and at most an eighth of the context's memory cap.
  std::uint64_t max_bytes{32ULL << 20U};
  /// Fewest objects of a composite; at least 2. The most is the store's limit, 32.
  std::size_t min_objects{14};
  /// After this time remove_leftovers() treats the composite as a leftover.
  duration lifetime{std::chrono::hours(1)};
  /// Its on_log() reports when composing is given up, and when a composite could not be removed.
  /// Outlives the stream.
  dataflux::observer* observer{nullptr};
};

enum class get_order : std::uint8_t {
  as_asked,  ///< items come in the order of the requests
  as_ready,  ///< items come as they arrive
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
  /// The service composes adjacent whole objects of known size and generation; they are read as one
  /// and sliced. Nothing = never. See compose_options.
  std::optional<compose_options> compose{};
  /// Of the whole stream.
  call_limits limits{};
};

/// Returns the next request when there is room, and nothing at the end. Called on I/O threads, one
/// call at a time; it must not block or throw.
using get_source = unique_function<std::optional<get_request>()>;

namespace detail {
class feed_state;
class get_stream;
}  // namespace detail

/// Requests that become known while a stream runs, such as a sampler's. While its feed is empty the
/// stream waits; it ends when the feed is finished and empty.
///
///     get_feed feed;
///     getter items(context, {.bucket = "data"}, feed);
///     feed.push(requests);          // any thread, again and again; what it returned is taken
///     feed.finish();
///
/// Lifetime: a handle, of one getter. It takes nothing after that has ended, or in a fork's child.
/// Threads: all members from any thread.
class get_feed {
 public:
  /// Holds up to `capacity` requests (0 = 65,536), besides those that the stream has taken.
  explicit get_feed(std::size_t capacity = 0);
  /// The same, and rows of `objects` by number.
  explicit get_feed(object_columns objects, std::size_t capacity = 0);

  /// Takes requests, from the first on, and returns their number: fewer when it is full (taken
  /// items make room), 0 after finish() and after the stream has ended. Never waits.
  std::size_t push(std::span<get_request> requests);
  /// The same by row numbers.
  std::size_t push_rows(std::span<const std::uint64_t> rows);
  /// Declares the end. Pushed requests are still read.
  void finish();

  /// For the streams themselves.
  const std::shared_ptr<detail::feed_state>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<detail::feed_state> state_;
};

/// Reads very many objects, or ranges of objects, and hands them out one by one or in batches. It
/// opens more parallel requests for as long as throughput rises.
///
///     transfer_context context(*client);
///     getter items(context, {.bucket = "data"}, listing.objects.slice(first, count));
///     while (auto item = items.next().value()) use(item->bytes);
///
/// Window: a request starts as soon as its bytes fit under the context's cap and a request may be
/// in flight; there are no rounds. If the reader takes nothing, the network stops. Streams of one
/// context cannot block each other. A taken item is borrowed: it is outside the cap, and the window
/// does not wait for it.
///
/// Sizes: with object_size (from a listing), a range with an end, or `into`, memory is reserved
/// before a request is sent. Otherwise the first request asks for as many bytes as recent objects
/// of this stream had; a larger object is requested again as a whole. A body longer than a slice
/// (transfer_options, 8 MiB) becomes parallel ranges of one generation, shorter ones if the cap is
/// small. A body above a quarter of the cap begins with the memory that is free, and continues as
/// more becomes free. An empty object of known size takes no request.
///
/// Consecutive ranges of one object and generation, up to a slice together, are read by few
/// requests, with gaps that cost less than one. They may overlap, and are borrowed together.
///
/// With compose_options groups of up to 32 whole objects are read through a composite of exactly
/// the requested generations; items are the same, compared one by one. If a composite cannot be
/// made or read, the objects are read; the observer hears once why composing is impossible. A
/// composite is removed as soon as it was read, and on every other path: error, cancel, a getter
/// destroyed early, which then waits up to 70 s. transfer_counters::composites_left counts those
/// that could not be removed; remove_leftovers() finds them.
///
/// Integrity: whole objects, and ranges that together cover one, are compared with the service's
/// CRC32C, and with the request's; ranges with get_request::range_crc32c. Bytes that differ from
/// that are read once more, and then are data_loss. All requests for an item read one generation.
///
/// Errors: a failed item has its error; a failed request never shortens the stream. out_of_range:
/// the object's size differs from the request or `into`, or the range begins at or behind its end
/// (except at 0). aborted: it was replaced during the read. not_found: the generation is gone.
/// resource_exhausted, which names the cap: larger than the cap without `into`. next() says how the
/// stream itself fails.
///
/// Lifetime: the context's store outlives it. `into` and its memory must stay until the item has
/// come or the getter is destroyed. The destructor cancels, and waits for the requests under way.
/// On the context's strand it does not wait, and memory in `into` must stay until they end. Items
/// need neither the getter nor the context.
///
/// Threads: all members but move and destruction from any thread. Decoding threads may share one:
/// each item goes to one of them. Blocking members are not for completions, nor for a
/// virtual_scheduler.
///
/// Cost: no copy of a body; one request for each object up to a slice. A steady stream of a listing
/// allocates nothing per object, and once per batch. Memory: transfer_options::memory_cap.
class getter {
 public:
  /// `into` and its memory must stay until the item has come, or the getter is destroyed.
  getter(const transfer_context& context, get_many_request how, std::vector<get_request> requests);
  /// Whole objects by generation: every row of a listing or slice, in order.
  getter(const transfer_context& context, get_many_request how, object_columns objects);
  /// The same for the rows of these numbers, in this order, repetitions included: such as a
  /// sampler's. A number beyond the last row is an item that fails with out_of_range.
  getter(const transfer_context& context, get_many_request how, object_columns objects,
         std::vector<std::uint64_t> rows);
  getter(const transfer_context& context, get_many_request how, get_source source);
  getter(const transfer_context& context, get_many_request how, const get_feed& feed);
  ~getter();
  getter(getter&&) noexcept;
  getter& operator=(getter&&) noexcept;

  /// The next item; nothing at the end, and in later calls. Errors, which later calls repeat:
  /// cancelled, at once; deadline_exceeded, and with get_on_error::stop the first error of a
  /// request, after the items that were ready before.
  result<std::optional<got_item>> next();
  /// All items that are ready, at most `max` (at least 1). Waits for the first one; empty at the
  /// end.
  result<std::vector<got_item>> next_batch(std::size_t max);
  /// Appends the items that are ready to `into`, at most `max` (at least 1); never waits.
  result<taken> try_next_batch(std::size_t max, std::vector<got_item>& into);
  /// Pushes {tag, ok} into `queue` once, as soon as try_next_batch() returns items, the end or an
  /// error; at once if it does already. Ask again after a try that found nothing. The queue
  /// outlives the getter.
  void notify(completion_queue& queue, std::uint64_t tag);
  /// Cancelling the operation, or destroying it unfinished, cancels the stream.
  operation<std::vector<got_item>> submit_next_batch(std::size_t max);
  /// `done` runs inside this call if an item is ready, otherwise on an executor of the store.
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
