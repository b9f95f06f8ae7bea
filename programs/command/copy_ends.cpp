#include "copy_ends.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "local_path.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;
using dataflux::result;

namespace {

error usage(const std::string& text) { return error(errc::invalid_argument, text); }

/// Of a move: what gets one name twice would be lost.
result<void> check_apart(const std::vector<source>& sources) {
  std::set<std::string> names;
  for (const source& each : sources) {
    const std::string& whole = each.where.is_object() ? each.where.name : each.where.path;
    const bool apart = !each.many() && !whole.empty() && !whole.ends_with('/') &&
                       names.insert(last_component(whole)).second;
    if (apart) continue;
    return usage(
        "several sources of a move need last names that differ, and no patterns: one would take "
        "the place of the other; move them one by one");
  }
  return {};
}

/// Several names need a folder to go to.
bool takes_several(const location& target, bool recursive) {
  if (target.is_object()) return recursive || target.name.empty() || target.name.ends_with('/');
  if (target.where == location::kind::stream) return false;
  return target.path.ends_with('/') || kind_of(target.path) == path_kind::folder || recursive;
}

result<void> check_sources(const copy_ends& ends, const cp_options& options) {
  const location& target = ends.target;
  for (const source& each : ends.sources) {
    const location& where = each.where;
    if (!where.is_object() && !target.is_object()) {
      return usage(
          "neither side is gs://bucket/name (s3://, ais://); for files use the system's cp");
    }
    const bool stream = where.where == location::kind::stream;
    if (stream && ends.sources.size() > 1) return usage("'-' is read alone");
    if ((stream || target.where == location::kind::stream) && options.recursive) {
      return usage("-r needs a folder, and '-' is none");
    }
    if ((stream || target.where == location::kind::stream) && options.go_on) {
      return usage("--continue needs files, and '-' is none");
    }
    if (!options.recursive && !each.many() && where.is_object() && where.name.empty()) {
      return usage(where.to_string() + " is a bucket; `cp -r` copies all");
    }
  }
  return {};
}

result<void> check_ends(const copy_ends& ends, const cp_options& options) {
  if (ends.sources.empty()) return usage("give SOURCE and TARGET");
  if (auto good = check_sources(ends, options); !good) return good;
  const source& first = ends.sources.front();
  for (const source& each : ends.sources) {
    if (each.where.is_object() == first.where.is_object()) continue;
    return usage("sources are all in buckets, or all here");
  }
  const bool several = ends.sources.size() > 1 || first.many();
  if (options.delete_extra && (!options.recursive || several)) {
    return usage(several ? "what is extra can be told of one folder only"
                         : "--delete-extra is for folders; give -r");
  }
  if (options.syncs() && several) return usage("sync is of one folder");
  if (options.if_generation && (several || options.recursive || !ends.target.is_object())) {
    return usage("--if-generation-match is for one object that is written");
  }
  if (options.moves() && (first.where.where == location::kind::stream ||
                          ends.target.where == location::kind::stream)) {
    return usage("a move needs a name on both sides, and '-' is none");
  }
  if (options.select.narrows() && !options.recursive && !first.many()) {
    return usage(
        "--include, --exclude, --min-size and --newer-than are for folders and patterns; "
        "give -r");
  }
  const bool alone = ends.sources.size() == 1 && (options.recursive || !first.names.empty());
  if (several && !takes_several(ends.target, alone)) {
    return usage(ends.target.to_string() +
                 " would take several names: end it with '/', or name a folder");
  }
  return options.moves() && ends.sources.size() > 1 ? check_apart(ends.sources) : result<void>();
}

}  // namespace

result<copy_ends> parse_ends(const session& with, const cp_options& options) {
  copy_ends ends;
  std::vector<std::string> words = options.places;
  auto target = parse_location(words.back());
  if (!target) return target.error();
  ends.target = *std::move(target);
  words.pop_back();
  auto select = options.select;
  const bool names_below = !words.empty() && !select.lines.empty();
  if (names_below) select = {.no_glob = true};
  if (names_below && words.size() > 1) return usage("--files-from has names below one SOURCE");
  auto sources = parse_sources(with, words, select);
  if (!sources) return std::move(sources).error();
  ends.sources = *std::move(sources);
  if (names_below) {
    source& only = ends.sources.front();
    only.names = options.select.lines;
    if (only.where.is_object()) only.where.name = folder_prefix(only.where.name);
  }
  if (auto good = check_ends(ends, options); !good) return good.error();
  return ends;
}

}  // namespace cli
