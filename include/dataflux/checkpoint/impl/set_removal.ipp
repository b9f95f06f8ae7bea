#pragma once

#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/detail/set_removal.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/detail/collecting_sink.hpp>
#include <dataflux/store/detail/unmet_condition.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

/// begin() of a derived class lists the folder or scans for sets, and its choose() makes plans. A
/// plan is a set, and has three steps: the last object, then the members, then the manifests.
/// carry_out() begins with the first step of the first plan.
///
/// drained() comes when all removals of a step have ended (detail/remover.hpp): it queues those of
/// the next step, or of the next plan. A removal that failed ends its plan, and what is left of it
/// is counted as spared. So a set is never there without its members. finish() follows the last
/// plan, and end() completes once. All of it is on the strand.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// Said of uploads that could not even be listed.
inline error uploads_stay(const error& why) {
  return error(why).with_message("what open uploads are left could not be listed: " +
                                 why.message());
}

DATAFLUX_INLINE set_removal::set_removal(object_store& store, std::string bucket,
                                         std::string folder, const call_limits& limits,
                                         completion done)
    : remover(store, std::move(bucket), limits),
      folder_(std::move(folder)),
      done_(std::move(done)) {}

DATAFLUX_INLINE void set_removal::carry_out(std::deque<removal_plan> plans) {
  plans_ = std::move(plans);
  go_on();
}

DATAFLUX_INLINE void set_removal::drained() {
  while (!plans_.empty()) {
    removal_plan& plan = plans_.front();
    end_step();
    if (step_ == plan.steps.size()) {
      plans_.pop_front();
      step_ = 0;
      step_failed_ = false;
      continue;
    }
    // By a condition: for good it would go where the bucket keeps versions, too.
    for (set_object& object : plan.steps[step_]) {
      add({.name = std::move(object.name),
           .generation = object.generation,
           .upload_id = std::move(object.upload_id),
           .size = object.size});
    }
    ++step_;
    if (queued() > 0) return go_on();
  }
  finish();
}

/// One that failed ends its plan: what an object vouches for stays as long as that does.
DATAFLUX_INLINE void set_removal::end_step() {
  removal_plan& plan = plans_.front();
  if (step_ == 1 && !step_failed_) {
    std::move(plan.sets.begin(), plan.sets.end(), std::back_inserter(report_.sets));
  }
  if (!step_failed_) return;
  for (; step_ < plan.steps.size(); ++step_) report_.spared += plan.steps[step_].size();
}

DATAFLUX_INLINE void set_removal::removed(const removal& what, const result<void>& outcome) {
  // Another one of that name is not the one that was to go. As a last object it may vouch for what
  // the next steps would take.
  const bool last = step_ == 1;
  if (outcome || (!last && is_unmet_condition(outcome.error()))) {
    ++(what.upload_id.empty() ? report_.objects : report_.uploads);
    report_.bytes += what.size;
  } else {
    report_.failures.push_back({what.name, outcome.error()});
    step_failed_ = true;
  }
}

DATAFLUX_INLINE void set_removal::end() {
  auto done = std::exchange(done_, {});
  done(outcome());
}

DATAFLUX_INLINE result<removal_report> set_removal::outcome() {
  if (failed()) return *failure_;
  return std::move(report_);
}

DATAFLUX_INLINE void folder_removal::begin() {
  auto listed = then<listed_rows>(this, [](folder_removal& self, result<listed_rows> found) {
    if (!found) return self.fail(std::move(found).error());
    self.rows_ = std::move(found->rows);
    self.list_uploads();
  });
  start_list_all(store(), strand(),
                 {.bucket = bucket(),
                  .prefix = folder(),
                  .extra = extra_columns::created | extra_columns::metadata,
                  .limits = limits()},
                 std::move(listed));
}

DATAFLUX_INLINE void folder_removal::list_uploads() {
  using listed = std::vector<listed_upload>;
  start_list_all(store(), strand(),
                 list_uploads_request{.bucket = bucket(), .prefix = folder(), .limits = limits()},
                 then<listed>(this, [](folder_removal& self, result<listed> found) {
                   if (found) {
                     self.uploads_ = *std::move(found);
                   } else {
                     self.report().failures.push_back({self.folder(), uploads_stay(found.error())});
                   }
                   self.choose();
                 }));
}

DATAFLUX_INLINE void folder_removal::choose() {
  const object_columns& rows = rows_;
  removal_plan plan;
  std::set<std::string, std::less<>> known;  // folders of committed sets, and of their members
  std::set<std::string_view> written;        // those for whose sets something was written
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    const object_row object = *row;
    const std::string_view metadata = row.extras().metadata;
    const std::string_view where = folder_part(object.name);
    const std::string_view base = object.name.substr(where.size());
    const auto mark = find_mark(metadata);
    const auto [set, manifest] = set_part_of(object.name, metadata);
    const bool last = mark || base == set_marker_name || base == ".metadata";
    const std::size_t step = last ? 0 : manifest ? 2 : 1;
    plan.steps[step].push_back({std::string(object.name), object.size, object.generation});
    // A member of a set around the folder does not take that along.
    if (set.starts_with(folder())) written.insert(set);
    if (!mark) continue;
    plan.sets.emplace_back(where);
    known.emplace(where);
    known.insert(std::string(where).append(folder_part(mark->manifest)));
  }
  for (listed_upload& upload : uploads_) {
    plan.steps[1].push_back({upload.object, 0, 0, std::move(upload.upload_id)});
    const std::string_view set = save_folder_of(upload.object);
    if (set.starts_with(folder())) written.insert(set);
  }
  for (const std::string_view set : written) {
    if (!known.contains(set)) plan.sets.emplace_back(set);
  }
  std::deque<removal_plan> plans;
  plans.push_back(std::move(plan));
  carry_out(std::move(plans));
}

DATAFLUX_INLINE replaced_removal::replaced_removal(object_store& store, std::string bucket,
                                                   std::string folder, std::string last,
                                                   std::string own, object_columns rows,
                                                   result<std::vector<listed_upload>> uploads,
                                                   const call_limits& limits, completion done)
    : set_removal(store, std::move(bucket), std::move(folder), limits, std::move(done)),
      last_(std::move(last)),
      own_(std::move(own)),
      rows_(std::move(rows)),
      uploads_(std::move(uploads)) {}

DATAFLUX_INLINE void replaced_removal::begin() {
  if (const auto last = rows_.find(folder() + last_)) {
    mark_ = find_mark(rows_.extras(*last).metadata);
  }
  if (!mark_) return choose({});
  const auto manifest = rows_.find(folder() + mark_->manifest);
  read_manifest(manifest ? rows_.generation(*manifest) : 0);
}

DATAFLUX_INLINE void replaced_removal::read_manifest(std::int64_t generation) {
  auto memory = std::make_shared<collecting_sink>(buffer_pool{0});
  memory->reset(longest_set_manifest, collecting_sink::excess::refuse);
  byte_sink& sink = *memory;
  const read_request request{.bucket = bucket(),
                             .object = folder() + mark_->manifest,
                             .generation = generation,
                             .limits = limits()};
  store().start(
      request, sink,
      then<read_summary>(this, [memory](replaced_removal& self, result<read_summary> outcome) {
        if (!outcome) return self.take_manifest(std::move(outcome).error());
        self.take_manifest(std::string(as_text(memory->bytes())));
      }));
}

DATAFLUX_INLINE void replaced_removal::take_manifest(result<std::string> text) {
  std::vector<member_record> members;
  std::optional<error> why;
  if (!text) {
    why = std::move(text).error();
  } else if (crc32c(as_bytes(*text)) != mark_->manifest_crc32c) {
    why.emplace(errc::data_loss, "the set's manifest is not the one that was committed");
  } else if (auto manifest = decode_set_manifest(*text); !manifest) {
    why = std::move(manifest).error();
  } else {
    members = std::move(manifest->members);
  }
  if (why) {
    report().failures.push_back({folder() + mark_->manifest, *std::move(why)});
    unread_ = true;
  }
  choose(members);
}

DATAFLUX_INLINE void replaced_removal::choose(const std::vector<member_record>& members) {
  removal_plan plan;
  if (mark_) plan.sets.push_back(folder());
  std::unordered_set<std::string_view> chosen;
  const std::string beside = mark_ ? folder() + std::string(folder_part(mark_->manifest)) : "";
  for (const member_record& member : members) {
    const auto place = rows_.find(beside + member.name);
    if (!place) continue;
    const object_row row = rows_[*place];
    const bool same = row.generation == member.generation ||
                      (row.size == member.size && row.crc32c == member.crc32c);
    if (!same) continue;
    chosen.insert(row.name);
    plan.steps[1].push_back({std::string(row.name), row.size, row.generation});
  }
  for (auto row = rows_.begin(); row != rows_.end(); ++row) {
    const object_row object = *row;
    const auto [where, manifest] = set_part_of(object.name, row.extras().metadata);
    if (where.empty() || where == own_ || set_folder(where) != folder()) continue;
    if (!manifest && chosen.contains(object.name)) continue;
    if (manifest && unread_ && object.name == folder() + mark_->manifest) continue;
    plan.steps[manifest ? 2 : 1].push_back(
        {std::string(object.name), object.size, object.generation});
  }
  choose_uploads(plan);
  std::deque<removal_plan> plans;
  plans.push_back(std::move(plan));
  carry_out(std::move(plans));
}

DATAFLUX_INLINE void replaced_removal::choose_uploads(removal_plan& plan) {
  if (!uploads_) {
    report().failures.push_back({folder(), uploads_stay(uploads_.error())});
    return;
  }
  for (const listed_upload& upload : *uploads_) {
    const std::string_view where = save_folder_of(upload.object);
    if (where.empty() || where == own_ || set_folder(where) != folder()) continue;
    plan.steps[1].push_back({upload.object, 0, 0, upload.upload_id});
  }
}

DATAFLUX_INLINE result<removal_report> replaced_removal::outcome() {
  if (failed()) report().failures.push_back({folder(), *failure_});
  return std::move(report());
}

DATAFLUX_INLINE set_retention::set_retention(object_store& store, std::string bucket,
                                             std::string folder, std::size_t count,
                                             std::optional<duration> unfinished_older_than,
                                             const call_limits& limits, completion done)
    : set_removal(store, std::move(bucket), std::move(folder), limits, std::move(done)),
      count_(count),
      unfinished_older_than_(unfinished_older_than) {}

DATAFLUX_INLINE void set_retention::begin() {
  auto chosen =
      then<set_scan_report>(this, [](set_retention& self, result<set_scan_report> report) {
        if (!report) return self.fail(std::move(report).error());
        self.choose(*std::move(report));
      });
  const auto uploads = unfinished_older_than_ ? open_uploads::listed : open_uploads::spared;
  std::make_shared<set_scan>(store(), bucket(), folder(), scan_scope::all_below, uploads,
                             member_match::content, limits(), std::move(chosen))
      ->start();
}

DATAFLUX_INLINE void set_retention::choose(set_scan_report report) {
  const auto begin = report.sets.begin();
  const auto complete = std::stable_partition(
      begin, report.sets.end(), [](const scanned_set& set) { return !set.damage.has_value(); });
  std::sort(begin, complete, committed_before);
  const auto there = static_cast<std::size_t>(complete - begin);
  const auto kept = begin + static_cast<std::ptrdiff_t>(there - std::min(there, count_));
  // Sets of one folder, or of one below another, may share members.
  std::unordered_set<std::string> needed;
  std::for_each(kept, report.sets.end(), [&needed](const scanned_set& set) {
    const std::string folder(set.members_folder());
    for (const member_record& member : set.members) needed.insert(folder + member.name);
  });
  if (report.uploads_unknown) {
    this->report().failures.push_back({folder(), uploads_stay(*report.uploads_unknown)});
  }
  std::deque<removal_plan> plans;
  for (auto set = begin; set != kept; ++set) {
    removal_plan& plan = plans.emplace_back();
    plan.sets.push_back(set->folder);
    plan.steps[0].push_back(set->last);
    const std::string folder(set->members_folder());
    for (const member_record& member : set->members) {
      std::string name = folder + member.name;
      if (needed.contains(name)) continue;
      plan.steps[1].push_back({std::move(name), member.size, member.generation});
    }
    plan.steps[2].push_back(set->manifest);
    for (const set_object& loose : report.loose_manifests) {
      if (folder_part(loose.name) == folder) plan.steps[2].push_back(loose);
    }
  }
  for (unfinished_objects& set : report.unfinished) {
    const auto age = age_of(set, report.served);
    if (!age || !unfinished_older_than_) continue;
    if (*age <= *unfinished_older_than_) continue;
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
  std::move(set.uploads.begin(), set.uploads.end(), std::back_inserter(plan.steps[1]));
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
      then<set_scan_report>(this, [](unfinished_removal& self, result<set_scan_report> report) {
        if (!report) return self.fail(std::move(report).error());
        self.choose(*std::move(report));
      });
  const bool replaces = what_ == unfinished_members::replace;
  std::make_shared<set_scan>(store(), bucket(), folder(), scan_scope::one_set,
                             replaces ? open_uploads::listed : open_uploads::spared,
                             member_match::content, limits(), std::move(chosen))
      ->start();
}

DATAFLUX_INLINE void unfinished_removal::choose(set_scan_report report) {
  if (!report.sets.empty()) {
    const std::string_view last = report.sets.front().last.name;
    return fail(committed_already(last.substr(folder().size()))
                    .with_bucket(bucket())
                    .with_object(folder()));
  }
  std::deque<removal_plan> plans;
  for (unfinished_objects& set : report.unfinished) {
    if (what_ == unfinished_members::refuse) {
      const auto age = age_of(set, report.served);
      const auto minutes = age ? std::chrono::duration_cast<std::chrono::minutes>(*age).count() : 0;
      const std::size_t count = set.members.size() + set.manifests.size();
      return fail(
          error(errc::already_exists,
                std::to_string(count) + " objects of a save that was not committed are there" +
                    (age ? ", the last of them written " + std::to_string(minutes) + " minutes ago"
                         : "") +
                    "; to begin with unfinished = replace removes them")
              .with_bucket(bucket())
              .with_object(folder()));
    }
    plans.push_back(plan_of(std::move(set)));
  }
  carry_out(std::move(plans));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
