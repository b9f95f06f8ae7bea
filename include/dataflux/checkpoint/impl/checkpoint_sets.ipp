#pragma once

#include <dataflux/checkpoint/checkpoint_sets.hpp>
#include <dataflux/checkpoint/detail/latest_set.hpp>
#include <dataflux/checkpoint/detail/open_set.hpp>
#include <dataflux/checkpoint/detail/set_removal.hpp>
#include <dataflux/checkpoint/detail/set_scan.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline checkpoint_set_list list_of(set_scan_report report) {
  std::sort(report.sets.begin(), report.sets.end(), committed_before);
  checkpoint_set_list list;
  for (scanned_set& set : report.sets) {
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
    shown.uploads = set.uploads.size();
    shown.written = set.written;
    shown.age = age_of(set, report.served);
  }
  list.uploads_unknown = std::move(report.uploads_unknown);
  return list;
}

/// As folder_of(), but no prefix is the whole bucket.
inline result<std::string> folder_or_all(const std::string& prefix) {
  if (prefix.empty()) return prefix;
  return folder_of(prefix);
}

}  // namespace detail

DATAFLUX_INLINE void start_list_checkpoint_sets(
    object_store& store, const checkpoint_sets_request& request,
    object_store::completion<checkpoint_set_list> done) {
  auto folder = detail::folder_or_all(request.prefix);
  if (!folder) return done(std::move(folder).error());
  std::make_shared<detail::set_scan>(
      store, request.bucket, *std::move(folder), detail::scan_scope::all_below,
      detail::open_uploads::listed, member_match::content, request.limits,
      [done = std::move(done)](result<detail::set_scan_report> report) mutable {
        if (!report) return done(std::move(report).error());
        done(detail::list_of(*std::move(report)));
      })
      ->start();
}

DATAFLUX_INLINE void start_latest_checkpoint_set(
    const transfer_context& context, const checkpoint_sets_request& request,
    object_store::completion<checkpoint_set_reader> done) {
  auto folder = detail::folder_or_all(request.prefix);
  if (!folder) return done(std::move(folder).error());
  std::make_shared<detail::latest_set>(context, request.bucket, *std::move(folder), request.limits,
                                       std::move(done))
      ->start();
}

DATAFLUX_INLINE void start_keep_last_checkpoint_sets(
    object_store& store, const keep_last_request& request,
    object_store::completion<removal_report> done) {
  auto folder = detail::folder_of(request.prefix);
  if (!folder) return done(std::move(folder).error());
  if (request.count == 0) {
    return done(error{errc::invalid_argument,
                      "keep at least one set; to remove them all, remove their prefix"});
  }
  if (request.remove_unfinished_older_than.value_or(duration{0}) < duration{0}) {
    return done(error{errc::invalid_argument, "no set is younger than a negative age"});
  }
  std::make_shared<detail::set_retention>(store, request.bucket, *std::move(folder), request.count,
                                          request.remove_unfinished_older_than, request.limits,
                                          std::move(done))
      ->start();
}

DATAFLUX_INLINE void start_remove_checkpoint_set(object_store& store,
                                                 const checkpoint_sets_request& request,
                                                 object_store::completion<removal_report> done) {
  auto folder = detail::folder_of(request.prefix);
  if (!folder) return done(std::move(folder).error());
  std::make_shared<detail::folder_removal>(store, request.bucket, *std::move(folder),
                                           request.limits, std::move(done))
      ->start();
}

}  // namespace dataflux::inline DATAFLUX_ABI
