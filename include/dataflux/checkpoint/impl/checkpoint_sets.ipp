#pragma once

#include <dataflux/checkpoint/checkpoint_sets.hpp>
#include <dataflux/checkpoint/detail/open_set.hpp>
#include <dataflux/checkpoint/detail/set_removal.hpp>
#include <dataflux/checkpoint/detail/set_survey.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline checkpoint_set_list list_of(set_survey_report report) {
  std::sort(report.sets.begin(), report.sets.end(), committed_before);
  checkpoint_set_list list;
  for (surveyed_set& set : report.sets) {
    if (set.damage) {
      list.damaged.push_back({info_of(set), *std::move(set.damage)});
    } else {
      list.complete.push_back(info_of(set));
    }
  }
  for (const set_object& manifest : report.loose_manifests) {
    const std::string_view folder = folder_part(manifest.name);
    const bool known = std::any_of(report.sets.begin(), report.sets.end(),
                                   [&](const surveyed_set& set) { return set.folder == folder; });
    const bool again = !list.unfinished.empty() && list.unfinished.back() == folder;
    if (!known && !again) list.unfinished.emplace_back(folder);
  }
  return list;
}

}  // namespace detail

DATAFLUX_INLINE void start_list_checkpoint_sets(
    object_store& store, const std::string& bucket, const std::string& prefix,
    const call_limits& limits, object_store::completion<checkpoint_set_list> done) {
  std::string folder;
  if (!prefix.empty()) {
    auto named = detail::folder_of(prefix);
    if (!named) return done(std::move(named).error());
    folder = *std::move(named);
  }
  std::make_shared<detail::set_survey>(
      store, bucket, std::move(folder), detail::survey_scope::all_below, member_match::content,
      limits,
      [done = std::move(done)](result<detail::set_survey_report> report) mutable {
        if (!report) return done(std::move(report).error());
        done(detail::list_of(*std::move(report)));
      })
      ->start();
}

DATAFLUX_INLINE operation<checkpoint_set_list> submit_list_checkpoint_sets(
    object_store& store, const std::string& bucket, const std::string& prefix, call_limits limits) {
  return start_operation<checkpoint_set_list>(limits, [&](auto done) {
    start_list_checkpoint_sets(store, bucket, prefix, limits, std::move(done));
  });
}

DATAFLUX_INLINE result<checkpoint_set_list> list_checkpoint_sets(object_store& store,
                                                                 const std::string& bucket,
                                                                 const std::string& prefix,
                                                                 call_limits limits) {
  return submit_list_checkpoint_sets(store, bucket, prefix, std::move(limits)).take();
}

DATAFLUX_INLINE void start_keep_last_checkpoint_sets(
    object_store& store, const std::string& bucket, const std::string& prefix, std::size_t count,
    const call_limits& limits, object_store::completion<removal_report> done) {
  auto folder = detail::folder_of(prefix);
  if (!folder) return done(std::move(folder).error());
  if (count == 0) {
    return done(error{errc::invalid_argument,
                      "keep at least one set; to remove them all, remove their prefix"});
  }
  std::make_shared<detail::set_retention>(store, bucket, *std::move(folder), count, limits,
                                          std::move(done))
      ->start();
}

DATAFLUX_INLINE operation<removal_report> submit_keep_last_checkpoint_sets(
    object_store& store, const std::string& bucket, const std::string& prefix, std::size_t count,
    call_limits limits) {
  return start_operation<removal_report>(limits, [&](auto done) {
    start_keep_last_checkpoint_sets(store, bucket, prefix, count, limits, std::move(done));
  });
}

DATAFLUX_INLINE result<removal_report> keep_last_checkpoint_sets(object_store& store,
                                                                 const std::string& bucket,
                                                                 const std::string& prefix,
                                                                 std::size_t count,
                                                                 call_limits limits) {
  return submit_keep_last_checkpoint_sets(store, bucket, prefix, count, std::move(limits)).take();
}

DATAFLUX_INLINE void start_remove_checkpoint_set(object_store& store, const std::string& bucket,
                                                 const std::string& prefix,
                                                 const call_limits& limits,
                                                 object_store::completion<removal_report> done) {
  auto folder = detail::folder_of(prefix);
  if (!folder) return done(std::move(folder).error());
  std::make_shared<detail::folder_removal>(store, bucket, *std::move(folder), limits,
                                           std::move(done))
      ->start();
}

DATAFLUX_INLINE operation<removal_report> submit_remove_checkpoint_set(object_store& store,
                                                                       const std::string& bucket,
                                                                       const std::string& prefix,
                                                                       call_limits limits) {
  return start_operation<removal_report>(limits, [&](auto done) {
    start_remove_checkpoint_set(store, bucket, prefix, limits, std::move(done));
  });
}

DATAFLUX_INLINE result<removal_report> remove_checkpoint_set(object_store& store,
                                                             const std::string& bucket,
                                                             const std::string& prefix,
                                                             call_limits limits) {
  return submit_remove_checkpoint_set(store, bucket, prefix, std::move(limits)).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI
