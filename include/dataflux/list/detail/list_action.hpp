#pragma once

#include <dataflux/list/detail/name_range.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// What a range_splitter and the coordinator of a listing say to each other.
namespace dataflux::inline DATAFLUX_ABI::detail {

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
  /// May ask for folders (`delimiter=/`, entries are the folded prefixes) to learn good cuts, and
  /// peek at the first names. Off where the listing has a delimiter of its own, match_glob or
  /// versions: those probes are plain listings, and would see other names than the listing.
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
  /// Nothing more is to come: no token, or something lay beyond the end.
  bool finished{false};
};

/// What a probe brought: all names and folded prefixes in one order, and whether there was a token.
struct list_probe_report {
  std::span<const std::string_view> entries{};
  bool more{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
