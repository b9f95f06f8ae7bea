#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/list/detail/name_range.hpp>
#include <dataflux/list/list_filter.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// The order in which a stream hands out its pages. Both hand out everything.
enum class list_order : std::uint8_t {
  /// As they come: a page is in order in itself, pages of different ranges are mixed.
  any,
  /// In the order of names: the leftmost ranges are listed first, and the pages of others wait.
  by_name,
};

enum class list_on_error : std::uint8_t {
  fail,          ///< the listing fails with the first range that does
  give_partial,  ///< other ranges go on; list_summary::missing says what is not there
};

/// What to list and how. Members that are left out mean all of the bucket, as fast as it goes.
struct fast_list_request {
  std::string bucket{};
  /// Only names that begin with it.
  std::string prefix{};
  /// Only names >= start_offset and < end_offset; empty = no bound.
  std::string start_offset{};
  std::string end_offset{};
  /// As in list_page_request: names that contain it behind the prefix are folded into prefixes.
  std::string delimiter{};
  bool include_trailing_delimiter{false};
  std::string match_glob{};
  /// All generations of each name, the oldest first.
  bool versions{false};
  /// Besides name, size, generation and crc32c.
  extra_columns extra{extra_columns::none};
  list_filter_options filter{};

  /// Most calls in flight, at most 1,024. 0 = adaptive: 48, more as more is found to be there, up
  /// to 128. The client's own pacing may keep the rate below that.
  std::uint32_t parallelism{0};
  /// Entries of a page, at most 1,000 and what the store has; 0 = as many as it has.
  std::uint32_t page_size{0};
  /// Calls for each page that a listing page after page would have needed, at most; see
  /// range_splitter_options. What a small bucket may cost for the sake of speed. 0 = 5; the
  /// largest double = no bound.
  double calls_per_page{5};
  /// Calls altogether, with those that are repeated; then the listing fails with
  /// resource_exhausted. 0 = no bound.
  std::uint64_t max_calls{0};
  /// Bytes of pages that wait for the reader of a stream, with those that are under way: a stream
  /// that nobody reads stops there, and one by_name reads ahead so far. At least one page is always
  /// allowed. 0 = 256 MiB. For fast_list(), which keeps everything: it fails with
  /// resource_exhausted beyond it; 0 = no bound.
  std::uint64_t memory_cap{0};
  list_order order{list_order::any};
  list_on_error on_error{list_on_error::fail};
  /// Gets observer::on_list after each page. Outlives the listing.
  dataflux::observer* observer{nullptr};
  /// Whatever tells the observer this listing from others: list_event::call.
  std::uint64_t call{0};
  /// Of the whole listing.
  call_limits limits{};
};

/// What a listing did. Nothing vanishes without being counted.
struct list_summary {
  std::uint64_t objects{0};  ///< handed out
  std::uint64_t bytes{0};    ///< the sum of their sizes
  std::uint64_t prefixes{0};
  list_dropped dropped{};
  std::uint64_t pages{0};    ///< pages taken
  std::uint64_t calls{0};    ///< requests to the store, with probes and those that were repeated
  std::uint64_t probes{0};   ///< calls that only searched where to cut
  std::uint64_t repeats{0};  ///< calls for a page that an earlier one did not bring
  std::uint64_t ranges{0};   ///< pieces that the listing was cut into
  /// With give_partial: what was not listed, in order; empty when nothing is missing. A later call
  /// with such a piece's start and end as its offsets lists the rest. (Of the versions of a name
  /// between whose pages the listing broke off, some may come again; with
  /// include_trailing_delimiter the folded prefix behind which it broke off, too.)
  std::vector<name_range> missing{};
  /// The first error that made something missing.
  std::optional<error> cause{};
};

/// A whole listing: objects and prefixes in the order of their names.
struct listing {
  object_columns objects{};
  std::vector<std::string> prefixes{};
  list_summary summary{};
};

/// Some pages' worth of it. Not empty.
struct listed_page {
  object_columns objects{};
  std::vector<std::string> prefixes{};
};

namespace detail {
class list_queue;
}  // namespace detail

/// Lists a bucket or a prefix by many calls at a time. The names are divided into ranges where
/// names are; a small bucket is listed by few calls as ever. Success means that the ranges cover
/// what was asked for exactly once, and that the names of each page lie in its range and ascend:
/// both are proved before it is reported.
///
/// While objects change: each page is the truth of one moment, and pages are of different moments.
/// What exists, unchanged, from the call to the result is in it exactly once. What does not exist
/// in that time is not in it. What is made or removed meanwhile may be in it or not. An object that
/// is overwritten is there once, in either generation.
///
/// Errors: invalid_argument before any call. Those of the store's listing, whose message then says
/// which range of names it was. resource_exhausted for max_calls and memory_cap. cancelled and
/// deadline_exceeded by the limits. internal when the service's pages contradict each other: never
/// a short list.
///
/// Lifetime: the store outlives the call.
///
/// Threads: any may call. Everything runs on the store's strand and its I/O threads, where pages
/// are parsed, verified and filtered. Blocking forms are not for completions, nor for a
/// virtual_scheduler.
///
/// Cost: 24 bytes and the name for each object, and the pages in flight.
/// fast_list_request::calls_per_page bounds the calls.
result<listing> fast_list(object_store& store, fast_list_request request);
/// The same as an operation: cancel it, poll it, wait for it.
operation<listing> submit_fast_list(object_store& store, fast_list_request request);
/// The same in callback form. `done` runs on an executor of the store; inside this call only when
/// the request is invalid, or the store was inherited by a fork.
void start_fast_list(object_store& store, const fast_list_request& request,
                     object_store::completion<listing> done);

/// The same listing as a stream: it begins when it is made, and hands out pages from the first one
/// on.
///
///     fast_lister lister(store, {.bucket = "data", .prefix = "train/"});
///     for (auto page = lister.next_page(); page.value(); page = lister.next_page())
///       use((*page)->objects);
///
/// Errors: those of fast_list(), from next_page(). Pages that arrived before the error are handed
/// out first.
///
/// Lifetime: the store outlives it. Destroying it ends the listing at once: no call is begun after
/// that, those under way are cancelled.
///
/// Threads: all members but move and destruction from any thread; each page goes to one of them.
///
/// Cost: fast_list_request::memory_cap bounds the pages that wait for the reader. A reader that
/// takes nothing stops the listing there.
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
  /// A page that is there now, in place of what is in `into`; never waits.
  result<taken> try_next_page(listed_page& into);
  /// Pushes {tag, ok} into `queue` once, as soon as try_next_page() has something to say: a page,
  /// the end, an error; now if it has already. Ask again when a try has found nothing. The queue
  /// outlives the lister.
  void notify(completion_queue& queue, std::uint64_t tag);
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
  std::shared_ptr<detail::list_queue> queue_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/fast_list.ipp>
#endif
