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
  /// As they arrive: each page is in order, pages of different ranges are mixed.
  any,
  /// In the order of names: the leftmost ranges are listed first, and the pages of others wait.
  by_name,
};

enum class list_on_error : std::uint8_t {
  fail,          ///< the listing fails with the first range that does
  give_partial,  ///< other ranges go on; list_summary::missing names the missing ones
};

/// What to list, and how. The defaults list all of the bucket, as fast as possible.
struct fast_list_request {
  std::string bucket{};
  /// Only names that begin with this.
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

  /// Most calls in flight, at most 1,024. 0 = adaptive: 48, and up to 128 for large listings. The
  /// client's own pacing may keep the rate below that.
  std::uint32_t parallelism{0};
  /// Entries of a page, at most 10,000 and what the store has; 0 = as many as it has.
  std::uint32_t page_size{0};
  /// Most calls for each page of a plain listing, which bounds the cost of a small bucket. 0 = 5;
  /// the largest double = no bound.
  double calls_per_page{5};
  /// Most calls in all, repeated ones included; beyond it the listing fails with
  /// resource_exhausted. 0 = no bound.
  std::uint64_t max_calls{0};
  /// Most bytes of a stream's pages that wait for the reader or are in flight: an unread stream
  /// stops there, and one by_name reads ahead so far. One page is always allowed. 0 = 256 MiB.
  /// fast_list() keeps everything, and fails with resource_exhausted beyond it; there 0 = no bound.
  std::uint64_t memory_cap{0};
  list_order order{list_order::any};
  list_on_error on_error{list_on_error::fail};
  /// Gets observer::on_list after each page. Outlives the listing.
  dataflux::observer* observer{nullptr};
  /// Identifies this listing for the observer: list_event::call.
  std::uint64_t call{0};
  /// Of the whole listing.
  call_limits limits{};
};

/// What a listing did. Everything that is left out is counted.
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
  /// With give_partial: ranges that were not listed, in order; empty when nothing is missing. To
  /// list the rest, use their start and end as offsets. (If the listing broke off between the
  /// versions of a name, some versions may come again. With include_trailing_delimiter that holds
  /// for a folded prefix, too.)
  std::vector<detail::name_range> missing{};
  /// The first error that caused a missing range.
  std::optional<error> cause{};
};

/// A whole listing: objects and prefixes in the order of their names.
struct listing {
  object_columns objects{};
  std::vector<std::string> prefixes{};
  list_summary summary{};
};

/// One or more pages of it. Not empty.
struct listed_page {
  object_columns objects{};
  std::vector<std::string> prefixes{};
};

namespace detail {
class list_queue;
}  // namespace detail

/// Lists a bucket or a prefix by many parallel calls. It divides the names into ranges where names
/// are; a small bucket takes few calls. Before it succeeds it proves that the ranges cover the
/// request exactly once, and that each page's names lie in its range and ascend.
///
/// While objects change: each page shows one moment, and pages show different moments. An object
/// that exists from the call to the result is listed exactly once. One that does not exist in that
/// time is not listed. One that is created or removed meanwhile may be listed or not. One that is
/// overwritten is listed once, in either generation.
///
/// Errors: invalid_argument before any call. Those of the store's listing, with the range of names
/// in the message. resource_exhausted for max_calls and memory_cap. cancelled and deadline_exceeded
/// by the limits. internal when the service's pages contradict each other: never a short list.
///
/// Lifetime: the store outlives the call.
///
/// Threads: any may call. The listing runs on the store's strand; its I/O threads parse, verify and
/// filter pages. Blocking forms are not for completions, nor for a virtual_scheduler.
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

/// The same listing as a stream: the constructor begins it, and it hands out pages from the first
/// one on.
///
///     fast_lister lister(store, {.bucket = "data", .prefix = "train/"});
///     for (auto page = lister.next_page(); page.value(); page = lister.next_page())
///       use((*page)->objects);
///
/// Errors: those of fast_list(), from next_page(). Pages that arrived before the error are handed
/// out first.
///
/// Lifetime: the store outlives it. Destroying it ends the listing at once and cancels the calls
/// under way.
///
/// Threads: all members but move and destruction from any thread; each page goes to one of them.
///
/// Cost: fast_list_request::memory_cap bounds the pages that wait for the reader. If the reader
/// takes nothing, the listing stops there.
class fast_lister {
 public:
  using page = std::optional<listed_page>;

  fast_lister(object_store& store, const fast_list_request& request);
  ~fast_lister();
  fast_lister(fast_lister&&) noexcept;
  fast_lister& operator=(fast_lister&&) noexcept;

  /// The next page, or nothing at the end. Later calls return the same end or error. Pages that
  /// arrived before the error are handed out first.
  result<page> next_page();
  /// Replaces `into` by a page that has arrived; never waits.
  result<taken> try_next_page(listed_page& into);
  /// Pushes {tag, ok} into `queue` once, as soon as try_next_page() returns a page, the end or an
  /// error; at once if it does already. Ask again after a try that found nothing. The queue
  /// outlives the lister.
  void notify(completion_queue& queue, std::uint64_t tag);
  /// Cancelling this operation, or destroying it unfinished, cancels the listing.
  operation<page> submit_next_page();
  /// `done` runs inside this call if a page has arrived, otherwise on an executor of the store.
  /// Several may wait; they get pages in turn.
  void start_next_page(object_store::completion<page> done);

  /// Ends the listing with errc::cancelled; pages that were not taken are dropped.
  void cancel() noexcept;
  /// The summary: complete once next_page() returned nothing or an error, before that of the pages
  /// handed over. Empty in the child of a fork.
  list_summary summary() const;

 private:
  void close() noexcept;
  std::shared_ptr<detail::list_queue> queue_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/fast_list.ipp>
#endif
