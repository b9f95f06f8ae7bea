#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>
#include <dataflux/list/list_filter.hpp>
#include <dataflux/list/name_range.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/store/object_columns.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What fast_list and fast_lister take and give.
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
  /// range_splitter_options. What a small bucket may cost for the sake of speed. 0 = no bound.
  double calls_per_page{5};
  /// Calls altogether, with those that are repeated; then the listing fails with
  /// resource_exhausted. 0 = no bound.
  std::uint64_t max_calls{0};
  /// Bytes of pages that wait for the reader of a stream, with those that are under way: a stream
  /// that nobody reads stops there, and one by_name looks ahead so far. At least one page is always
  /// allowed. 0 = 256 MiB. For fast_list(), which keeps everything: it fails with
  /// resource_exhausted beyond it; 0 = no bound.
  std::uint64_t memory_cap{0};
  list_order order{list_order::any};
  list_on_error on_error{list_on_error::fail};
  /// How often a page is asked for again after an error that is retryable(), after 0.1 s, 0.4 s,
  /// 1.6 s, ... or when the service says. For stores that do not repeat by themselves: gcs::client
  /// does, and its attempts would be multiplied.
  std::uint32_t page_retries{0};
  /// Gets observer::on_list after each page. Outlives the listing.
  observer* watcher{nullptr};
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
  std::uint64_t probes{0};   ///< calls that only looked where to cut
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

}  // namespace dataflux::inline DATAFLUX_ABI
