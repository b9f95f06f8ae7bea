#pragma once

#include <dataflux/list/name_range.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
struct splitter_state;
}

struct range_splitter_options {
  /// What is to be listed: offsets and prefix already intersected. Its start and end are
  /// well-formed UTF-8 or empty.
  name_range range{};
  /// The listing's prefix: where folding begins. May be empty.
  std::string prefix{};
  /// Of the listing: what is counted are then names and folded prefixes, and no cut lies inside a
  /// folded prefix. Empty = every name by itself.
  std::string delimiter{};
  /// Most calls in flight, at least 1.
  std::uint32_t parallelism{48};
  /// Most entries of one page, 1-1000.
  std::uint32_t page_size{1000};
  /// Calls are kept below this many for each page that a sequential listing of what has been found
  /// would have needed (and one for each slot, from the start): it bounds what a small bucket
  /// costs. 0 = no bound.
  double calls_per_page{5};
  /// May ask for folders (`delimiter=/`, entries are the folded prefixes) to learn good cuts. Off
  /// where the listing has a delimiter of its own, match_glob or versions: those probes are plain
  /// listings, and would see what the listing does not.
  bool folder_probes{true};
  /// For a reader in key order: what lies on the left is divided first, unless it is less than half
  /// as large as the largest range. Pages of the leftmost ranges are sent first in any case.
  bool in_order{false};
};

/// One thing to do. Which members count is said by `what`.
struct list_action {
  enum class kind : std::uint8_t {
    /// Range `range` ends at `at` from now on; range `id` is new: from `at` to the former end.
    /// It takes no slot; the page of the new range follows as an action of its own.
    split,
    /// Send range `range`'s next page, of at most `max_results` entries. Takes a slot.
    page,
    /// Send a listing from `at` to `until` (empty = no bound) with delimiter "/", prefix `within`
    /// and `max_results`; its answer goes to probe_answered(`id`). Takes a slot. What it lists
    /// counts for nothing: only its folded prefixes and its names are of interest.
    probe,
    /// As a probe, but without a delimiter, so that all names are entries: what the range's page in
    /// flight will bring too, only sooner.
    peek,
  };
  kind what{kind::page};
  std::uint32_t range{0};
  std::uint32_t id{0};
  std::uint32_t max_results{0};
  std::string at{};
  std::string until{};
  std::string within{};
};

/// What a page brought, cut off at the range's end as it is when the page is reported.
struct list_page_report {
  /// Entries inside the range.
  std::uint64_t entries{0};
  /// A selection of them in order: rows 0, stride, 2 x stride, ... and always the last, where
  /// stride = range_splitter::stride(entries). Empty when there are no entries.
  std::span<const std::string_view> names{};
  /// Entries that were dropped because the range had been cut in the meantime.
  std::uint64_t beyond{0};
  /// Nothing more is to come: no token, or something lay beyond the end.
  bool finished{false};
};

/// What a probe brought: all names and folded prefixes in one order, and whether there was a token.
struct list_probe_report {
  std::span<const std::string_view> entries{};
  bool more{false};
};

/// Decides how one listing is divided into ranges that are listed at the same time: where to cut,
/// when, and how large the pages are. It cuts where names are, not in the middle of the name space:
/// from the pages it builds a tree of what it has seen (the prefixes that branch, and how much lies
/// below each), and estimates what is still to come by what is already known: how many siblings a
/// node usually has, and how large they are. What it does not know it tries: a range that finds
/// nothing costs a round trip. Nothing is fixed beforehand, there are no kinds of names.
///
/// It begins as a plain scan and widens as names are found, so that a small bucket is not slower
/// than page after page, nor much costlier. Ranges that the scan would end sooner than a new call
/// could help are left alone.
///
/// Pure: no clock, no store, no random source; equal calls give equal actions. It may be wrong,
/// then a listing takes longer; whether the ranges cover everything is proved by the coordinator
/// (check_cover), who believes nothing of it. A coordinator needs no knowledge of names:
///
///     ranges[0] = {options.range};
///     while (any range is open) {
///       for (list_action& a : splitter.plan(parallelism - in_flight)) {
///         if (a.what == kind::split) {
///           ranges[a.id] = {a.at, ranges[a.range].end};      // is_cut() holds, or internal error
///           ranges[a.range].end = a.at;
///         } else if (a.what == kind::page) {
///           send from ranges[a.range].position (token, or successor of the last name) to its end
///         } else {
///           send {start_offset = a.at, end_offset = a.until, prefix = a.within,
///                 delimiter = a.what == kind::probe ? "/" : ""}
///         }
///       }
///       wait for a reply;
///       page of range r: keep names < ranges[r].end;         // the end may have moved meanwhile
///           splitter.page_ended(r, {.entries, .names, .beyond, .finished});
///       probe: splitter.probe_answered(id, {.entries, .more});
///     }
///
/// A page token belongs to the end it was made with: after a cut go on from the last name, or use
/// the token and drop what lies beyond. An empty page with a token is reported as it is. Pages that
/// are retried are reported once. A range has at most one page in flight.
///
/// Not thread-safe: one coordinator owns it. Movable. Memory: some 100 bytes for each branching
/// prefix between what is listed and what is not: O(parallelism x depth of names). CPU: a page
/// costs some 20 us, a split some 50 us.
class range_splitter {
 public:
  explicit range_splitter(range_splitter_options options);
  ~range_splitter();
  range_splitter(range_splitter&&) noexcept;
  range_splitter& operator=(range_splitter&&) noexcept;

  /// What to do with `slots` idle slots: at most as many pages and probes, and the splits that they
  /// need. Valid until the next call of a member. Empty when nothing would help; ask again after
  /// the next report. To be asked after each report, also when nothing is idle.
  /// `leftmost_only`: nothing but the page of the first open range, for an ordered reader whose
  /// look-ahead is full.
  std::span<const list_action> plan(std::size_t slots, bool leftmost_only = false);

  /// The reply to a page action. `range` must have one in flight.
  void page_ended(std::uint32_t range, const list_page_report& page);
  /// The reply to a probe action. A probe that failed may be reported as empty with `more` set.
  void probe_answered(std::uint32_t id, const list_probe_report& probe);

  /// Every which row of a page of `entries` is to be reported.
  static constexpr std::uint64_t stride(std::uint64_t entries) noexcept {
    return entries <= 128 ? 1 : (entries + 127) / 128;
  }

  std::uint64_t listed() const noexcept;          ///< entries so far
  std::uint64_t expected_total() const noexcept;  ///< an estimate, for progress; >= listed()
  std::size_t open_ranges() const noexcept;

 private:
  std::unique_ptr<detail::splitter_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/range_splitter.ipp>
#endif
