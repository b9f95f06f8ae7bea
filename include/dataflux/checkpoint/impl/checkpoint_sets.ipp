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
  for (const unfinished_objects& set : report.unfinished) {
    unfinished_checkpoint_set& shown = list.unfinished.emplace_back();
    shown.prefix = set.folder;
    for (const auto* objects : {&set.members, &set.manifests}) {
      shown.objects += objects->size();
      for (const set_object& object : *objects) shown.bytes += object.size;
    }
    shown.written = set.written;
    shown.age = age_of(set, report.served);
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

DATAFLUX_INLINE void start_keep_last_checkpoint_sets(object_store& store, const std::string& bucket,
                                                     const std::string& prefix, std::size_t count,
                                                     const call_limits& limits,
                                                     object_store::completion<removal_report> done,
                                                     const keep_last_options& options) {
  auto folder = detail::folder_of(prefix);
  if (!folder) return done(std::move(folder).error());
  if (count == 0) {
    return done(error{errc::invalid_argument,
                      "keep at least one set; to remove them all, remove their prefix"});
  }
  if (options.remove_unfinished_older_than.value_or(duration{0}) < duration{0}) {
    return done(error{errc::invalid_argument, "no set is younger than a negative age"});
  }
  std::make_shared<detail::set_retention>(store, bucket, *std::move(folder), count, options, limits,
                                          std::move(done))
      ->start();
}

DATAFLUX_INLINE operation<removal_report> submit_keep_last_checkpoint_sets(
    object_store& store, const std::string& bucket, const std::string& prefix, std::size_t count,
    call_limits limits, const keep_last_options& options) {
  return start_operation<removal_report>(limits, [&](auto done) {
    start_keep_last_checkpoint_sets(store, bucket, prefix, count, limits, std::move(done), options);
  });
}

DATAFLUX_INLINE result<removal_report> keep_last_checkpoint_sets(
    object_store& store, const std::string& bucket, const std::string& prefix, std::size_t count,
    call_limits limits, const keep_last_options& options) {
  return submit_keep_last_checkpoint_sets(store, bucket, prefix, count, std::move(limits), options)
      .take();
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
