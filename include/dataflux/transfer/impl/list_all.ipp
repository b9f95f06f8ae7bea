#pragma once

#include <dataflux/transfer/detail/list_all.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE void add_page(listed_rows& to, list_page page, bool first) {
  if (first) to.served = page.served;
  to.rows.append(std::move(page.objects));
}

DATAFLUX_INLINE void add_page(std::vector<listed_upload>& to, upload_page page, bool /*first*/) {
  std::move(page.uploads.begin(), page.uploads.end(), std::back_inserter(to));
}

DATAFLUX_INLINE void start_list_all(object_store& store, scheduler& strand, list_page_request what,
                                    object_store::completion<listed_rows> done) {
  using call = list_all_call<page_walk, list_page, listed_rows>;
  const std::string bucket = what.bucket;
  std::make_shared<call>(store, strand, std::move(what), std::move(done))->start(bucket);
}

DATAFLUX_INLINE void start_list_all(object_store& store, scheduler& strand,
                                    list_uploads_request what,
                                    object_store::completion<std::vector<listed_upload>> done) {
  using call = list_all_call<upload_walk, upload_page, std::vector<listed_upload>>;
  const std::string bucket = what.bucket;
  std::make_shared<call>(store, strand, std::move(what), std::move(done))->start(bucket);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
