#include "listing.hpp"

#include <dataflux/list/fast_list.hpp>

namespace cli {

dataflux::result<void> for_each_page(dataflux::object_store& store, const listing_request& what,
                                     dataflux::unique_function<bool(dataflux::listed_page&)> page) {
  using dataflux::extra_columns;
  dataflux::fast_lister lister(store,
                               {.bucket = what.bucket,
                                .prefix = what.prefix,
                                .delimiter = what.delimiter,
                                .versions = what.versions,
                                .extra = what.times ? extra_columns::created : extra_columns::none,
                                .filter = {.skip_markers = false, .skip_composed = false},
                                .order = dataflux::list_order::by_name,
                                .limits = {.stop = what.stop}});
  while (true) {
    auto got = lister.next_page();
    if (!got) return std::move(got).error();
    if (!*got || !page(**got)) return {};
  }
}

}  // namespace cli
