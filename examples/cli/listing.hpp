#pragma once

#include <dataflux/store/object_store.hpp>
#include <dataflux/unique_function.hpp>

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
  std::stop_token stop{};
};

/// Calls `page` for each page in order of names, on the calling thread, until it gives false. The
/// next page is fetched meanwhile. Errors: those of objects.list.
dataflux::result<void> for_each_page(dataflux::object_store& store, const listing_request& what,
                                     dataflux::unique_function<bool(dataflux::list_page&)> page);

}  // namespace cli
