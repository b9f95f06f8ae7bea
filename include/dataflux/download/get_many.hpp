#pragma once

#include <dataflux/download/get_request.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
class get_stream;
}

/// Reads very many objects, or pieces of objects, with as many requests in flight as the network
/// rewards, and hands them out one by one or in batches.
///
///     transfer_context context(*client);
///     getter items(context, "data", listing.objects.slice(first, count));
///     while (auto item = items.next().value()) use(item->bytes);
///
/// Window: a request starts as soon as there is room for its bytes under the context's cap and for
/// itself among the requests in flight, not in batches; transfer/window.hpp says how far ahead. A
/// reader that takes nothing stops the network; streams of one context cannot block each other.
/// What a reader has taken is lent: no part of the cap, and the window does not wait for it.
///
/// Sizes: with object_size (a listing has it), a range with an end, or `into`, memory is set aside
/// before anything is sent. Otherwise the first request asks for as much as objects of this stream
/// had of late, and its answer tells the size; what is larger is asked for again as a whole. What
/// is longer than a slice (transfer_options, 8 MiB) becomes parallel ranges of one generation;
/// of smaller ones where it fills more than a quarter of the cap. More
/// than the cap, without `into`, is an item that failed with resource_exhausted, which names the
/// cap. Nothing is asked for the bytes of an empty object of known size.
///
/// Ranges of one object and generation that follow each other among the requests, up to a slice
/// together, are read together: by few requests, gaps between them included where that costs less
/// than a request (transfer/coalesce.hpp). They may overlap, and are lent with the first of them.
///
/// With get_many_options::compose whole objects go in groups of up to 32 by way of a composite of
/// exactly the generations asked for. Items are what they are without it: each is compared with the
/// checksum of its request, and whenever a composite cannot be made or read, or a slice is not what
/// it should be, the objects are read one by one. What forbids it for good (no permission, a kind
/// of bucket) is said once to the watcher, and the stream goes on without. A composite is removed
/// as soon as it has been read, and on every other path: error, cancel, a getter destroyed early,
/// which then waits for it; two round trips, and 70 s at most when the service does not answer.
/// One that could not be removed is counted (transfer_counters::composites_left) and told to the
/// watcher; it and those of killed processes are litter for sweep_composites().
///
/// Integrity: whole objects, and ranges read together that are all of one, are compared with
/// x-goog-hash, and with the checksum in the request. A
/// generation is pinned over all requests for an item. When the object is not as large as the
/// request says, or not as `into`, the item is out_of_range; when it was replaced while it was
/// read, aborted; when the generation is gone, not_found. A failed request never shortens the
/// stream.
///
/// Thread safety: all members but move and destruction from any thread; a pool of threads that
/// decode may share one: each item goes to one of them. Destroying it cancels, and waits for
/// the requests under way to end, but on the context's home, where it does not: memory in `into`
/// must then stay until they have. The context's store outlives it.
/// Blocking members are not for completions.
class getter {
 public:
  /// Requests of which object names are copied now; `into` and what it points to are the caller's
  /// until the item has come, or the getter is gone.
  getter(const transfer_context& context, std::string bucket, std::vector<get_request> requests,
         const get_many_options& options = {});
  /// Whole objects by their generation: every row of a listing, or of a slice, in order.
  getter(const transfer_context& context, std::string bucket, object_columns objects,
         const get_many_options& options = {});
  getter(const transfer_context& context, std::string bucket, get_source source,
         const get_many_options& options = {});
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
  /// Cancelling the operation, or destroying it unfinished, cancels the stream.
  operation<std::vector<got_item>> submit_next_batch(std::size_t max);
  /// `done` runs inside this call if an item is there, otherwise on an executor of the store.
  void start_next_batch(std::size_t max, object_store::completion<std::vector<got_item>> done);

  void cancel() noexcept;

 private:
  void close() noexcept;
  void wait(std::size_t max, object_store::completion<std::vector<got_item>> done,
            std::shared_ptr<void> on_stop);
  std::shared_ptr<detail::get_stream> stream_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/get_many.ipp>
#endif
