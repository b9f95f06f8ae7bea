#include "known_objects.hpp"

#include <utility>

namespace cli {

using dataflux::result;

namespace {

/// Of the listing; what is asked for comes much more slowly than this.
constexpr std::uint64_t look_ahead_bytes = std::uint64_t{32} << 20U;

dataflux::fast_list_request ahead(const listing_request& what) {
  auto request = request_of(what);
  request.memory_cap = look_ahead_bytes;
  return request;
}

}  // namespace

known_objects::known_objects(dataflux::object_store& store, const listing_request& what)
    : lister_(store, ahead(what)) {}

result<std::optional<known_object>> known_objects::find(std::string_view name) {
  while (page_) {
    for (; row_ < page_->objects.size(); ++row_) {
      const auto there = page_->objects.name(row_);
      if (there > name) return std::optional<known_object>();
      if (there < name) continue;
      const auto row = page_->objects[row_];
      return std::optional(known_object{row.size, row.crc32c});
    }
    auto next = lister_.next_page();
    if (!next) return std::move(next).error();
    page_ = std::move(*next);
    row_ = 0;
  }
  return std::optional<known_object>();
}

}  // namespace cli
