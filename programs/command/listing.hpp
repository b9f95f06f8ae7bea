#pragma once

#include <dataflux/list/fast_list.hpp>
#include <dataflux/store/object_store.hpp>

#include <functional>
#include <stop_token>
#include <string>

namespace cli {

/// What to list: names that begin with `prefix`; with a delimiter, those behind it are folded.
struct listing_request {
  std::string bucket{};
  std::string prefix{};
  std::string delimiter{};
  /// Every generation of each name.
  bool versions{false};
  /// When each was written.
  bool times{false};
  bool storage_classes{false};
  std::stop_token stop{};
};

/// In order of names. Nothing is left out: markers of folders and leftovers of downloads are
/// objects.
dataflux::fast_list_request request_of(const listing_request& what);

/// Calls `page` for each page in order of names, on the calling thread, until it gives false. What
/// comes next is listed meanwhile, by many calls at a time. As request_of() asks.
/// Errors: those of dataflux::fast_list().
dataflux::result<void> for_each_page(dataflux::object_store& store, const listing_request& what,
                                     const std::function<bool(dataflux::listed_page&)>& page);

}  // namespace cli
