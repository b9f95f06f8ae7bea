#pragma once

#include <dataflux/checkpoint/checkpoint_set_request.hpp>
#include <dataflux/checkpoint/detail/set_removal.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::size_t most_set_removals = 16;

DATAFLUX_INLINE set_removal::set_removal(object_store& store, std::string bucket,
                                         std::string folder, call_limits limits, completion done)
    : set_errand(store, std::move(bucket), std::move(limits)),
      folder_(std::move(folder)),
      done_(std::move(done)) {}

DATAFLUX_INLINE void set_removal::give_up(error why) { std::exchange(done_, {})(std::move(why)); }

DATAFLUX_INLINE void set_removal::carry_out(std::deque<removal_plan> plans) {
  plans_ = std::move(plans);
  pump();
}

DATAFLUX_INLINE void set_removal::pump() {
  while (!plans_.empty() && !failure_) {
    const auto& objects = plans_.front().steps[step_];
    while (next_ < objects.size() && in_flight_ < most_set_removals && !failure_) {
      remove(objects[next_++]);
    }
    if (in_flight_ > 0) return;
    if (!failure_) next_step();
  }
  if (in_flight_ > 0 || !done_) return;
  if (failure_) return give_up(std::move(*failure_));
  std::exchange(done_, {})(std::move(report_));
}

/// One that failed ends its plan: what an object vouches for stays as long as that does.
DATAFLUX_INLINE void set_removal::next_step() {
  removal_plan& plan = plans_.front();
  next_ = 0;
  if (step_ == 0 && !step_failed_) {
    std::move(plan.sets.begin(), plan.sets.end(), std::back_inserter(report_.sets));
  }
  ++step_;
  if (step_failed_) {
    for (; step_ < plan.steps.size(); ++step_) report_.spared += plan.steps[step_].size();
  }
  if (step_ < plan.steps.size()) return;
  plans_.pop_front();
  step_ = 0;
  step_failed_ = false;
}

DATAFLUX_INLINE void set_removal::remove(const set_object& object) {
  ++in_flight_;
  // By a condition: by `generation` it would go for good where the bucket keeps versions.
  store().start(remove_request{.bucket = bucket(),
                               .object = object.name,
                               .conditions = {.if_generation_match = object.generation},
                               .limits = limits()},
                then<void>(this, [object](set_removal& self, const result<void>& outcome) {
                  self.removed(object, outcome);
                }));
}

DATAFLUX_INLINE void set_removal::removed(const set_object& object, const result<void>& outcome) {
  --in_flight_;
  const auto is = [&outcome](errc code) { return outcome.error().code() == code; };
  // Another one of that name is not the one that was to go.
  if (outcome || is(errc::not_found) || is(errc::failed_precondition)) {
    ++report_.objects;
    report_.bytes += object.size;
  } else {
    const errc code = outcome.error().code();
    const bool over = code == errc::cancelled || code == errc::deadline_exceeded;
    if (over && !failure_) failure_ = outcome.error();
    report_.failures.push_back({object.name, outcome.error()});
    step_failed_ = true;
  }
  pump();
}

DATAFLUX_INLINE void folder_removal::begin() {
  list(folder(), [this](result<object_columns> rows) {
    if (!rows) return give_up(std::move(rows).error());
    removal_plan plan;
    for (auto row = rows->begin(); row != rows->end(); ++row) {
      const object_row object = *row;
      const std::size_t base_at = object.name.rfind('/') + 1;
      const std::string_view base = object.name.substr(base_at);
      const bool ours = find_mark(row.extras().metadata).has_value();
      const bool last = ours || base == set_marker_name || base == ".metadata";
      const std::size_t step = last ? 0 : is_manifest_name(base) ? 2 : 1;
      plan.steps[step].push_back({std::string(object.name), object.size, object.generation});
      if (ours) plan.sets.emplace_back(object.name.substr(0, base_at));
    }
    std::deque<removal_plan> plans;
    plans.push_back(std::move(plan));
    carry_out(std::move(plans));
  });
}

DATAFLUX_INLINE set_retention::set_retention(object_store& store, std::string bucket,
                                             std::string folder, std::size_t count,
                                             const keep_last_options& options,
                                             const call_limits& limits, completion done)
    : set_removal(store, std::move(bucket), std::move(folder), limits, std::move(done)),
      count_(count),
      options_(options) {}

DATAFLUX_INLINE void set_retention::begin() {
  auto chosen =
      then<set_survey_report>(this, [](set_retention& self, result<set_survey_report> report) {
        if (!report) return self.give_up(std::move(report).error());
        self.choose(*std::move(report));
      });
  std::make_shared<set_survey>(store(), bucket(), folder(), survey_scope::all_below,
                               member_match::content, limits(), std::move(chosen))
      ->start();
}

DATAFLUX_INLINE void set_retention::choose(set_survey_report report) {
  const auto begin = report.sets.begin();
  const auto complete = std::stable_partition(
      begin, report.sets.end(), [](const surveyed_set& set) { return !set.damage.has_value(); });
  std::sort(begin, complete, committed_before);
  const auto there = static_cast<std::size_t>(complete - begin);
  const auto kept = begin + static_cast<std::ptrdiff_t>(there - std::min(there, count_));
  // Sets of one folder, or of one below another, may share members.
  std::unordered_set<std::string> needed;
  std::for_each(kept, report.sets.end(), [&needed](const surveyed_set& set) {
    for (const member_record& member : set.members) needed.insert(set.folder + member.name);
  });
  std::deque<removal_plan> plans;
  for (auto set = begin; set != kept; ++set) {
    removal_plan& plan = plans.emplace_back();
    plan.sets.push_back(set->folder);
    plan.steps[0].push_back(set->last);
    for (const member_record& member : set->members) {
      std::string name = set->folder + member.name;
      if (needed.contains(name)) continue;
      plan.steps[1].push_back({std::move(name), member.size, member.generation});
    }
    plan.steps[2].push_back(set->manifest);
    for (const set_object& loose : report.loose_manifests) {
      if (folder_part(loose.name) == set->folder) plan.steps[2].push_back(loose);
    }
  }
  for (unfinished_objects& set : report.unfinished) {
    const auto age = age_of(set, report.served);
    if (!age || !options_.remove_unfinished_older_than) continue;
    if (*age <= *options_.remove_unfinished_older_than) continue;
    std::erase_if(set.members,
                  [&needed](const set_object& member) { return needed.contains(member.name); });
    plans.push_back(plan_of(std::move(set)));
  }
  carry_out(std::move(plans));
}

DATAFLUX_INLINE removal_plan plan_of(unfinished_objects set) {
  removal_plan plan;
  plan.sets.push_back(std::move(set.folder));
  plan.steps[1] = std::move(set.members);
  plan.steps[2] = std::move(set.manifests);
  return plan;
}

DATAFLUX_INLINE unfinished_removal::unfinished_removal(object_store& store, std::string bucket,
                                                       std::string folder, unfinished_members what,
                                                       const call_limits& limits, completion done)
    : set_removal(store, std::move(bucket), std::move(folder), limits, std::move(done)),
      what_(what) {}

DATAFLUX_INLINE void unfinished_removal::begin() {
  auto chosen =
      then<set_survey_report>(this, [](unfinished_removal& self, result<set_survey_report> report) {
        if (!report) return self.give_up(std::move(report).error());
        self.choose(*std::move(report));
      });
  std::make_shared<set_survey>(store(), bucket(), folder(), survey_scope::one_set,
                               member_match::content, limits(), std::move(chosen))
      ->start();
}

DATAFLUX_INLINE void unfinished_removal::choose(set_survey_report report) {
  if (!report.sets.empty()) {
    const std::string_view last = report.sets.front().last.name;
    return give_up(committed_already(last.substr(folder().size()))
                       .with_bucket(bucket())
                       .with_object(folder()));
  }
  std::deque<removal_plan> plans;
  for (unfinished_objects& set : report.unfinished) {
    if (what_ == unfinished_members::refuse) {
      const auto age = age_of(set, report.served);
      const auto minutes = age ? std::chrono::duration_cast<std::chrono::minutes>(*age).count() : 0;
      const std::size_t count = set.members.size() + set.manifests.size();
      return give_up(
          error(errc::already_exists,
                std::to_string(count) + " objects of a save that was not committed are there" +
                    (age ? ", the last of them written " + std::to_string(minutes) + " minutes ago"
                         : "") +
                    "; begin with unfinished_members::replace removes them")
              .with_bucket(bucket())
              .with_object(folder()));
    }
    plans.push_back(plan_of(std::move(set)));
  }
  carry_out(std::move(plans));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
