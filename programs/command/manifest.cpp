#include <dataflux/list/fast_list.hpp>
#include <dataflux/list/manifest.hpp>

#include <terminal/listing_progress.hpp>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <utility>

#include "commands.hpp"
#include "location.hpp"
#include "row_printer.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;
using dataflux::extra_columns;
using dataflux::manifest;
using dataflux::object_columns;
using dataflux::result;

namespace {

struct known_column {
  std::string_view name;
  extra_columns bit;
  /// Listings have it where store_traits::lists_metadata is false, too.
  bool everywhere;
};
constexpr known_column known_columns[]{{"md5", extra_columns::md5, false},
                                       {"created", extra_columns::created, true},
                                       {"updated", extra_columns::updated, true},
                                       {"content-type", extra_columns::content_type, false},
                                       {"storage-class", extra_columns::storage_class, true},
                                       {"metadata", extra_columns::metadata, false}};

result<extra_columns> parse_columns(const session& with, const std::vector<std::string>& names) {
  const bool all = with.store.traits().lists_metadata;
  auto columns = extra_columns::none;
  for (const auto& name : names) {
    const auto* const found = std::find_if(std::begin(known_columns), std::end(known_columns),
                                           [&](const known_column& c) { return c.name == name; });
    if (found != std::end(known_columns) && (all || found->everywhere)) {
      columns = columns | found->bit;
      continue;
    }
    const bool unlisted = found != std::end(known_columns);
    return error(errc::invalid_argument,
                 "--columns " + name + ": " +
                     (unlisted ? "a listing of " + std::string(with.scheme()) +
                                     ":// does not tell it, and `stat` does; "
                               : "") +
                     (all ? "write some of md5, created, updated, content-type, storage-class, "
                            "metadata"
                          : "write some of created, updated, storage-class"));
  }
  return columns;
}

/// Where a manifest is: a file or an object.
result<location> parse_place(const std::string& text) {
  auto where = parse_location(text);
  if (!where) return where;
  if (where->where == location::kind::stream || (where->is_object() && where->name.empty())) {
    return error(errc::invalid_argument,
                 text + ": give a file or gs://bucket/name for the manifest");
  }
  return where;
}

result<void> save(const session& with, const location& to,
                  const dataflux::manifest_description& description, const object_columns& rows) {
  if (!to.is_object()) {
    auto saved = dataflux::save_manifest(to.path, description, rows);
    return saved ? saved : file_error(saved.error());
  }
  auto saved = dataflux::save_manifest(
      with.store, {.bucket = to.bucket, .object = to.name, .limits = {.stop = with.stop}},
      description, rows);
  if (!saved) return std::move(saved).error();
  return {};
}

result<manifest> load(const session& with, const location& from) {
  if (!from.is_object()) return manifest::open(from.path);
  return dataflux::load_manifest(
      with.store, {.bucket = from.bucket, .object = from.name, .limits = {.stop = with.stop}});
}

/// What a listing has left out, such as "1 markers of folders"; empty where that is nothing.
std::string left_out(const dataflux::list_dropped& what) {
  std::string out;
  const auto add = [&out](std::uint64_t count, const char* of) {
    if (count == 0) return;
    out.append(out.empty() ? "" : " and ").append(std::to_string(count)).append(of);
  };
  add(what.markers, " markers of folders");
  add(what.composed, " leftovers of composed downloads");
  return out;
}

void print_count(const char* what, std::uint64_t count) {
  if (count > 0) std::printf("  %" PRIu64 " %s\n", count, what);
}

void print_summary(const dataflux::list_summary& of) {
  std::printf("%" PRIu64 " objects, %" PRIu64 " bytes\n", of.objects, of.bytes);
  print_count("markers of folders left out", of.dropped.markers);
  print_count("leftovers of composed downloads left out", of.dropped.composed);
}

result<void> create(const session& with, const manifest_options& options, outcome& report) {
  const auto from = parse_object_location(options.source);
  if (!from) return from.error();
  const auto to = parse_place(options.manifest);
  if (!to) return to.error();
  const auto columns = parse_columns(with, options.columns);
  if (!columns) return columns.error();
  dataflux::fast_list_request request{.bucket = from->bucket,
                                      .prefix = folder_prefix(from->name),
                                      .match_glob = options.glob,
                                      .versions = options.versions,
                                      .extra = *columns,
                                      .limits = {.stop = with.stop}};
  const auto now =
      std::chrono::time_point_cast<dataflux::timestamp::duration>(std::chrono::system_clock::now());
  const auto description = dataflux::describe_listing(request, now, with.scheme());
  if (!description) return description.error();
  const auto listed = [&] {
    listing_progress bar;
    auto shown = request;
    shown.observer = &bar;
    return dataflux::fast_list(with.store, shown);
  }();
  if (!listed) return listed.error();
  // As `ls` has it, a bucket may be empty, and what else was named is there or is not.
  const bool narrowed = !request.prefix.empty() || !request.match_glob.empty();
  if (narrowed && listed->objects.empty()) {
    const std::string& glob = request.match_glob;
    const std::string left = left_out(listed->summary.dropped);
    return error(errc::not_found,
                 (glob.empty() ? "nothing is below it" : "nothing there has a name like " + glob) +
                     (left.empty() ? "" : " but " + left + ", which a manifest leaves out") +
                     ", and no manifest was made")
        .with_scheme(from->scheme)
        .with_bucket(request.bucket)
        .with_object(request.prefix);
  }
  if (auto saved = save(with, *to, *description, listed->objects); !saved) return saved;
  print_summary(listed->summary);
  if (to->bucket == from->bucket && to->name.starts_with(request.prefix)) {
    report.note(to->to_string() + " lies in what it lists: it will be new to each refresh");
  }
  return {};
}

void print_changes(const manifest_options& options, std::string_view scheme,
                   const std::string& bucket, const object_columns& before,
                   const dataflux::refreshed_listing& now) {
  const auto& changes = now.changes;
  const auto line = [&](char sign, std::string_view name) {
    std::printf("%c %s\n", sign, shown_url(scheme, bucket, name).c_str());
  };
  if (options.details) {
    for (const auto i : changes.removed) line('-', before.name(i));
    for (const auto i : changes.added) line('+', now.now.objects.name(i));
    for (const auto& both : changes.changed) line('~', now.now.objects.name(both.after));
  }
  print_summary(now.now.summary);
  std::printf("%zu added, %zu removed, %zu changed, %zu unchanged\n", changes.added.size(),
              changes.removed.size(), changes.changed.size(), changes.unchanged);
}

result<void> refresh(const session& with, const manifest_options& options) {
  const auto where = parse_place(options.manifest);
  if (!where) return where.error();
  const auto before = load(with, *where);
  if (!before) return before.error();
  const auto& facts = before->description();
  if (auto own = check_own(with.store, facts.scheme, "manifest"); !own) return own;
  const auto rows = before->rows();
  if (!rows) return rows.error();
  const auto now = [&] {
    listing_progress bar;
    return dataflux::refresh_manifest(with.store, *before,
                                      {.observer = &bar, .limits = {.stop = with.stop}});
  }();
  if (!now) return now.error();
  if (!options.dry_run) {
    if (auto saved = save(with, *where, now->description, now->now.objects); !saved) return saved;
  }
  print_changes(options, facts.scheme, facts.bucket, *rows, *now);
  return {};
}

void print_description(const manifest& of) {
  const auto& facts = of.description();
  const auto fact = [](const char* what, const std::string& value) {
    if (!value.empty()) std::printf("  %-20s %s\n", what, value.c_str());
  };
  std::printf("%s\n", shown_url(facts.scheme, facts.bucket, facts.prefix).c_str());
  fact("objects", std::to_string(of.size()));
  fact("listed", dataflux::to_string(facts.taken));
  fact("from", facts.start_offset);
  fact("up to", facts.end_offset);
  fact("glob", facts.match_glob);
  if (facts.versions) fact("versions", "all");
  for (const auto& [name, value] : facts.options) fact(name.c_str(), value);
  fact("size of manifest", std::to_string(of.bytes()));
}

result<void> show(const session& with, const manifest_options& options) {
  const auto where = parse_place(options.manifest);
  if (!where) return where.error();
  const auto of = load(with, *where);
  if (!of) return of.error();
  if (!options.details && !options.json) {
    print_description(*of);
    return {};
  }
  const auto rows = of->rows();
  if (!rows) return rows.error();
  const auto& facts = of->description();
  row_printer out({.details = options.details, .json = options.json, .generations = facts.versions},
                  facts.scheme, facts.bucket);
  for (auto at = rows->begin(); at != rows->end() && !out.broken(); ++at) {
    out.object(*at, at.extras());
  }
  out.finish();
  return {};
}

}  // namespace

exit_status run_manifest(const session& with, const manifest_options& options) {
  outcome report(nullptr);
  const auto done = options.action == manifest_action::create    ? create(with, options, report)
                    : options.action == manifest_action::refresh ? refresh(with, options)
                                                                 : show(with, options);
  if (!done) report.failed(done.error());
  if (done && std::fflush(stdout) != 0) report.failed(file_error("output", "could not be written"));
  return report.status();
}

}  // namespace cli
