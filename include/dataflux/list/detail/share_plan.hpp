#pragma once

#include <dataflux/deadline.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What one process knows of a listing that many share, and what it does next.
///
/// A task is a range of names. It is claimed, listed up to a number of calls, and done; what it has
/// left becomes tasks of their own, its children. The first task is everything: "0". The children
/// of a task "0.3" are "0.3.0", "0.3.1" and so on, as many as its done says. So whoever sees all
/// dones knows all tasks, and the listing is whole when each of them is done.
///
/// How large a task is nobody knows beforehand. So they are taken in turns: many calls while many
/// tasks wait, few when others look for work. A task that proves to be large is divided so, and one
/// that is small ends by itself.
///
/// Pure: no clock, no store. Not thread-safe. Cost: some 150 bytes for each task; next() goes
/// through all of them.
class share_plan {
 public:
  struct choice {
    std::string id{};
    /// Of the claim that is to be replaced; 0 = there is none.
    std::int64_t claim{0};
    /// Of the listing, at most.
    std::uint64_t calls{1};
    /// Tasks that each process has at a time, as things are: its calls in flight are for so many.
    std::uint64_t lanes{1};
  };

  /// `seed` differs from process to process, so that they choose differently. A claim that was seen
  /// for `lease` belongs to a process that is dead, or slow: then the task is listed twice, which
  /// does no harm.
  /// `lanes` are the tasks that a process has at a time, at most.
  share_plan(std::uint64_t seed, duration lease, std::size_t lanes);

  /// One look at the board: who takes part, all claims and dones that are there, in any order, and
  /// then looked(). What was seen once stays, but for claims, which others replace.
  void saw_rank(std::string_view name);
  void saw_claim(std::string_view id, std::int64_t generation, time_point now);
  void saw_done(std::string_view id, std::size_t children);
  void looked() noexcept { chosen_ = 0; }

  /// The task to take; it counts as this process's own from now on. Nothing: all are taken.
  std::optional<choice> next(time_point now);
  /// Another process has taken what next() gave.
  void lost(const choice& of, time_point now);
  /// It is time for a look before the next choice.
  bool must_look() const noexcept;

  /// All tasks are done.
  bool whole() const noexcept { return waiting_ == 0; }
  std::size_t known() const noexcept { return tasks_.size(); }
  bool done(std::string_view id) const noexcept;
  /// All that are done, in order of their texts.
  std::vector<std::string> all_done() const;

  static std::string child_of(std::string_view id, std::size_t position);
  /// Of "0.3.1" that is "0.3" and 1; nothing for the first task, and for what names none.
  struct place {
    std::string parent{};
    std::size_t position{0};
  };
  static std::optional<place> place_of(std::string_view id);
  static bool is_task(std::string_view id) noexcept;

 private:
  static constexpr std::int64_t unknown_claim = -1;
  struct task {
    std::uint64_t order{0};  ///< depth first, then as the seed says
    std::int64_t claim{0};   ///< its generation; 0 = none was seen
    time_point since{};      ///< when that one was seen first
    bool known{false};       ///< its parent is done; before that only its claim was seen
    bool done{false};
    bool own{false};  ///< under way here
  };
  task& at(std::string_view id);
  void learn(std::string_view id);
  struct counts {
    std::uint64_t waiting{0};
    std::uint64_t open{0};  ///< of them, those that nobody has taken
    std::uint64_t ranks{1};
  };
  counts count() const noexcept;

  const std::uint64_t seed_;
  const duration lease_;
  const std::size_t lanes_;
  std::set<std::string, std::less<>> ranks_{};
  std::map<std::string, task, std::less<>> tasks_{};
  std::size_t waiting_{0};  ///< tasks known and not done
  std::size_t chosen_{0};   ///< since the last look
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/share_plan.ipp>
#endif
