#include "selecting.hpp"

#include <dataflux/list/fast_list.hpp>
#include <dataflux/list/manifest.hpp>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>
#include <utility>

#include "age_text.hpp"
#include "commands.hpp"
#include "listing.hpp"
#include "local_path.hpp"
#include "outcome.hpp"
#include "size_text.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;
using dataflux::name_selection;
using dataflux::object_columns;
using dataflux::result;

namespace {

/// A name on each line; an empty one is none.
std::vector<std::string> lines_of(std::istream& in) {
  std::vector<std::string> out;
  std::string line;
  while (std::getline(in, line)) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) out.push_back(std::move(line));
  }
  return out;
}

bool is_manifest(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && dataflux::manifest::open(path);
}

result<std::optional<dataflux::timestamp>> parse_time(const std::string& text) {
  if (text.empty()) return std::optional<dataflux::timestamp>();
  if (const auto age = parse_age(text)) {
    return std::optional(dataflux::timestamp(std::chrono::system_clock::now()) - *age);
  }
  auto time = dataflux::parse_timestamp(text);
  if (!time) time = dataflux::parse_timestamp(text + "T00:00:00Z");
  if (time) return time;
  return error(errc::invalid_argument, "--newer-than " + text +
                                           ": write an age (30m, 12h, 7d), a date (2026-01-31) or "
                                           "a time (2026-01-31T12:00:00Z)");
}

result<source> source_of_manifest(const session& with, const std::string& text) {
  const auto place = parse_location(text);
  if (!place) return place.error();
  const auto of = place->is_object()
                      ? dataflux::load_manifest(with.store, {.bucket = place->bucket,
                                                             .object = place->name,
                                                             .limits = {.stop = with.stop}})
                      : dataflux::manifest::open(place->path);
  if (!of) return of.error();
  const auto& facts = of->description();
  if (auto own = check_own(with.store, facts.scheme, "manifest"); !own) return own.error();
  auto rows = of->rows();
  if (!rows) return std::move(rows).error();
  location where{.where = location::kind::object,
                 .scheme = with.scheme(),
                 .bucket = facts.bucket,
                 .name = facts.prefix.substr(0, facts.prefix.rfind('/') + 1)};
  return source{.where = std::move(where),
                .rows = std::make_shared<const object_columns>(*std::move(rows)),
                .text = text};
}

/// What no name below a source is like would select nothing, without a word.
result<void> check_patterns(const char* option, const std::vector<std::string>& patterns) {
  for (const std::string& each : patterns) {
    if (!each.starts_with('/') && !each.starts_with("./") && !each.ends_with('/')) continue;
    return error(errc::invalid_argument,
                 option + (" " + each) +
                     ": it is compared with names below the source, such as a/b; write a/** for "
                     "all below a folder");
  }
  return {};
}

}  // namespace

result<void> read_list(selecting_options& options) {
  const std::string& from = options.files_from;
  if (from.empty() || !scheme_of(from).empty() || is_manifest(from)) return {};
  if (from == "-") {
    options.lines = lines_of(std::cin);
  } else {
    std::ifstream in(from, std::ios::binary);
    if (!in || kind_of(from) == path_kind::folder) return file_error(from, errno);
    options.lines = lines_of(in);
    if (in.bad()) return file_error(from, errno);
  }
  if (!options.lines.empty()) return {};
  return error(errc::invalid_argument, "--files-from " + from + ": no name is in it");
}

result<name_selection> selection_of(const selecting_options& options) {
  if (auto good = check_patterns("--include", options.include); !good) return good.error();
  if (auto good = check_patterns("--exclude", options.exclude); !good) return good.error();
  name_selection out{.include = options.include, .exclude = options.exclude};
  if (!options.min_size.empty()) {
    const auto size = parse_size(options.min_size);
    if (!size) {
      return error(errc::invalid_argument,
                   "--min-size " + options.min_size + ": write bytes, 64K, 10M or 3G");
    }
    out.min_size = *size;
  }
  auto time = parse_time(options.newer_than);
  if (!time) return std::move(time).error();
  out.newer_than = *time;
  return out;
}

std::string prefix_of(const source& from) {
  return from.many() ? from.where.name : folder_prefix(from.where.name);
}

result<source> parse_source(const std::string& text, bool no_glob) {
  auto where = parse_location(text);
  if (!where) return std::move(where).error();
  source out{.where = *std::move(where), .text = text};
  const bool object = out.where.is_object();
  std::string& name = object ? out.where.name : out.where.path;
  const bool plain = no_glob || out.where.where == location::kind::stream ||
                     !dataflux::is_name_pattern(name) ||
                     (!object && kind_of(name) != path_kind::missing);
  if (plain) return out;
  const auto parts = dataflux::split_name_pattern(name);
  out.pattern = parts.below;
  if (out.pattern.ends_with('/')) out.pattern.pop_back();
  name = std::string(parts.folder);
  if (!object && name.empty()) name = ".";
  return out;
}

result<std::vector<source>> parse_sources(const session& with,
                                          const std::vector<std::string>& words,
                                          const selecting_options& options) {
  std::vector<source> out;
  const auto take = [&out](result<source> one) -> result<void> {
    if (!one) return std::move(one).error();
    out.push_back(*std::move(one));
    return {};
  };
  for (const std::string& word : words) {
    if (auto good = take(parse_source(word, options.no_glob)); !good) return good.error();
  }
  for (const std::string& line : options.lines) {
    if (auto good = take(parse_source(line, true)); !good) return good.error();
  }
  if (!options.files_from.empty() && options.lines.empty()) {
    if (auto good = take(source_of_manifest(with, options.files_from)); !good) return good.error();
  }
  return out;
}

result<std::vector<source>> parse_object_sources(const session& with,
                                                 const std::vector<std::string>& words,
                                                 const selecting_options& options) {
  auto all = parse_sources(with, words, options);
  if (!all) return all;
  if (all->empty()) {
    return error(errc::invalid_argument, "give gs://bucket/name (s3://, ais://) or --files-from");
  }
  for (const source& each : *all) {
    if (each.where.is_object()) continue;
    if (auto wrong = parse_object_location(each.text); !wrong) return wrong.error();
  }
  return all;
}

name_selection selection_in(const source& of, name_selection narrowed, bool below) {
  narrowed.names = of.names;
  if (of.pattern.empty()) return narrowed;
  narrowed.match = {of.pattern};
  if (below) narrowed.match.push_back(of.pattern + (of.pattern.ends_with('/') ? "**" : "/**"));
  return narrowed;
}

error nothing_matches(const source& of, const selecting_options& options) {
  const bool object = of.where.is_object();
  std::string text = !of.many() && !options.narrows() ? "nothing is below it"
                     : of.pattern.empty()             ? "nothing below it is selected"
                                          : "no " + std::string(object ? "object" : "file") +
                                                " below it has a name like " + of.pattern +
                                                (options.narrows() ? " and is selected" : "") +
                                                "; for one of that very name give --no-glob";
  if (!object) return std::move(file_error(of.where.path, text).with_code(errc::not_found));
  error out(errc::not_found, of.where.to_string() + ": " + text);
  out.with_scheme(of.where.scheme).with_bucket(of.where.bucket);
  return out;
}

result<object_columns> find_objects(const session& with, const source& of,
                                    const selecting_options& options, bool below) {
  const auto narrowed = selection_of(options);
  if (!narrowed) return narrowed.error();
  const auto selector = dataflux::name_selector::create(selection_in(of, *narrowed, below));
  if (!selector) return selector.error();
  const std::string folder = prefix_of(of);
  object_columns all;
  if (of.rows) {
    all = of.rows->slice(0, of.rows->size());
  } else {
    auto listed = dataflux::fast_list(with.store, request_of({.bucket = of.where.bucket,
                                                              .prefix = folder + selector->prefix(),
                                                              .times = selector->needs_times(),
                                                              .stop = with.stop}));
    if (!listed) return std::move(listed).error();
    all = std::move(listed->objects);
  }
  object_columns kept(all.kept());
  for (auto at = all.begin(); at != all.end(); ++at) {
    const auto row = *at;
    const auto name = row.name.substr(folder.size());
    if (selector->takes(name, row.size, at.extras().created)) kept.append(row, at.extras());
  }
  if (kept.empty() && of.names.empty()) return nothing_matches(of, options);
  return kept;
}

missing_names::missing_names(const source& of, std::string_view prefix)
    : of_(of), prefix_(prefix.size()) {
  for (const std::string& each : of.names) names_.insert(std::string(prefix) + each);
}

void missing_names::met(std::string_view name) {
  if (const auto at = names_.find(name); at != names_.end()) names_.erase(at);
}

void missing_names::report(outcome& to) const {
  for (const std::string& each : names_) {
    const std::string name = each.substr(prefix_);
    if (!of_.where.is_object()) {
      to.failed(file_error(below(of_.where.path, name), ENOENT));
      continue;
    }
    to.failed(error(errc::not_found, "the object does not exist")
                  .with_scheme(of_.where.scheme)
                  .with_bucket(of_.where.bucket)
                  .with_object(of_.where.name + name));
  }
}

void for_each_named(const session& with, const std::vector<source>& sources,
                    const selecting_options& options, outcome& report,
                    const std::function<void(const location&)>& take) {
  for (const source& each : sources) {
    if (with.stop.stop_requested()) return;
    if (!each.many()) {
      take(each.where);
      continue;
    }
    const auto found = find_objects(with, each, options, false);
    if (!found) {
      report.failed(found.error());
      continue;
    }
    location one = each.where;
    for (const auto row : *found) {
      if (with.stop.stop_requested()) return;
      one.name = row.name;
      take(one);
    }
  }
}

}  // namespace cli
