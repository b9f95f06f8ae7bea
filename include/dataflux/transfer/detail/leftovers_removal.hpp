#pragma once

#include <dataflux/transfer/detail/page_walk.hpp>
#include <dataflux/transfer/detail/remover.hpp>
#include <dataflux/transfer/leftovers.hpp>

#include <deque>
#include <optional>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// An object below one of the reserved prefixes, or of a reserved name, as a listing made at `now`
/// tells it; with `older_than` as leftovers_request has it. Pure.
leftover verify_leftover(const object_row& row, const object_extras& extras, bool versions,
                         timestamp now, std::optional<duration> older_than);
/// The same of an open upload.
leftover verify_leftover(const listed_upload& upload, timestamp now,
                         std::optional<duration> older_than);
/// Whether it is one of those that were asked for by leftovers_request::prefix.
bool is_asked_for(const leftover& one, std::string_view prefix);
/// In the report's order, and none twice.
void order_leftovers(std::vector<leftover>& rows);

/// One find_leftovers() or remove_leftovers(). First all listings, one after the other:
/// of objects, by which the time is known, then of uploads; then the removal.
class leftovers_removal final : public remover {
 public:
  using completion = object_store::completion<leftovers_report>;

  leftovers_removal(object_store& store, const leftovers_request& request, bool only_find,
                    completion done);

 private:
  void begin() override { list(); }
  void drained() override { finish(); }
  DATAFLUX_INLINE void removed(const removal& what, const result<void>& outcome) override;
  DATAFLUX_INLINE void end() override;

  void list();
  void take(result<list_page> page);
  void take(result<upload_page> page);
  void keep(leftover one);
  void remove_stale();

  const leftovers_request request_;
  const bool only_find_;
  completion done_;
  struct object_walk {
    page_walk pages;
    bool versions;
  };
  std::deque<object_walk> objects_{};  ///< the first is under way
  std::deque<upload_walk> uploads_{};
  timestamp now_{};
  leftovers_report report_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/leftovers.ipp>
#endif
