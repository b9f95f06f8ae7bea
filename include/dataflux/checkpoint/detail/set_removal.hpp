#pragma once

#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/detail/set_scan.hpp>
#include <dataflux/transfer/detail/remover.hpp>

#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What is removed as one, in steps: a step begins when the one before it has removed everything.
struct removal_plan {
  std::vector<std::string> sets{};
  /// Last objects, what they vouch for, manifests.
  std::array<std::vector<set_object>, 3> steps{};
};

/// Finds out what is to go, and removes it.
class set_removal : public remover {
 public:
  using completion = object_store::completion<removal_report>;
  set_removal(object_store& store, std::string bucket, std::string folder,
              const call_limits& limits, completion done);

 protected:
  const std::string& folder() const noexcept { return folder_; }
  void carry_out(std::deque<removal_plan> plans);
  removal_report& report() noexcept { return report_; }

 private:
  DATAFLUX_INLINE void drained() override;
  DATAFLUX_INLINE void removed(const removal& what, const result<void>& outcome) override;
  DATAFLUX_INLINE void end() override;
  /// A failure_ is the outcome, unless a derived class knows better.
  DATAFLUX_INLINE virtual result<removal_report> outcome();
  void end_step();

  const std::string folder_;
  completion done_;
  removal_report report_{};
  std::deque<removal_plan> plans_{};  ///< the first is being carried out
  std::size_t step_{0};               ///< the next one
  bool step_failed_{false};
};

/// Whatever lies below a folder.
class folder_removal final : public set_removal {
 public:
  using set_removal::set_removal;

 private:
  DATAFLUX_INLINE void begin() override;
  void list_uploads();
  void choose();

  object_columns rows_{};
  std::vector<listed_upload> uploads_{};
};

/// What was written for a set that was not committed. Its manifests go last, by which a removal
/// that was killed is known.
removal_plan plan_of(unfinished_objects set);

/// What an earlier save has left, before another one begins.
class unfinished_removal final : public set_removal {
 public:
  unfinished_removal(object_store& store, std::string bucket, std::string folder,
                     unfinished_members what, const call_limits& limits, completion done);

 private:
  DATAFLUX_INLINE void begin() override;
  void choose(set_scan_report report);

  const unfinished_members what_;
};

/// What a commit over a set has replaced, and what was written there for saves that can no longer
/// be committed: all that the commit's listings, of objects and of open uploads, show of saves but
/// its own, for they began before, and know another last object. What fails is in the report; never
/// an error.
class replaced_removal final : public set_removal {
 public:
  /// `last` is the last object's name, and `own` the folder of the commit's members; `rows` and
  /// `uploads` were listed before the commit.
  replaced_removal(object_store& store, std::string bucket, std::string folder, std::string last,
                   std::string own, object_columns rows, result<std::vector<listed_upload>> uploads,
                   const call_limits& limits, completion done);

 private:
  DATAFLUX_INLINE void begin() override;
  DATAFLUX_INLINE result<removal_report> outcome() override;
  void read_manifest(std::int64_t generation);
  void take_manifest(result<std::string> text);
  void choose(const std::vector<member_record>& members);
  void choose_uploads(removal_plan& plan);

  const std::string last_;
  const std::string own_;
  const object_columns rows_;
  const result<std::vector<listed_upload>> uploads_;
  /// Of the set that was replaced, if there was one.
  std::optional<set_mark> mark_{};
  bool unread_{false};  ///< its manifest: so that stays, by which its members are known
};

/// All complete sets but the last ones.
class set_retention final : public set_removal {
 public:
  /// As keep_last_request says.
  set_retention(object_store& store, std::string bucket, std::string folder, std::size_t count,
                std::optional<duration> unfinished_older_than, const call_limits& limits,
                completion done);

 private:
  DATAFLUX_INLINE void begin() override;
  void choose(set_scan_report report);

  const std::size_t count_;
  const std::optional<duration> unfinished_older_than_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/set_removal.ipp>
#endif
