#pragma once

#include <dataflux/result.hpp>
#include <dataflux/shard/grouping_rules.hpp>
#include <dataflux/shard/shard_index.hpp>
#include <dataflux/shard/shard_rules.hpp>

#include <string>
#include <string_view>

#include "commands.hpp"

namespace cli::tar_shards {

/// A folder for files that are gone when the command ends.
class spool_folder {
 public:
  spool_folder() = default;
  spool_folder(const spool_folder&) = delete;
  spool_folder& operator=(const spool_folder&) = delete;
  ~spool_folder();

  /// Where its one file goes. Errors: those of the file system.
  dataflux::result<std::string> file();

 private:
  std::string folder_{};
  std::string file_{};
};

/// What is accepted of archives, from the options of a verb into its request.
template <class Options, class Request>
void set_rules(const Options& options, Request& to) {
  using dataflux::concatenated_rule, dataflux::trailing_rule, dataflux::damaged_rule;
  if (options.read_concatenated) to.reading.concatenated = concatenated_rule::read;
  if (options.ignore_trailing) to.reading.trailing = trailing_rule::ignore;
  if (options.end_at_damage) to.reading.damaged = damaged_rule::end;
  if (options.keep_first) to.grouping.repeated = dataflux::repeated_rule::keep_first;
  to.grouping.strip_dot_slash = options.strip_dot_slash;
}

/// An index that is a file, or an object, which is read into a file first.
dataflux::result<dataflux::shard_index> open_index(const session& with, const std::string& place);
/// Writes the file of an index to an object. Errors: also invalid_argument for a URL without a
/// name.
dataflux::result<void> send_index(const session& with, const std::string& path,
                                  const std::string& url);

/// An error of what lies in a shard: the command line was right.
dataflux::error of_data(dataflux::error why);
/// With the names of the command's options in place of the library's rules; `of` says of which
/// verb, where another one has them.
dataflux::error with_options_named(dataflux::error why, std::string_view of = {});

/// One line of what was counted, if it is not nothing.
void print_count(const char* what, std::uint64_t count);
void print_counts(const dataflux::shard_counts& of, const dataflux::grouping_counts& groups);
/// A line for each sample: its number, shard@offset, size, and field:size of each field.
dataflux::result<void> print_samples(const dataflux::shard_index& of);

dataflux::result<void> verify(const session& with, const shards_options& options);
dataflux::result<void> list(const session& with, const shards_options& options);

}  // namespace cli::tar_shards
