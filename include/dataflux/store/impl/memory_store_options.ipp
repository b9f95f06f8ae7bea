#pragma once

#include <dataflux/store/memory_store.hpp>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE std::string_view to_string(store_verb verb) noexcept {
  switch (verb) {
    case store_verb::list_page:
      return "objects.list";
    case store_verb::stat:
      return "objects.get";
    case store_verb::read:
      return "objects.media";
    case store_verb::insert:
      return "objects.insert";
    case store_verb::remove:
      return "objects.delete";
    case store_verb::compose:
      return "objects.compose";
    case store_verb::move:
      return "objects.move";
    case store_verb::multipart_initiate:
      return "multipart.initiate";
    case store_verb::upload_part:
      return "multipart.part";
    case store_verb::multipart_complete:
      return "multipart.complete";
    case store_verb::multipart_abort:
      return "multipart.abort";
    case store_verb::list_parts:
      return "multipart.parts";
    case store_verb::list_uploads:
      return "multipart.uploads";
    case store_verb::rewrite:
      return "objects.rewrite";
    case store_verb::bucket:
      return "buckets.get";
    case store_verb::remove_many:
      return "objects.deleteMany";
  }
  return "unknown";
}

DATAFLUX_INLINE request_class billed_as(store_verb verb) noexcept {
  switch (verb) {
    case store_verb::stat:
    case store_verb::read:
    case store_verb::bucket:
      return request_class::b;
    case store_verb::remove:
    case store_verb::remove_many:
    case store_verb::multipart_abort:
      return request_class::free;
    default:
      return request_class::a;
  }
}

DATAFLUX_INLINE std::uint64_t memory_store_counters::of(request_class billing) const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < store_verb_count; ++i) {
    if (billed_as(store_verb(i)) == billing) sum += requests[i];
  }
  return sum;
}

}  // namespace dataflux::inline DATAFLUX_ABI
