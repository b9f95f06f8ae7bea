#pragma once

#include <dataflux/list/name_selection.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_columns.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "location.hpp"
#include "outcome.hpp"

namespace cli {

struct session;

/// Which names a verb takes, as all verbs spell it.
struct selecting_options {
  /// URLs and paths are names as they are.
  bool no_glob{false};
  /// A file, or "-", with a name on each line; or a manifest.
  std::string files_from{};
  std::vector<std::string> include{};
  std::vector<std::string> exclude{};
  /// As parse_size() reads it.
  std::string min_size{};
  /// An age as parse_age() reads it, a date or a time.
  std::string newer_than{};
  /// What `files_from` has, where it is no manifest: see read_list().
  std::vector<std::string> lines{};

  bool narrows() const {
    return !include.empty() || !exclude.empty() || !min_size.empty() || !newer_than.empty();
  }
};

/// Reads selecting_options::files_from into `lines`, unless it is a manifest. Errors: file_error();
/// invalid_argument where it has no line.
dataflux::result<void> read_list(selecting_options& options);

/// What the options narrow. Errors: invalid_argument, with the option's name.
dataflux::result<dataflux::name_selection> selection_of(const selecting_options& options);

/// One place of a command line: an object, a file, a folder, a bucket; or many names below one.
struct source {
  /// Of what is many: the folder that all its names lie in.
  location where{};
  /// Of names below `where`; empty = none.
  std::string pattern{};
  /// Names below `where`.
  std::vector<std::string> names{};
  /// The objects of a manifest.
  std::shared_ptr<const dataflux::object_columns> rows{};
  /// As it was written.
  std::string text{};

  /// It is not that place itself.
  bool many() const noexcept { return !pattern.empty() || !names.empty() || rows != nullptr; }
};

/// What the names of all its objects begin with; below it each has its own part.
std::string prefix_of(const source& from);

/// A pattern is one unless names are taken as they are, or a file here has that very name. Errors:
/// those of parse_location().
dataflux::result<source> parse_source(const std::string& text, bool no_glob);

/// All of `words`, and behind them those of selecting_options::files_from, which are no patterns.
/// Errors: those of parse_source(), of a manifest.
dataflux::result<std::vector<source>> parse_sources(const session& with,
                                                    const std::vector<std::string>& words,
                                                    const selecting_options& options);
/// The same, of buckets alone.
dataflux::result<std::vector<source>> parse_object_sources(const session& with,
                                                           const std::vector<std::string>& words,
                                                           const selecting_options& options);

/// What is selected of a place that is many: its names, or its pattern, and with `below` all that
/// lies in folders that match it.
dataflux::name_selection selection_in(const source& of, dataflux::name_selection narrowed,
                                      bool below);

/// Where nothing matches: what was looked for, and where.
dataflux::error nothing_matches(const source& of, const selecting_options& options);

/// The names of a place's list that nobody has met; each is a failure of its own.
class missing_names {
 public:
  /// `prefix`: in front of the names, in those that are met.
  missing_names(const source& of, std::string_view prefix);
  void met(std::string_view name);
  void report(outcome& to) const;

 private:
  const source& of_;
  const std::size_t prefix_;
  std::set<std::string, std::less<>> names_{};
};

/// Calls `take` with the place of each object that is meant: the place itself, or each one that
/// matches. Failures go to `report`, and nothing more is begun after a stop.
void for_each_named(const session& with, const std::vector<source>& sources,
                    const selecting_options& options, outcome& report,
                    const std::function<void(const location&)>& take);

/// The objects of a place that is many, or is a folder with all below it, in order of names, by one
/// listing from what their names begin with. Names that are missing are no error. Errors: those of
/// the listing; nothing_matches().
dataflux::result<dataflux::object_columns> find_objects(const session& with, const source& of,
                                                        const selecting_options& options,
                                                        bool below);

}  // namespace cli
