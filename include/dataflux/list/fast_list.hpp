#pragma once

#include <dataflux/exec/operation.hpp>
#include <dataflux/list/fast_list_request.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>

#include <memory>
#include <optional>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
class list_outbox;
}  // namespace detail

/// Lists a bucket or a prefix by many calls at a time: the names are divided into ranges where
/// names are (list/range_splitter.hpp), small buckets are listed by few calls as ever. It is proved
/// before success is reported that the ranges cover what was asked for exactly once, and each page
/// that its names lie in its range and ascend; otherwise the error is internal, never a short list.
///
/// What a listing means while objects change: each page is the truth of one moment, pages are of
/// different moments. What exists, unchanged, from the call to the result is in it exactly once,
/// and what does not exist in that time is not; what is made or removed meanwhile may be in it or
/// not. An object that is overwritten is there once, in either generation.
///
/// Errors: invalid_argument before any call; those of the store's listing, whose message then says
/// which range of names it was; resource_exhausted for max_calls and memory_cap; cancelled and
/// deadline_exceeded by the limits; internal when the service's pages contradict each other.
///
/// Everything runs on the store's executor and its I/O threads, where pages are parsed, checked and
/// filtered. Memory: the result, 24 bytes and the name for each object, and the pages in flight.
result<listing> fast_list(object_store& store, fast_list_request request);
/// The same as an operation: cancel it, poll it, wait for it.
operation<listing> submit_fast_list(object_store& store, fast_list_request request);
/// The same in callback form. `done` runs on an executor of the store; inside this call only when
/// the request is invalid, or the store was inherited by a fork.
void start_fast_list(object_store& store, const fast_list_request& request,
                     object_store::completion<listing> done);

/// The same as a stream: begins to list when it is made, and hands out pages from the first one on.
///
///     fast_lister lister(store, {.bucket = "data", .prefix = "train/"});
///     for (auto page = lister.next_page(); page.value(); page = lister.next_page())
///       use((*page)->objects);
///
/// Thread safety: all members but move and destruction from any thread; each page goes to one of
/// them. The store outlives it. Destroying it ends the listing at once: no call is begun after
/// that, those under way are cancelled.
class fast_lister {
 public:
  using page = std::optional<listed_page>;

  fast_lister(object_store& store, const fast_list_request& request);
  ~fast_lister();
  fast_lister(fast_lister&&) noexcept;
  fast_lister& operator=(fast_lister&&) noexcept;

  /// The next page, or nothing at the end. After an error, and after the end, the same again. Pages
  /// that arrived before the error are handed out first.
  result<page> next_page();
  /// Cancelling this operation, or destroying it unfinished, cancels the listing.
  operation<page> submit_next_page();
  /// `done` runs inside this call if a page is there, otherwise on an executor of the store.
  /// Several may wait; pages come to them in turn.
  void start_next_page(object_store::completion<page> done);

  /// Ends the listing with errc::cancelled; pages that nobody has taken are dropped.
  void cancel() noexcept;
  /// What was done: all of it once next_page() has given nothing or an error, until then as far as
  /// pages were handed over. In the child of a fork nothing.
  list_summary summary() const;

 private:
  void close() noexcept;
  std::shared_ptr<detail::list_outbox> outbox_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/fast_list.ipp>
#endif
