#include <dataflux/list/fast_list.hpp>
#include <dataflux/shard/foreign_index.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/shard/sample_reads.hpp>
#include <dataflux/shard/shard_index.hpp>

#include <terminal/listing_progress.hpp>

#include <cinttypes>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "location.hpp"
#include "row_printer.hpp"
#include "shards_verbs.hpp"

namespace cli {

/// By themselves: all sources of the command are one unit.
namespace tar_shards {

using dataflux::errc;
using dataflux::error;
using dataflux::result;
using dataflux::shard_index;

namespace {

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

void print_summary(const dataflux::index_shards_summary& of) {
  std::printf("%" PRIu64 " shards, %" PRIu64 " samples, %" PRIu64 " members, %" PRIu64
              " bytes, %" PRIu64 " of them read\n",
              of.shards, of.samples, of.members, of.bytes, of.bytes_read);
  print_count("shards not read again", of.taken_over);
  print_count("shards whose samples have checksums", of.checksummed);
  print_count("shards with large members that were not read: no checksums",
              of.shards - of.checksummed);
  print_counts(of.counts, of.groups);
}

result<dataflux::object_columns> shards_of(const session& with, const shards_options& options,
                                           const location& from) {
  dataflux::fast_list_request request{.bucket = from.bucket,
                                      .prefix = folder_prefix(from.name),
                                      .match_glob = options.glob,
                                      .limits = {.stop = with.stop}};
  // And what a writer has put beside them.
  if (options.glob.empty()) request.filter.regex = R"(\.tar(\.dfx)?$)";
  auto listed = [&] {
    listing_progress bar;
    dataflux::fast_list_request shown = request;
    shown.observer = &bar;
    return dataflux::fast_list(with.store, shown);
  }();
  if (!listed) return std::move(listed).error();
  if (listed->objects.empty()) {
    return error(errc::not_found, options.glob.empty()
                                      ? "no object below it ends with .tar; --glob takes others"
                                      : "nothing there has a name like " + options.glob)
        .with_scheme(with.scheme())
        .with_bucket(request.bucket)
        .with_object(request.prefix);
  }
  return std::move(listed->objects);
}

result<void> make_index(const session& with, const shards_options& options) {
  const auto from = parse_object_location(options.source);
  if (!from) return from.error();
  const bool to_object = parse_object_location(options.index).has_value();
  spool_folder spool;
  const auto path = to_object ? spool.file() : result<std::string>(options.index);
  if (!path) return path.error();
  auto shards = shards_of(with, options, *from);
  if (!shards) return std::move(shards).error();
  dataflux::index_shards_request request{.bucket = from->bucket,
                                         .shards = *std::move(shards),
                                         .path = *path,
                                         .skip_from = options.skip_from,
                                         .limits = {.stop = with.stop}};
  set_rules(options, request);
  request.grouping.keep_case = options.keep_case;
  for (const std::string& each : options.parts) {
    auto part = open_index(with, each);
    if (!part) return part.error();
    request.parts.push_back(*std::move(part));
  }
  std::vector<dataflux::foreign_index> foreign;
  for (const std::string& each : options.foreign) {
    auto index = dataflux::open_foreign_index(each);
    if (!index) return file_error(index.error());
    foreign.push_back(*std::move(index));
  }
  if (!foreign.empty()) {
    auto part =
        dataflux::import_foreign_index(from->bucket, request.shards, foreign, request.grouping);
    if (!part) return part.error();
    request.parts.push_back(*std::move(part));
  }
  if (!options.board.empty()) {
    const auto board = parse_object_location(options.board);
    if (!board) return board.error();
    request.board_bucket = board->bucket;
    request.board_prefix = folder_prefix(board->name);
  }
  const auto made = dataflux::index_shards(with.transfers, std::move(request));
  if (!made) return made.error();
  if (to_object) {
    if (auto sent = send_index(with, *path, options.index); !sent) return sent;
  }
  print_summary(*made);
  return {};
}

result<void> show(const session& with, const shards_options& options) {
  const auto of = open_index(with, options.index);
  if (!of) return of.error();
  if (options.details) return print_samples(with.scheme(), *of);
  dataflux::index_shards_summary sum{.shards = of->shards(), .samples = of->samples()};
  for (std::uint64_t i = 0; i < of->shards(); ++i) {
    const auto shard = of->shard(i);
    if (!shard) return shard.error();
    if (shard->checksummed) ++sum.checksummed;
    sum.bytes += shard->object.size;
    sum.counts += shard->counts;
    sum.groups += shard->groups;
  }
  const auto& facts = of->description();
  std::printf("%s: %" PRIu64 " shards, %" PRIu64 " samples, %" PRIu64 " bytes\n",
              shown_url(with.scheme(), facts.bucket, "").c_str(), sum.shards, sum.samples,
              sum.bytes);
  print_count("shards whose samples have checksums", sum.checksummed);
  print_counts(sum.counts, sum.groups);
  std::printf("  %-20s %s\n", "indexed", dataflux::to_string(facts.taken).c_str());
  for (const auto& [name, value] : facts.options) {
    std::printf("  %-20s %s\n", name.c_str(), value.c_str());
  }
  return {};
}

/// The sample of that key; where there are several, the one of options.sample.
result<std::uint64_t> number_of(const shard_index& of, const shards_options& options) {
  const auto found = of.find(options.key);
  if (!found) return found.error();
  if (found->empty()) return error(errc::not_found, "no sample has the key '" + options.key + "'");
  if (options.sample.empty() && found->size() == 1) return found->front();
  std::string text = std::to_string(found->size()) + " samples have the key '" + options.key + "':";
  for (const std::uint64_t each : *found) {
    if (std::to_string(each) == options.sample) return each;
    text.append(each == found->front() ? " " : ", ").append(std::to_string(each));
  }
  return error(errc::invalid_argument, text + "; choose one by --sample");
}

result<void> put_out(dataflux::bytes_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return {};
  return file_error("output", "could not be written");
}

result<void> get(const session& with, const shards_options& options) {
  const auto of = open_index(with, options.index);
  if (!of) return of.error();
  const auto number = number_of(*of, options);
  if (!number) return number.error();
  auto request = dataflux::sample_request(*of, *number);
  if (!request) return request.error();
  std::vector<dataflux::get_request> requests;
  requests.push_back(*std::move(request));
  dataflux::getter items(with.transfers,
                         {.bucket = of->description().bucket, .limits = {.stop = with.stop}},
                         std::move(requests));
  const auto item = items.next();
  if (!item) return item.error();
  if ((*item)->failure) return *(*item)->failure;
  const auto parts = dataflux::split_sample(*of, *number, (*item)->bytes);
  if (!parts) return parts.error();
  if (parts->key != options.key) {
    return error(errc::not_found, "no sample has the key '" + options.key + "'");
  }
  std::string fields;
  for (const auto& field : parts->fields) {
    if (options.field == field.name) return put_out(field.bytes);
    if (options.field.empty()) {
      std::printf("%-10zu %s\n", field.bytes.size(), shown_name(field.name).c_str());
    }
    fields.append(fields.empty() ? "" : ", ").append(shown_name(field.name));
  }
  if (options.field.empty()) return {};
  return error(errc::not_found, "the sample '" + options.key + "' has no field '" + options.field +
                                    "'; it has " + fields);
}

}  // namespace

}  // namespace tar_shards

exit_status run_shards(const session& with, const shards_options& options) {
  if (options.rewrite.verb != rewrite_verb::none) return run_rewrite(with, options.rewrite);
  outcome report(nullptr);
  const auto act = [&] {
    switch (options.action) {
      case shards_action::index:
        return tar_shards::make_index(with, options);
      case shards_action::get:
        return tar_shards::get(with, options);
      case shards_action::verify:
        return tar_shards::verify(with, options);
      case shards_action::ls:
        return tar_shards::list(with, options);
      default:
        return tar_shards::show(with, options);
    }
  };
  const auto done = act();
  if (!done) report.failed(done.error());
  if (done && std::fflush(stdout) != 0) report.failed(file_error("output", "could not be written"));
  return report.status();
}

}  // namespace cli
