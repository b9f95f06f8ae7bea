#include "listing.hpp"

#include <optional>

namespace cli {

dataflux::result<void> for_each_page(dataflux::object_store& store, const listing_request& what,
                                     dataflux::unique_function<bool(dataflux::list_page&)> page) {
  dataflux::list_page_request request{
      .bucket = what.bucket,
      .prefix = what.prefix,
      .delimiter = what.delimiter,
      .versions = what.versions,
      .extra = what.times ? dataflux::extra_columns::created : dataflux::extra_columns::none,
      .limits = {.stop = what.stop}};
  auto next = store.submit_list_page(request);
  while (true) {
    auto got = next.take();
    if (!got) return std::move(got).error();
    const bool last = got->next_page_token.empty();
    if (!last) {
      request.page_token = got->next_page_token;
      next = store.submit_list_page(request);
    }
    if (!page(*got) || last) return {};
  }
}

}  // namespace cli
