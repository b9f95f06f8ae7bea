#pragma once

#include <dataflux/list/detail/list_action.hpp>
#include <dataflux/list/detail/splitter_figures.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace dataflux::inline DATAFLUX_ABI::detail {

struct splitter_state;

/// Decides how one listing is divided into ranges that are listed at the same time: where to cut,
/// when, and how large the pages are. It cuts where names are, not in the middle of the name space.
/// From the pages it builds a tree: the prefixes that branch, and how many names lie below each. By
/// the tree it estimates how many names are still to come: how many siblings a node usually has,
/// and how large they are. Where the tree says nothing it tries: a range that finds nothing costs a
/// round trip. Nothing is fixed beforehand, there are no kinds of names.
///
/// It begins as a plain scan, with a peek at the first names beside the first page, and widens as
/// names are found. A small bucket takes as long as page after page: names that a page in flight
/// brings behind a cut are not lost, but given to the range there (names_given). Ranges that the
/// scan would end sooner than a new call could help are left alone.
///
/// Pure: no clock, no store, no random source; equal calls give equal actions. When it is wrong a
/// listing takes longer. The coordinator does not trust it: it proves that the ranges cover
/// everything (check_cover). A coordinator needs no knowledge of names:
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
///           splitter.page_ended(r, {.entries, .names, .finished});
///           what lies behind that end goes to the ranges there: names_given(next, ...)
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
  /// What a page of another range brought of this one, behind its last name: the page was in flight
  /// when this range was cut off. `finished`: it brought all of it; then its own page, if one is in
  /// flight, is not reported any more. To be told after the other range's page_ended().
  void names_given(std::uint32_t range, const list_page_report& page);
  /// The reply to a probe action. A probe that failed may be reported as empty with `more` set.
  void probe_answered(std::uint32_t id, const list_probe_report& probe);

  /// Every which row of a page of `entries` is to be reported.
  static constexpr std::uint64_t stride(std::uint64_t entries) noexcept {
    return std::max<std::uint64_t>(
        1, (entries + splitting::reported_names - 1) / splitting::reported_names);
  }

  std::uint64_t listed() const noexcept;          ///< entries so far
  std::uint64_t expected_total() const noexcept;  ///< an estimate, for progress; >= listed()
  std::size_t open_ranges() const noexcept;

 private:
  std::unique_ptr<splitter_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/range_splitter.ipp>
#endif
