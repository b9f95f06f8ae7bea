#pragma once

#include <dataflux/folder/detail/folder_copy.hpp>
#include <dataflux/folder/detail/listed_names.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE listed_names::listed_names(folder_copy& owner)
    : owner_(owner), lister_(std::in_place, owner.store(), owner.listing()) {}

DATAFLUX_INLINE listed_names::listed_names(folder_copy& owner, const fast_list_request& what)
    : owner_(owner), lister_(std::in_place, owner.store(), what) {}

DATAFLUX_INLINE listed_names::listed_names(folder_copy& owner, object_columns rows)
    : owner_(owner), page_(std::in_place), ended_(true) {
  page_->objects = std::move(rows);
}

DATAFLUX_INLINE bool listed_names::ready() {
  if (page_ && row_ < page_->objects.size()) return true;
  if (!asked_ && !ended_) ask();
  return page_ && row_ < page_->objects.size();
}

DATAFLUX_INLINE void listed_names::ask() {
  page_.reset();
  row_ = 0;
  asked_ = true;
  lister_->start_next_page(owner_.back<fast_lister::page>(
      [this](result<fast_lister::page> page) { arrived(std::move(page)); }));
}

DATAFLUX_INLINE void listed_names::arrived(result<fast_lister::page> page) {
  asked_ = false;
  ended_ = !page || !*page;
  if (!page) {
    failure_ = std::move(page).error();
    owner_.note(*failure_);
  } else if (!ended_) {
    page_ = std::move(**page);
  }
}

DATAFLUX_INLINE object_columns listed_names::take_page() {
  object_columns rest = page_->objects.slice(row_, page_->objects.size() - row_);
  page_.reset();
  return rest;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
