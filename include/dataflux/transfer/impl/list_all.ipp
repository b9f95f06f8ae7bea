#pragma once

#include <dataflux/transfer/detail/list_all.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE void list_all_call::begin() {
  store().start(walk_.next(limits()), then<list_page>([](list_all_call& self, auto page) {
                  self.take(std::move(page));
                }));
}

DATAFLUX_INLINE void list_all_call::take(result<list_page> page) {
  if (!page) return fail(std::move(page).error());
  if (auto good = walk_.take(*page); !good) return fail(std::move(good).error());
  if (std::exchange(first_, false)) found_.served = page->served;
  found_.rows.append(std::move(page->objects));
  if (walk_.ended()) return complete(std::move(found_));
  begin();
}

DATAFLUX_INLINE void start_list_all(object_store& store, scheduler& strand, list_page_request what,
                                    object_store::completion<listed_rows> done) {
  const std::string bucket = what.bucket;
  std::make_shared<list_all_call>(store, strand, std::move(what), std::move(done))->start(bucket);
}

DATAFLUX_INLINE void list_uploads_call::begin() {
  store().start(walk_.next(limits()), then<upload_page>([](list_uploads_call& self, auto page) {
                  self.take(std::move(page));
                }));
}

DATAFLUX_INLINE void list_uploads_call::take(result<upload_page> page) {
  if (!page) return fail(std::move(page).error());
  if (auto good = walk_.take(*page); !good) return fail(std::move(good).error());
  std::move(page->uploads.begin(), page->uploads.end(), std::back_inserter(found_));
  if (walk_.ended()) return complete(std::move(found_));
  begin();
}

DATAFLUX_INLINE void start_list_all(object_store& store, scheduler& strand,
                                    list_uploads_request what,
                                    object_store::completion<std::vector<listed_upload>> done) {
  const std::string bucket = what.bucket;
  std::make_shared<list_uploads_call>(store, strand, std::move(what), std::move(done))
      ->start(bucket);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
