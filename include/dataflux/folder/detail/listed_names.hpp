#pragma once

#include <dataflux/list/fast_list.hpp>

#include <cstddef>
#include <optional>

namespace dataflux::inline DATAFLUX_ABI::detail {

class folder_copy;

/// The objects below a prefix, one by one in order of names; what comes next is listed
/// meanwhile, a bounded stretch ahead. On the strand.
class listed_names {
 public:
  /// `owner` is told when there is more, and keeps this.
  explicit listed_names(folder_copy& owner);
  /// Of another one than folder_copy::listing().
  listed_names(folder_copy& owner, const fast_list_request& what);
  /// Of a listing that is there already.
  listed_names(folder_copy& owner, object_columns rows);

  /// An object is there.
  bool ready();
  /// Nothing more will come: see failure().
  bool ended() const noexcept { return ended_; }
  const std::optional<error>& failure() const noexcept { return failure_; }
  /// Only while ready(); its name lasts until the next page.
  object_row front() const { return page_->objects[row_]; }
  object_extras extras() const { return page_->objects.extras(row_); }
  void pop() noexcept { ++row_; }
  /// The rest of the page, in place of front() and pop(). Only while ready().
  object_columns take_page();

 private:
  void ask();
  void arrived(result<fast_lister::page> page);

  folder_copy& owner_;
  std::optional<fast_lister> lister_{};
  std::optional<listed_page> page_{};
  std::size_t row_{0};
  bool asked_{false};
  bool ended_{false};
  std::optional<error> failure_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/folder/impl/listed_names.ipp>
#endif
