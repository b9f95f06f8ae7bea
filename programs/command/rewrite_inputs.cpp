#include "rewrite_inputs.hpp"

#include <dataflux/list/fast_list.hpp>
#include <dataflux/shard/index_shards.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "local_path.hpp"
#include "location.hpp"
#include "shards_verbs.hpp"

namespace cli {

namespace rewriting {

using dataflux::byte_place;
using dataflux::errc;
using dataflux::error;
using dataflux::result;

namespace {

bool is_archive(std::string_view name) {
  return name.ends_with(".tar") || name.ends_with(".tar.gz") || name.ends_with(".tgz") ||
         name.ends_with(".tar.zst");
}

result<void> add_folder(const std::string& folder, std::vector<byte_place>& to) {
  std::error_code failure;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator each(folder, failure), end; !failure && each != end;
       each.increment(failure)) {
    if (is_archive(each->path().native())) names.push_back(each->path().native());
  }
  if (failure) return file_error(folder, failure.value());
  if (names.empty()) return error(errc::not_found, "'" + folder + "' has no .tar in it");
  std::sort(names.begin(), names.end());
  for (std::string& name : names) to.push_back({.name = std::move(name)});
  return {};
}

result<void> add_below(const session& with, const location& from, std::vector<byte_place>& to) {
  dataflux::fast_list_request request{
      .bucket = from.bucket, .prefix = folder_prefix(from.name), .limits = {.stop = with.stop}};
  request.filter.suffix = ".tar";
  const auto listed = dataflux::fast_list(with.store, request);
  if (!listed) return listed.error();
  for (const auto row : listed->objects) {
    to.push_back({from.bucket, std::string(row.name), row.size, row.generation, row.crc32c});
  }
  if (!listed->objects.empty()) return {};
  return error(errc::not_found, "no object below it ends with .tar")
      .with_scheme(with.scheme())
      .with_bucket(request.bucket)
      .with_object(request.prefix);
}

result<void> add_named(const session& with, const std::string& name, std::vector<byte_place>& to) {
  const auto from = parse_location(name);
  if (!from) return from.error();
  if (from->where == location::kind::stream) {
    to.push_back({.name = "-"});
    return {};
  }
  if (!from->is_object()) {
    if (kind_of(name) == path_kind::folder) return add_folder(name, to);
    to.push_back({.name = name});
    return {};
  }
  if (!is_archive(from->name)) return add_below(with, *from, to);
  const auto object = find_object(with.store, *from, with.stop);
  if (!object) return object.error();
  to.push_back({object->bucket, object->name, object->size, object->generation, object->crc32c});
  return {};
}

/// A file of a name that nobody else has, which goes in the end.
class passing_file {
 public:
  passing_file() = default;
  passing_file(const passing_file&) = delete;
  passing_file& operator=(const passing_file&) = delete;
  ~passing_file() {
    if (folder_.empty()) return;
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);  // with what a call that failed has left there
  }
  result<void> create() {
    const char* const chosen = std::getenv("TMPDIR");
    folder_ = below(chosen != nullptr && *chosen != '\0' ? chosen : "/tmp", "dataflux-XXXXXX");
    if (::mkdtemp(folder_.data()) != nullptr) return {};
    const error why = file_error(folder_, errno);
    folder_.clear();
    return why;
  }
  std::string path() const { return below(folder_, "index"); }

 private:
  std::string folder_{};
};

/// What was left out when they were indexed.
result<void> add_counts(const dataflux::shard_index& index, dataflux::left_out_counts& to) {
  for (std::uint64_t i = 0; i < index.shards(); ++i) {
    const auto shard = index.shard(i);
    if (!shard) return shard.error();
    to.shards += shard->counts;
    to.groups += shard->groups;
  }
  return {};
}

result<dataflux::sample_table> index_of(const session& with, const std::vector<byte_place>& shards,
                                        const dataflux::rewrite_rules& rules) {
  dataflux::object_columns rows;
  for (const byte_place& each : shards) {
    if (each.bucket != shards.front().bucket) {
      return error(errc::invalid_argument,
                   "the shards are in several places; copy them into one bucket, or here");
    }
    rows.append(each.name, each.size, each.generation, each.crc32c);
  }
  passing_file file;
  if (auto good = file.create(); !good) return std::move(good).error();
  // Everything is read by and by: so every sample gets its checksum.
  const auto made = dataflux::index_shards(with.transfers, {.bucket = shards.front().bucket,
                                                            .shards = std::move(rows),
                                                            .path = file.path(),
                                                            .reading = rules.reading,
                                                            .grouping = rules.grouping,
                                                            .skip_from = UINT64_MAX,
                                                            .limits = {.stop = with.stop}});
  if (!made) return tar_shards::of_data(made.error());
  rules.left_out->shards += made->counts;
  rules.left_out->groups += made->groups;
  if (rules.left_out->first.empty()) rules.left_out->first = made->first_left_out;
  auto index = dataflux::shard_index::open(file.path());
  if (!index) return std::move(index).error();
  return dataflux::sample_table(with.transfers, *std::move(index));
}

}  // namespace

}  // namespace rewriting

dataflux::result<std::vector<dataflux::byte_place>> shards_named(
    const session& with, const std::vector<std::string>& names) {
  std::vector<dataflux::byte_place> all;
  for (const std::string& each : names) {
    if (auto good = rewriting::add_named(with, each, all); !good) return std::move(good).error();
  }
  return all;
}

dataflux::result<dataflux::sample_table> table_of(const session& with,
                                                  const std::vector<std::string>& names,
                                                  const dataflux::rewrite_rules& rules) {
  if (names.size() == 1 && names.front().ends_with(".dfx")) {
    auto index = dataflux::shard_index::open(names.front());
    if (!index) return std::move(index).error();
    if (auto good = rewriting::add_counts(*index, *rules.left_out); !good) {
      return std::move(good).error();
    }
    return dataflux::sample_table(with.transfers, *std::move(index));
  }
  const auto shards = shards_named(with, names);
  if (!shards) return shards.error();
  const auto in_bucket = std::count_if(shards->begin(), shards->end(),
                                       [](const auto& each) { return !each.bucket.empty(); });
  if (in_bucket > 0) return rewriting::index_of(with, *shards, rules);
  std::vector<std::string> paths;
  for (const auto& each : *shards) paths.push_back(each.name);
  auto table = dataflux::sample_table::of_files(with.transfers, paths, rules);
  if (!table) return tar_shards::of_data(table.error());
  return table;
}

}  // namespace cli
