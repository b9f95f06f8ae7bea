#include <dataflux/checkpoint/upload_file.hpp>
#include <dataflux/download/download_file.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/shard/shard_stream.hpp>
#include <dataflux/shard/verify_shards.hpp>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include "local_path.hpp"
#include "location.hpp"
#include "shards_verbs.hpp"

namespace cli::tar_shards {

using dataflux::errc;
using dataflux::error;
using dataflux::result;
using dataflux::shard_index;

spool_folder::~spool_folder() {
  if (folder_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);  // with what a call that failed has left there
}

result<std::string> spool_folder::file() {
  const char* const chosen = std::getenv("TMPDIR");
  folder_ = below(chosen != nullptr && *chosen != '\0' ? chosen : "/tmp", "dataflux-XXXXXX");
  if (::mkdtemp(folder_.data()) == nullptr) {
    return file_error(std::exchange(folder_, {}), errno);
  }
  return file_ = below(folder_, "index");
}

result<shard_index> open_index(const session& with, const std::string& place) {
  const auto where = parse_location(place);
  if (!where) return where.error();
  if (!where->is_object()) return shard_index::open(where->path);
  spool_folder spool;
  const auto path = spool.file();
  if (!path) return path.error();
  const auto got = dataflux::download_file(with.transfers, {.bucket = where->bucket,
                                                            .object = where->name,
                                                            .path = *path,
                                                            .flush = false,
                                                            .limits = {.stop = with.stop}});
  if (!got) return file_error(got.error());
  auto opened = shard_index::open(*path);  // which stays when the file has lost its name
  if (opened) return opened;
  error why = opened.error();
  return std::move(
      why.with_scheme(where->scheme).with_bucket(where->bucket).with_object(where->name));
}

result<void> send_index(const session& with, const std::string& path, const std::string& url) {
  const auto where = parse_object_location(url);
  if (!where) return where.error();
  if (where->name.empty()) {
    return error(errc::invalid_argument, url + ": give gs://bucket/name for the index");
  }
  dataflux::upload_file_request request;
  request.path = path;
  request.upload.bucket = where->bucket;
  request.upload.object = where->name;
  request.upload.limits.stop = with.stop;
  const auto sent = dataflux::upload_file(with.transfers, std::move(request));
  return sent ? result<void>{} : file_error(sent.error());
}

void print_count(const char* what, std::uint64_t count) {
  if (count > 0) std::printf("  %" PRIu64 " %s\n", count, what);
}

void print_counts(const dataflux::shard_counts& of, const dataflux::grouping_counts& groups) {
  print_count("archives behind the first one of a shard, read too", of.concatenated);
  print_count("shards with other bytes behind their end", of.trailing);
  print_count("damaged shards, read to the damage", of.damaged);
  print_count("shards without the two blocks of zeros at their end", of.missing_ends);
  print_count("bytes not read behind an end or damage", of.bytes_behind);
  print_count("hard links left out", of.hard_links);
  print_count("symbolic links left out", of.symlinks);
  print_count("directories left out", of.directories);
  print_count("devices left out", of.devices);
  print_count("members of other types left out", of.other);
  print_count("members with hidden names left out", groups.hidden);
  print_count("members without a field left out", groups.no_field);
  print_count("members whose field came twice left out", groups.repeated);
}

error of_data(error why) {
  // As the library tells what the file system has refused.
  if (why.bucket().empty() && why.message().starts_with("cannot ")) return file_error(why);
  const bool own = why.code() == errc::resource_exhausted && why.http_status() == 0;
  if (own || why.code() == errc::invalid_argument) why.with_code(errc::failed_precondition);
  return why;
}

error with_options_named(error why, std::string_view of) {
  constexpr std::pair<std::string_view, std::string_view> names[]{
      {"the rule damaged = end", "--end-at-damage"},
      {"the rule concatenated = read", "--read-concatenated"},
      {"the rule trailing = ignore", "--ignore-trailing"},
      {"the rule repeated = keep_first", "--keep-first"},
      {"by count (samples), bytes, or both", "by --count, --bytes, or both"},
      {" (most_bytes); allow more, or read its fields by ranges with an index", ""},
      {"allow all pairs, or index shards whose keys are unique", "a key may come once on a side"},
  };
  std::string text(why.message());
  for (const auto& [rule, option] : names) {
    const std::size_t at = text.find(rule);
    if (at == std::string::npos) continue;
    text.replace(at, rule.size(), option);
    if (option.starts_with("--")) text.insert(at + option.size(), of);
  }
  if (text != why.message()) why.with_message(std::move(text));
  return why;
}

result<void> print_samples(const shard_index& of) {
  const auto& facts = of.description();
  std::optional<dataflux::indexed_shard> shard;
  for (std::uint64_t i = 0; i < of.samples(); ++i) {
    const auto sample = of.sample(i);
    if (!sample) return sample.error();
    if (!shard || i >= shard->first_sample + shard->samples) {
      const auto next = of.shard(sample->shard);
      if (!next) return next.error();
      shard = *next;
    }
    std::printf("%" PRIu64 " %s@%" PRIu64 " %" PRIu64, i,
                shown_url(facts.scheme, facts.bucket, shard->object.name).c_str(), sample->offset,
                sample->size);
    for (std::size_t k = 0; k < sample->members; ++k) {
      const auto member = sample->member(k);
      std::printf(" %s:%" PRIu64, shown_name(member.field).c_str(), member.size);
    }
    std::printf("\n");
  }
  return {};
}

namespace {

const char* text_of(dataflux::shard_fault fault) {
  switch (fault) {
    case dataflux::shard_fault::changed:
      return "changed";
    case dataflux::shard_fault::deleted:
      return "deleted";
    case dataflux::shard_fault::damaged:
      return "damaged";
    default:
      return "other samples";
  }
}

}  // namespace

result<void> verify(const session& with, const shards_options& options) {
  const auto index = open_index(with, options.index);
  if (!index) return index.error();
  if (auto own = check_own(with.store, index->description().scheme, "index"); !own) return own;
  const bool is_object = parse_object_location(options.index).has_value();
  if (options.fill && is_object) {
    return error(errc::invalid_argument,
                 "--fill writes a file: copy the index here, and copy it back then");
  }
  const auto found = dataflux::verify_shards(with.transfers, *index,
                                             {.path = options.fill ? options.index : "",
                                              .return_wrong = true,
                                              .limits = {.stop = with.stop}});
  if (!found) return found.error();
  std::printf("%" PRIu64 " shards, %" PRIu64 " samples as they were indexed, %" PRIu64
              " bytes read\n",
              found->shards, found->samples, found->bytes_read);
  print_count("shards whose samples have got checksums", found->filled);
  for (const auto& each : found->wrong) {
    std::printf("  %s %s: %s\n", text_of(each.fault),
                shown_url(with.scheme(), index->description().bucket, each.name).c_str(),
                shown_name(each.why.message()).c_str());
  }
  print_count("more wrong shards", found->wrong_count - found->wrong.size());
  if (found->wrong_count == 0) return {};
  const dataflux::wrong_shard& first = found->wrong.front();
  error why{first.why.code(), std::to_string(found->wrong_count) + " of " +
                                  std::to_string(found->shards) +
                                  " shards are not what the index says; index them again, or "
                                  "write them again"};
  return std::move(why.with_scheme(with.scheme())
                       .with_bucket(index->description().bucket)
                       .with_object(first.name));
}

namespace {

/// Of samples, by field.
class field_table {
 public:
  void take(std::string_view field, std::uint64_t size) {
    auto at = fields_.find(field);
    if (at == fields_.end() && fields_.size() == most_fields) at = fields_.find(others);
    if (at == fields_.end()) {
      at = fields_.emplace(fields_.size() + 1 < most_fields ? field : others, sums{}).first;
    }
    ++at->second.members;
    at->second.bytes += size;
  }
  void print() const {
    for (const auto& [field, of] : fields_) {
      std::printf("  %-20s %" PRIu64 " members, %" PRIu64 " bytes\n", shown_name(field).c_str(),
                  of.members, of.bytes);
    }
  }

 private:
  static constexpr std::size_t most_fields = 1000;
  static constexpr std::string_view others = "(others)";
  struct sums {
    std::uint64_t members{0};
    std::uint64_t bytes{0};
  };
  std::map<std::string, sums, std::less<>> fields_{};
};

result<void> list_index(const shard_index& of, const shards_options& options) {
  const auto& facts = of.description();
  field_table table;
  for (std::uint64_t i = 0; i < of.shards(); ++i) {
    const auto shard = of.shard(i);
    if (!shard) return shard.error();
    const std::string url = shown_url(facts.scheme, facts.bucket, shard->object.name);
    std::uint64_t members = 0;
    for (std::uint64_t s = shard->first_sample; s < shard->first_sample + shard->samples; ++s) {
      const auto sample = of.sample(s);
      if (!sample) return sample.error();
      members += sample->members;
      for (std::size_t k = 0; k < sample->members; ++k) {
        const auto member = sample->member(k);
        table.take(member.field, member.size);
        if (!options.members) continue;
        std::printf("%" PRIu64 " %s@%" PRIu64 " %" PRIu64 " %s\n", s, url.c_str(), member.offset,
                    member.size, shown_name(member.field).c_str());
      }
    }
    if (options.members) continue;
    std::printf("%12" PRIu64 " samples %12" PRIu64 " members %14" PRIu64 " bytes  %s\n",
                shard->samples, members, shard->object.size, url.c_str());
  }
  if (!options.members) table.print();
  return {};
}

/// The bytes of a shard, piece by piece; an empty one at its end.
using piece_source = std::function<result<dataflux::bytes_view>()>;

result<piece_source> open_file(const std::string& path) {
  const std::shared_ptr<std::FILE> file(std::fopen(path.c_str(), "rb"),
                                        [](std::FILE* f) { f != nullptr ? std::fclose(f) : 0; });
  if (file == nullptr) return file_error(path, errno);
  const auto memory = std::make_shared<std::vector<std::byte>>(std::size_t{1} << 20U);
  return piece_source([file, memory, path]() -> result<dataflux::bytes_view> {
    const std::size_t count = std::fread(memory->data(), 1, memory->size(), file.get());
    if (count == 0 && std::ferror(file.get()) != 0) return file_error(path, errno);
    return dataflux::bytes_view(*memory).first(count);
  });
}

result<piece_source> open_object(const session& with, const location& where) {
  const auto object = find_object(with.store, where, with.stop);
  if (!object) return object.error();
  std::vector<dataflux::get_request> pieces;
  constexpr std::uint64_t piece = std::uint64_t{8} << 20U;
  for (std::uint64_t at = 0; at < object->size; at += piece) {
    pieces.push_back({.object = object->name,
                      .generation = object->generation,
                      .range = dataflux::byte_range::span(at, std::min(piece, object->size - at)),
                      .object_size = object->size});
  }
  const auto items = std::make_shared<dataflux::getter>(
      with.transfers,
      dataflux::get_many_request{.bucket = object->bucket, .limits = {.stop = with.stop}},
      std::move(pieces));
  const auto held = std::make_shared<std::optional<dataflux::got_item>>();
  return piece_source([items, held]() -> result<dataflux::bytes_view> {
    held->reset();
    auto next = items->next();
    if (!next) return next.error();
    if (!*next) return dataflux::bytes_view{};
    if ((*next)->failure) return *(*next)->failure;
    *held = *std::move(*next);
    return (*held)->bytes;
  });
}

struct tar_sums {
  std::uint64_t samples{0};
  std::uint64_t members{0};
  field_table fields{};
};

void print_sample(const dataflux::streamed_sample& sample, const shards_options& options,
                  tar_sums& sums) {
  ++sums.samples;
  const std::string key = shown_name(sample.key);
  if (options.details) std::printf("%s", key.c_str());
  for (const auto& field : sample.fields) {
    ++sums.members;
    sums.fields.take(field.name, field.size);
    const std::string name = shown_name(field.name);
    if (options.details) std::printf(" %s:%zu", name.c_str(), field.size);
    if (options.members) std::printf("%zu %s %s\n", field.size, key.c_str(), name.c_str());
  }
  if (options.details) std::printf("\n");
}

result<void> list_tar(const piece_source& pieces, const shards_options& options) {
  dataflux::shard_stream shard;
  tar_sums sums;
  for (bool more = true; more;) {
    const auto piece = pieces();
    if (!piece) return piece.error();
    more = !piece->empty();
    more ? shard.feed(*piece) : shard.finish();
    for (;;) {
      const auto sample = shard.next();
      if (!sample) return sample.error();
      if (*sample == nullptr) break;
      print_sample(**sample, options, sums);
    }
  }
  if (options.details || options.members) return {};
  std::printf("%" PRIu64 " samples, %" PRIu64 " members\n", sums.samples, sums.members);
  sums.fields.print();
  print_count("members in no sample", shard.counts().left_out() + shard.groups().left_out());
  return {};
}

bool is_tar(std::string_view name) {
  for (const std::string_view end : {".tar", ".tgz", ".tar.gz", ".tar.zst"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

}  // namespace

result<void> list(const session& with, const shards_options& options) {
  if (!is_tar(options.index)) {
    const auto index = open_index(with, options.index);
    if (!index) return index.error();
    return options.details ? print_samples(*index) : list_index(*index, options);
  }
  const auto where = parse_location(options.index);
  if (!where) return where.error();
  const auto pieces = where->is_object() ? open_object(with, *where) : open_file(where->path);
  if (!pieces) return pieces.error();
  auto listed = list_tar(*pieces, options);
  if (listed) return listed;
  error why = listed.error();
  if (where->is_object())
    return std::move(
        why.with_scheme(where->scheme).with_bucket(where->bucket).with_object(where->name));
  return std::move(why.with_message(options.index + ": " + why.message()));
}

}  // namespace cli::tar_shards
