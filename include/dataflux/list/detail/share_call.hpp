#pragma once

#include <dataflux/list/detail/share_board.hpp>
#include <dataflux/list/detail/share_record.hpp>
#include <dataflux/list/detail/share_survey.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/list/shared_list.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A range of names that this process lists.
struct listing_task : share_task {
  name_range names{};
  std::uint64_t calls{0};
  listing listed{};
  std::optional<share_survey> survey{};
  std::size_t asking{0};
  share_record made{};
};

/// One process's part of a shared listing.
///
/// A task goes take(), which finds its names, list(), survey, pack(). At the end share_join makes
/// the manifest.
class share_call final : public share_board<share_call, shared_list_summary, listing_task> {
 public:
  share_call(object_store& store, const shared_list_request& request,
             manifest_description description, completion done);

  void begin();
  // For the board:
  void agreed(timestamp begun) { description_.taken = begun; }
  result<std::string> difference(bytes_view there) const;
  void take(const task_ptr& t);
  void saw(std::string_view /*id*/, const share_mark& mark) { summary_.objects += mark.rows; }
  void own(const task_ptr& t);
  void whole();

 private:
  void list(const task_ptr& t);
  void listed(const task_ptr& t, result<listing> outcome);
  void ask(const task_ptr& t);
  void pack(const task_ptr& t);

  const shared_list_request request_;
  const manifest_description agreed_;
  manifest_description description_;
  std::map<std::string, share_record> records_{};  ///< those that were read or made here
  shared_list_summary summary_{};
};

/// Reads what a done says. An error names the object.
void start_read_done(object_store& store, const read_request& request,
                     object_store::completion<share_record> done);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/share_call.ipp>
#include <dataflux/list/impl/share_task.ipp>
#endif
