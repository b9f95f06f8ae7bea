#pragma once

#include <dataflux/list/detail/share_plan.hpp>
#include <dataflux/list/detail/share_record.hpp>
#include <dataflux/list/detail/share_survey.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/list/shared_list.hpp>
#include <dataflux/store/detail/call_coordinator.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// One process's part of a shared listing. share_plan decides; this carries it out.
///
/// begin() agrees with the others on what is listed (agree), and says that it is there. Then
/// advance() takes tasks, as many as there are lanes, and looks at the board in between. A task
/// goes claim(), find_names(), list(), survey(), publish(). When nothing is to be taken it looks
/// again, later and later. At the end share_join makes the manifest.
class share_call final : public call_coordinator<share_call, shared_list_summary> {
 public:
  share_call(object_store& store, const shared_list_request& request,
             manifest_description description, completion done);

  void begin();

 private:
  /// One task on its way.
  struct job {
    share_plan::choice task{};
    name_range names{};
    std::uint64_t calls{0};
    std::uint32_t slots{1};
    listing listed{};
    std::optional<share_survey> survey{};
    std::size_t asking{0};
    share_result made{};
  };
  using job_ptr = std::shared_ptr<job>;

  std::string on_board(std::string_view kind, std::string_view rest = {}) const;
  insert_request creation(std::string object, bytes_view data) const;

  void agree(const result<object_metadata>& made);
  void compare(result<manifest_description> there);
  void join_crew();
  void advance();
  void take_tasks();
  void look();
  void looked(result<listing> board);
  void rest();

  void claim(const job_ptr& j);
  void find_names(const job_ptr& j);
  void list(const job_ptr& j);
  void listed(const job_ptr& j, result<listing> outcome);
  void ask(const job_ptr& j);
  void pack(const job_ptr& j);
  void compare_part(const job_ptr& j, const error& refused);
  void packed(const job_ptr& j);
  void publish(const job_ptr& j);
  void published(const job_ptr& j, const result<object_metadata>& made);
  void count(const job_ptr& j);
  void remove_part(const job_ptr& j);
  void leave();
  void join();

  const shared_list_request request_;
  const manifest_description agreed_;
  const std::string token_;
  const std::string text_;  ///< of the listing's object
  const std::uint32_t parallelism_;
  const duration lease_;
  manifest_description description_;
  share_plan plan_;
  std::map<std::string, share_record> records_{};  ///< those that were read or made here
  std::size_t jobs_{0};
  std::size_t board_rows_{0};
  bool looking_{false};
  timer_id resting_{timer_id::none};
  bool joining_{false};
  duration pause_{0};
  shared_list_summary summary_{};
};

/// Reads a small object of the board.
void start_read_share(object_store& store, const read_request& request,
                      object_store::completion<std::string> done);
/// Reads what a done says. An error names the object.
void start_read_done(object_store& store, const read_request& request,
                     object_store::completion<share_record> done);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/share_call.ipp>
#include <dataflux/list/impl/share_task.ipp>
#endif
