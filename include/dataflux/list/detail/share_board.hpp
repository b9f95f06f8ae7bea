#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/timestamp.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/list/detail/share_plan.hpp>
#include <dataflux/list/detail/share_record.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/store/detail/call_coordinator.hpp>
#include <dataflux/store/object_store.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Where the processes that share a work meet: a prefix that nobody else writes to.
struct share_place {
  std::string bucket{};
  std::string prefix{};
  /// So long a task of another process may take; then that one is thought dead. 0 = 5 minutes.
  duration lease{0};
};

inline constexpr duration usual_share_lease = std::chrono::minutes(5);

/// What is wrong with a place before any call; the names are those of the options.
/// Errors: invalid_argument.
result<void> check_share_place(const share_place& at);

/// A task that this process has taken, and what became of it. Who shares derives its own from it.
struct share_task {
  share_plan::choice task{};
  std::string claim{};   ///< the bytes of its claim
  std::string record{};  ///< the text of its done
  std::string part{};    ///< the object with what was made; empty: nothing was
  std::string bytes{};   ///< of the part, until it is there
  std::uint64_t part_bytes{0};
  std::uint64_t rows{0};
  std::size_t children{0};
};

/// One process's part of a work that many share by a board. share_plan decides; this carries it
/// out, whatever the work is.
///
/// share() agrees with the others on what is shared, and says that it is there. Then advance()
/// takes tasks, as many as there are lanes, and looks at the board in between. When nothing is to
/// be taken it looks again, later and later.
///
/// `Task` derives from share_task. Self says, all on the strand:
///
/// - `agreed(timestamp)`: the board is of this work, and was begun then.
/// - `difference(bytes_view)`: by what the board's text is of another work; empty if it is not.
/// - `take(task)`: does a task, and then calls put_part() or publish().
/// - `saw(id, share_mark)`: a task is done, by whomever; for each once.
/// - `own(task)`: the same for one of this process, before saw().
/// - `whole()`: all tasks are done.
///
/// Whatever fails fails the call, and its tasks wait for another process.
template <class Self, class Value, class Task>
class share_board : public call_coordinator<Self, Value> {
 public:
  using base = call_coordinator<Self, Value>;
  using task_ptr = std::shared_ptr<Task>;

  /// `parallelism` are the calls in flight for all tasks.
  share_board(object_store& store, scheduler& strand, call_limits limits, share_place at,
              std::uint32_t parallelism, typename base::completion done);

 protected:
  ~share_board() = default;

  /// Begins, after watch_stop() and watch_deadline(). `text` says what is shared.
  void share(std::string text);

  std::string on_board(std::string_view kind, std::string_view rest = {}) const;
  insert_request creation(const std::string& object, bytes_view data) const;
  /// The task's share of the parallelism.
  std::uint32_t slots_of(const Task& t) const noexcept;
  std::uint64_t lanes() const noexcept;

  /// The name of the object for what a task has made.
  std::string part_of(const Task& t) const;
  /// Writes task.bytes there; then publish().
  void put_part(const task_ptr& t);
  /// The task is done, as its record says.
  void publish(const task_ptr& t);

  share_place at_;
  const std::string token_;
  const std::uint32_t parallelism_;
  share_plan plan_;

 private:
  void agree(const result<object_metadata>& made);
  void compare(const std::string& there);
  void date_board();
  void join_crew();
  void advance();
  void take_tasks();
  void claim(const task_ptr& t);
  void leave();
  void look();
  void looked(result<listing> board);
  void take_board(const object_columns& rows, time_point now);
  void rest();
  void compare_part(const task_ptr& t, const error& refused);
  void published(const task_ptr& t, const result<object_metadata>& made);
  void count(const task_ptr& t);
  void remove_part(const task_ptr& t);

  std::string text_{};
  std::size_t tasks_{0};
  std::size_t board_rows_{0};
  bool looking_{false};
  bool ended_{false};
  timer_id resting_{timer_id::none};
  duration pause_{0};
};

/// Reads a small object of the board.
void start_read_share(object_store& store, const read_request& request,
                      object_store::completion<std::string> done);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#include <dataflux/list/detail/share_board_meeting.hpp>
#include <dataflux/list/detail/share_board_tasks.hpp>

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/share_place.ipp>
#endif
