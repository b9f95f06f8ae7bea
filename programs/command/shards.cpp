#include <dataflux/list/fast_list.hpp>
#include <dataflux/shard/foreign_index.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/shard/sample_reads.hpp>
#include <dataflux/shard/shard_index.hpp>

#include <terminal/listing_progress.hpp>

#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
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

void print_summary(const dataflux::index_shards_summary& of) {
  std::printf("%" PRIu64 " shards, %" PRIu64 " samples, %" PRIu64 " members, %" PRIu64
              " bytes, %" PRIu64 " of them read\n",
              of.shards, of.samples, of.members, of.bytes, of.bytes_read);
  print_count("shards not read again", of.taken_over);
  print_count("indexes NAME.dfx without their shard passed over", of.orphans);
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
  const auto& found = listed->objects;
  bool any = false;
  for (std::size_t i = 0; i < found.size() && !any; ++i) any = !found.name(i).ends_with(".dfx");
  if (!any) {
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
    auto part = dataflux::import_foreign_index(from->bucket, request.shards, foreign,
                                               request.grouping, with.scheme());
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
  // What names no shard, and no file that was refused, is of the command line.
  if (!made && made.error().object().empty() && !made.error().message().starts_with("cannot ")) {
    return made.error();
  }
  if (!made) return of_data(made.error());
  if (to_object) {
    if (auto sent = send_index(with, *path, options.index); !sent) return sent;
  }
  print_summary(*made);
  return {};
}

result<void> show(const session& with, const shards_options& options) {
  const auto of = open_index(with, options.index);
  if (!of) return of.error();
  if (options.details) return print_samples(*of);
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
              shown_url(facts.scheme, facts.bucket, "").c_str(), sum.shards, sum.samples,
              sum.bytes);
  print_count("shards whose samples have checksums", sum.checksummed);
  print_counts(sum.counts, sum.groups);
  std::printf("  %-20s %s\n", "indexed", dataflux::to_string(facts.taken).c_str());
  for (const auto& [name, value] : facts.options) {
    const bool none = name == "skip_from" && value == std::to_string(UINT64_MAX);
    std::printf("  %-20s %s\n", name.c_str(), none ? "none" : value.c_str());
  }
  return {};
}

/// Of --sample alone.
result<std::uint64_t> number_alone(const shard_index& of, const std::string& text) {
  if (text.empty()) return error(errc::invalid_argument, "get: give a KEY, or --sample");
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec == std::errc{} && read.ptr == text.data() + text.size() && number < of.samples()) {
    return number;
  }
  return error(errc::invalid_argument, "--sample " + text + ": the index has " +
                                           std::to_string(of.samples()) +
                                           " samples, whose numbers begin with 0");
}

/// The sample of that key; where there are several, the one of options.sample.
result<std::uint64_t> number_of(const shard_index& of, const shards_options& options) {
  if (options.key.empty()) return number_alone(of, options.sample);
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
  if (auto own = check_own(with.store, of->description().scheme, "index"); !own) return own;
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
  if (options.key.empty()) std::printf("%s\n", shown_name(parts->key).c_str());
  if (!options.key.empty() && parts->key != options.key) {
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
  if (!done) {
    const bool has_options = options.action == shards_action::index;
    report.failed(
        tar_shards::with_options_named(done.error(), has_options ? "" : " of `shards index`"));
  }
  if (done && std::fflush(stdout) != 0) report.failed(file_error("output", "could not be written"));
  return report.status();
}

}  // namespace cli
