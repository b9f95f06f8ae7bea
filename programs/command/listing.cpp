#include "listing.hpp"

#include <dataflux/list/fast_list.hpp>

namespace cli {

dataflux::fast_list_request request_of(const listing_request& what) {
  using dataflux::extra_columns;
  return {.bucket = what.bucket,
          .prefix = what.prefix,
          .delimiter = what.delimiter,
          .versions = what.versions,
          .extra = (what.times ? extra_columns::created : extra_columns::none) |
                   (what.storage_classes ? extra_columns::storage_class : extra_columns::none),
          .filter = {.skip_markers = false, .skip_composed = false},
          .order = dataflux::list_order::by_name,
          .limits = {.stop = what.stop}};
}

dataflux::result<void> for_each_page(dataflux::object_store& store, const listing_request& what,
                                     const std::function<bool(dataflux::listed_page&)>& page) {
  dataflux::fast_lister lister(store, request_of(what));
  while (true) {
    auto got = lister.next_page();
    if (!got) return std::move(got).error();
    if (!*got || !page(**got)) return {};
  }
}

}  // namespace cli
