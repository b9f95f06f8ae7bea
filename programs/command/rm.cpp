#include <dataflux/transfer/remove_objects.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "location.hpp"
#include "selecting.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;
using dataflux::object_columns;

namespace {

constexpr std::size_t at_a_time = 128;

struct job_of_rm {
  dataflux::object_store& store;
  outcome& report;
  std::stop_token stop{};

  bool ended() const noexcept { return stop.stop_requested() || report.hopeless(); }
};

/// How many objects there were to be removed; nothing when that is not known.
std::optional<std::uint64_t> remove(job_of_rm& with, dataflux::remove_objects_request what) {
  what.parallel = at_a_time;
  what.limits.stop = with.stop;
  what.progress = [&with, bucket = what.bucket](const dataflux::removal_progress& at) {
    for (const dataflux::ended_removal& each : at.ended) {
      if (each.failure) {
        with.report.failed(*each.failure);
        continue;
      }
      with.report.done({.how = deed::removed,
                        .target = shown_url(with.store.traits().scheme, bucket, each.name),
                        .bytes = each.size});
    }
  };
  const auto removed = dataflux::remove_objects(with.store, std::move(what));
  if (removed) return removed->objects + removed->failed;
  with.report.failed(removed.error());
  return std::nullopt;
}

/// What a pattern or an option selects, with all below folders that match.
void remove_selected(job_of_rm& with, const session& in, const source& place,
                     const selecting_options& select) {
  auto rows = find_objects(in, place, select, true);
  if (!rows) return with.report.failed(rows.error());
  remove(with, {.bucket = place.where.bucket, .rows = *std::move(rows)});
}

void remove_below(job_of_rm& with, const location& where) {
  const auto seen = remove(with, {.bucket = where.bucket, .prefix = folder_prefix(where.name)});
  if (!seen) return;
  if (where.name.empty() || where.name.ends_with('/')) {
    if (*seen == 0 && !where.name.empty()) {
      with.report.failed(error(errc::not_found, "nothing is below it")
                             .with_scheme(where.scheme)
                             .with_bucket(where.bucket)
                             .with_object(where.name));
    }
    return;
  }
  // gs://b/x is a folder, an object, or both.
  const auto object = with.store.stat(
      {.bucket = where.bucket, .object = where.name, .limits = {.stop = with.stop}});
  if (!object) {
    if (*seen == 0 || object.error().code() != errc::not_found) with.report.failed(object.error());
    return;
  }
  object_columns rows;
  rows.append(object->name, object->size, object->generation, object->crc32c);
  remove(with, {.bucket = where.bucket, .rows = std::move(rows)});
}

/// By the generations that are there now, so that what somebody writes meanwhile stays. Those that
/// were asked for by their generation go for good; the others become noncurrent where the bucket
/// keeps versions, as usual.
void remove_each(job_of_rm& with, const session& in, const std::vector<source>& places,
                 const selecting_options& select) {
  std::map<std::pair<std::string, bool>, object_columns> found;  // by bucket, and whether for good
  for (const source& place : places) {
    if (with.ended()) return;
    const location& where = place.where;
    if (place.many()) {
      const auto rows = find_objects(in, place, select, false);
      if (!rows) {
        with.report.failed(rows.error());
        continue;
      }
      object_columns& all = found[{where.bucket, false}];
      for (const auto row : *rows) all.append(row.name, row.size, row.generation, row.crc32c);
      continue;
    }
    if (where.name.empty()) {
      with.report.failed(
          error(errc::invalid_argument,
                where.to_string() + " is a bucket; `rm -r` removes all its objects"));
      continue;
    }
    const auto object = find_object(with.store, where, with.stop, "`rm -r` removes all in it");
    if (!object) {
      with.report.failed(object.error());
      continue;
    }
    found[{where.bucket, object->name != where.name}].append(object->name, object->size,
                                                             object->generation, object->crc32c);
  }
  for (auto& [from, rows] : found) {
    remove(with, {.bucket = from.first, .rows = std::move(rows), .for_good = from.second});
  }
}

}  // namespace

exit_status run_rm(const session& with, const rm_options& options) {
  const auto places = parse_object_sources(with, options.urls, options.select);
  if (!places) {
    outcome refused(nullptr);
    refused.failed(places.error());
    return refused.status();  // nothing is removed by a command that is half wrong
  }
  std::optional<progress> bar;
  if (with.speaks != voice::quiet) bar.emplace("removing", 0);
  std::stop_source end;
  const std::stop_callback interrupted(with.stop, [&end] { end.request_stop(); });
  outcome report(bar ? &*bar : nullptr, &end, with.speaks);
  job_of_rm work{with.store, report, end.get_token()};
  if (!options.recursive) remove_each(work, with, *places, options.select);
  for (const source& place : *places) {
    if (!options.recursive || work.ended()) break;
    if (place.many() || options.select.narrows()) {
      remove_selected(work, with, place, options.select);
    } else {
      remove_below(work, place.where);
    }
  }
  report.tell_end(with.retries());
  return report.status();
}

}  // namespace cli
