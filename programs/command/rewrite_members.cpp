#include <dataflux/list/fast_list.hpp>
#include <dataflux/list/manifest.hpp>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string_view>
#include <system_error>
#include <utility>

#include <sys/wait.h>

#include "local_path.hpp"
#include "location.hpp"
#include "rewrite_inputs.hpp"

namespace cli {

namespace rewriting {

using dataflux::errc;
using dataflux::error;
using dataflux::member_place;
using dataflux::result;

namespace {

using members = std::vector<member_place>;

result<void> add_files(const std::string& folder, members& to) {
  std::error_code failure;
  using walk = std::filesystem::recursive_directory_iterator;
  for (walk each(folder, failure), end; !failure && each != end; each.increment(failure)) {
    std::error_code unknown;
    if (each->is_directory(unknown)) {
      if (!each->is_symlink(unknown)) continue;
      return file_error(each->path().native(), "it is a link to a folder: name the folder itself");
    }
    if (!each->is_regular_file(unknown)) {
      return file_error(each->path().native(), "it is no file that has bytes of its own");
    }
    to.push_back({.name = each->path().lexically_relative(folder).native(),
                  .from = {.name = each->path().native()}});
  }
  if (failure) return file_error(folder, failure.value());
  return {};
}

template <class Rows>
void add_rows(const std::string& bucket, const Rows& rows, std::size_t cut, members& to) {
  for (const auto row : rows) {
    to.push_back({.name = std::string(row.name.substr(std::min(cut, row.name.size()))),
                  .from = {bucket, std::string(row.name), row.size, row.generation, row.crc32c}});
  }
}

result<void> add_objects(const session& with, const location& from, members& to) {
  const std::string prefix = folder_prefix(from.name);
  const auto listed = dataflux::fast_list(
      with.store, {.bucket = from.bucket, .prefix = prefix, .limits = {.stop = with.stop}});
  if (!listed) return listed.error();
  add_rows(from.bucket, listed->objects, prefix.size(), to);
  return {};
}

/// What a shell command writes.
result<std::string> written_by(const std::string& command) {
  // The user's own command line: to be run by a shell is what it is for.
  std::FILE* const out = ::popen(command.c_str(), "re");  // NOLINT(cert-env33-c)
  if (out == nullptr) return file_error(command, errno);
  std::string all;
  std::array<char, 65536> some{};
  for (std::size_t got = 1; got > 0;) {
    got = std::fread(some.data(), 1, some.size(), out);
    all.append(some.data(), got);
  }
  const bool broken = std::ferror(out) != 0;
  const int status = ::pclose(out);
  if (!broken && WIFEXITED(status) && WEXITSTATUS(status) == 0) return all;
  return error(errc::aborted, "the command '" + command + "' failed");
}

struct listed {
  std::string_view name{};
  std::string_view source{};
};

/// "NAME SOURCE", split at the first white space; both empty for any other line.
listed split(std::string_view line) {
  const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
  const std::size_t begin = line.find_first_not_of(" \t", end);
  if (end == 0 || begin == std::string_view::npos) return {};
  return {line.substr(0, end), line.substr(begin)};
}

result<member_place> listed_member(std::string_view line, std::string_view scheme,
                                   bool allow_pipe) {
  const listed said = split(line);
  if (said.name.empty()) {
    return error(errc::invalid_argument, "write NAME SOURCE, not '" + std::string(line) + "'");
  }
  member_place made{.name = std::string(said.name)};
  std::string source(said.source);
  if (source.starts_with("text:")) {
    made.make = [text = source.substr(5)]() -> result<std::string> { return text; };
  } else if (source.starts_with("pipe:")) {
    if (!allow_pipe) {
      return error(errc::invalid_argument,
                   "'" + source + "' runs a shell, which only --allow-pipe permits");
    }
    made.make = [command = source.substr(5)] { return written_by(command); };
  } else if (!scheme_of(source).empty()) {
    const auto where = parse_object_location(source);
    if (!where) return where.error();
    if (where->scheme != scheme) {
      return error(errc::invalid_argument,
                   source + ": this command is of " + std::string(scheme) + "://");
    }
    made.from = {.bucket = where->bucket, .name = where->name};
  } else {
    made.from.name = source.starts_with("file:") ? source.substr(5) : source;
  }
  return made;
}

result<void> add_list(const std::string& path, std::string_view scheme, bool allow_pipe,
                      members& to) {
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  if (path != "-" && !file) return file_error(path, "it cannot be opened");
  std::istream& lines = path == "-" ? std::cin : file;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    auto member = listed_member(line, scheme, allow_pipe);
    if (!member) return error(member.error().code(), path + ": " + member.error().message());
    to.push_back(*std::move(member));
  }
  if (lines.bad()) return file_error(path, "it cannot be read");
  return {};
}

result<void> add_manifest(const session& with, const std::string& path, members& to) {
  const auto saved = dataflux::manifest::open(path);
  if (!saved) return saved.error();
  if (auto own = check_own(with.store, saved->description().scheme, "manifest"); !own) return own;
  const auto rows = saved->rows();
  if (!rows) return rows.error();
  add_rows(saved->description().bucket, *rows, 0, to);
  return {};
}

}  // namespace

}  // namespace rewriting

dataflux::result<std::vector<dataflux::member_place>> members_named(
    const session& with, const rewrite_options& options) {
  std::vector<dataflux::member_place> all;
  for (const std::string& each : options.inputs) {
    const auto from = parse_location(each);
    if (!from) return from.error();
    auto good = from->is_object() ? rewriting::add_objects(with, *from, all)
                                  : rewriting::add_files(each, all);
    if (!good) return std::move(good).error();
  }
  for (const std::string& each : options.manifests) {
    if (auto good = rewriting::add_manifest(with, each, all); !good) return std::move(good).error();
  }
  for (const std::string& each : options.lists) {
    if (auto good = rewriting::add_list(each, with.scheme(), options.allow_pipe, all); !good) {
      return std::move(good).error();
    }
  }
  return all;
}

std::string first_source_of(const std::string& list) {
  if (list == "-") return {};
  std::ifstream file(list, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    const std::string_view source = rewriting::split(line).source;
    if (!scheme_of(source).empty()) return std::string(source);
  }
  return {};
}

}  // namespace cli
