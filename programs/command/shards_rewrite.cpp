#include <dataflux/dataset/sampler.hpp>
#include <dataflux/shard/join_shards.hpp>

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "location.hpp"
#include "rewrite_inputs.hpp"
#include "sample_command.hpp"
#include "shards_verbs.hpp"

namespace cli {

/// The verbs of `dataflux shards` that write. Each makes a source of samples; what is common is the
/// choice of samples and the output.
namespace rewriting {

using dataflux::errc;
using dataflux::error;
using dataflux::result;
using dataflux::sample_source;
using dataflux::sample_table;
using dataflux::sample_view;
using dataflux::shard_join;

namespace {

dataflux::rewrite_rules rules_of(const session& with, const rewrite_options& options,
                                 dataflux::left_out_counts& left_out) {
  dataflux::rewrite_rules rules{.left_out = &left_out, .stop = with.stop};
  tar_shards::set_rules(options, rules);
  return rules;
}

/// Numbers from a function of the position.
template <class Order>
dataflux::unique_function<std::optional<std::uint64_t>()> numbers_of(std::uint64_t count,
                                                                     Order order) {
  return [count, order = std::move(order), position = std::uint64_t{0}]() mutable {
    if (position == count) return std::optional<std::uint64_t>{};
    return std::optional<std::uint64_t>{order(position++)};
  };
}

result<sample_source> shuffled(const session& with, const rewrite_options& options,
                               const dataflux::rewrite_rules& rules) {
  const auto table = table_of(with, options.inputs, rules);
  if (!table) return table.error();
  const std::uint64_t count = table->samples();
  if (count == 0) return sample_source([]() -> result<sample_view*> { return nullptr; });
  auto order = dataflux::sampler::create({.count = count, .seed = options.seed});
  if (!order) return std::move(order).error();
  return table->read(numbers_of(count, [order = *std::move(order)](
                                           std::uint64_t position) { return order.row(position); }),
                     with.stop);
}

/// What a sample is sorted by.
result<std::string> value_of(const sample_view& sample, const std::string& by) {
  if (by == "key") return std::string(sample.key);
  for (const auto& field : sample.fields) {
    if (field.name == by) return std::string(dataflux::as_text(field.bytes));
  }
  return error(errc::not_found, "the sample '" + shown_name(sample.key) + "' has no field '" + by +
                                    "' to be sorted by");
}

result<sample_source> sorted(const session& with, const rewrite_options& options,
                             const dataflux::rewrite_rules& rules) {
  const auto table = table_of(with, options.inputs, rules);
  if (!table) return table.error();
  const std::uint64_t count = table->samples();
  std::vector<std::pair<std::string, std::uint64_t>> order;
  order.reserve(static_cast<std::size_t>(count));
  auto all = table->read(numbers_of(count, [](std::uint64_t i) { return i; }), with.stop);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto sample = all();
    if (!sample) return sample.error();
    auto value = value_of(**sample, options.by);
    if (!value) return std::move(value).error();
    order.emplace_back(*std::move(value), i);
  }
  std::sort(order.begin(), order.end());  // by number where values are equal
  std::vector<std::uint64_t> numbers;
  numbers.reserve(order.size());
  for (const auto& [value, number] : order) numbers.push_back(number);
  return table->read(
      numbers_of(count, [numbers = std::move(numbers)](
                            std::uint64_t i) { return numbers[static_cast<std::size_t>(i)]; }),
      with.stop);
}

class joined {
 public:
  joined(const session& with, const sample_table& left, const sample_table& right, shard_join rows,
         std::string prefix)
      : rows_(std::make_shared<shard_join>(std::move(rows))), prefix_(std::move(prefix)) {
    left_ = left.read(numbers_of(rows_->left.size(),
                                 [rows = rows_](std::uint64_t i) {
                                   return rows->left[static_cast<std::size_t>(i)];
                                 }),
                      with.stop);
    std::vector<std::uint64_t> partners;
    for (const std::uint64_t each : rows_->right) {
      if (each != shard_join::nobody) partners.push_back(each);
    }
    const std::uint64_t count = partners.size();
    right_ = right.read(
        numbers_of(count, [partners = std::move(partners)](
                              std::uint64_t i) { return partners[static_cast<std::size_t>(i)]; }),
        with.stop);
  }

  result<sample_view*> next() {
    auto left = left_();
    if (!left || *left == nullptr) return left;
    if (rows_->right[next_++] == shard_join::nobody) return left;
    auto right = right_();
    if (!right) return right;
    if ((*left)->key != (*right)->key) {
      return error(errc::aborted, "two keys, '" + shown_name((*left)->key) + "' and '" +
                                      shown_name((*right)->key) + "', have one hash");
    }
    names_.clear();
    names_.reserve((*right)->fields.size());
    for (const auto& field : (*right)->fields) {
      names_.push_back(prefix_ + std::string(field.name));
      (*left)->fields.push_back({names_.back(), field.bytes});
    }
    return left;
  }

 private:
  const std::shared_ptr<shard_join> rows_;
  const std::string prefix_;
  sample_source left_{};
  sample_source right_{};
  std::size_t next_{0};
  std::vector<std::string> names_{};
};

result<sample_source> joined_source(const session& with, const rewrite_options& options,
                                    const dataflux::rewrite_rules& rules, outcome& report) {
  const auto left = table_of(with, {options.inputs.at(0)}, rules);
  if (!left) return left.error();
  const auto right = table_of(with, {options.inputs.at(1)}, rules);
  if (!right) return right.error();
  const auto kind = options.left ? dataflux::join_kind::left : dataflux::join_kind::inner;
  auto rows = dataflux::join_shards(left->index(), right->index(), {.kind = kind});
  if (!rows) return std::move(rows).error();
  std::printf("%" PRIu64 " samples of the first without a partner, %" PRIu64 " of the second\n",
              rows->left_alone, rows->right_alone);
  if (rows->left_alone == left->samples()) report.note("no key of the first is in the second");
  auto all = std::make_unique<joined>(with, *left, *right, *std::move(rows), options.right_prefix);
  return sample_source([all = std::move(all)] { return all->next(); });
}

/// All that is not in the shards that are written.
struct lost {
  dataflux::left_out_counts members{};
  files_left_out files{};
};

result<sample_source> source_of(const session& with, const rewrite_options& options,
                                const dataflux::rewrite_rules& rules, lost& without,
                                outcome& report) {
  switch (options.verb) {
    case rewrite_verb::create: {
      if (options.inputs.empty() && options.lists.empty() && options.manifests.empty()) {
        return error(errc::invalid_argument,
                     "create: give folders, gs://bucket/folder, --list or --manifest");
      }
      auto named = members_named(with, options);
      if (!named) return std::move(named).error();
      // A list is in its own order.
      return read_members(with.transfers, *std::move(named), options.lists.empty(), rules);
    }
    case rewrite_verb::shuffle:
      return shuffled(with, options, rules);
    case rewrite_verb::sort:
      return sorted(with, options, rules);
    case rewrite_verb::join:
      return joined_source(with, options, rules, report);
    default:
      break;
  }
  auto shards = shards_named(with, options.inputs);
  if (!shards) return std::move(shards).error();
  auto source = read_shards(with.transfers, *std::move(shards), rules);
  if (options.verb != rewrite_verb::map) return source;
  return through_command(std::move(source), options.shell_command, report, without.files,
                         with.stop);
}

/// "first:end:step", each of which may be missing.
result<void> slice_of(const std::string& text, dataflux::sample_choice& to) {
  const error wrong{errc::invalid_argument,
                    "--slice " + text + ": write FIRST:END or FIRST:END:STEP"};
  if (!text.empty() && text.find(':') == std::string::npos) return wrong;
  std::uint64_t* const parts[] = {&to.first, &to.end, &to.step};
  std::string_view rest = text;
  for (std::size_t i = 0; i < 3 && !rest.empty(); ++i) {
    const std::string_view part = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    if (part.empty()) continue;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), *parts[i]);
    if (read.ec != std::errc{} || read.ptr != part.data() + part.size()) return wrong;
  }
  if (!rest.empty()) return error(errc::invalid_argument, "--slice " + text + ": too many parts");
  if (to.end == 0 && text.find(":0") != std::string::npos) {
    return error(errc::invalid_argument, "--slice " + text + ": it ends before the first sample");
  }
  return {};
}

result<dataflux::sample_choice> choice_of(const rewrite_options& options) {
  dataflux::sample_choice choice{.fields = options.fields, .rekey = options.rekey};
  if (auto good = slice_of(options.slice, choice); !good) return std::move(good).error();
  if (options.select.empty()) return choice;
  std::ifstream file(options.select, std::ios::binary);
  if (!file) return file_error(options.select, "it cannot be opened");
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) choice.keys.push_back(std::move(line));
  }
  if (file.bad()) return file_error(options.select, "it cannot be read");
  if (choice.keys.empty()) return file_error(options.select, "there is no key in it");
  return choice;
}

result<dataflux::shard_output> output_of(const session& with, const rewrite_options& options) {
  const auto to = parse_location(options.output);
  if (!to) return to.error();
  if (to->where == location::kind::stream) {
    return error(errc::invalid_argument,
                 "-o is a file or an object, which is there whole or not at all");
  }
  return dataflux::shard_output::open(with.transfers,
                                      {.bucket = to->bucket,
                                       .pattern = to->is_object() ? to->name : options.output,
                                       .count = options.count,
                                       .bytes = options.bytes,
                                       .first = options.first,
                                       .stop = with.stop});
}

const char* what_ended(dataflux::shard_end end) noexcept {
  switch (end) {
    case dataflux::shard_end::count:
      return "the next sample would be above --count";
    case dataflux::shard_end::bytes:
      return "the next sample would be above --bytes";
    case dataflux::shard_end::finished:
      break;
  }
  return "no more samples";
}

void print(const rewrite_options& options, const dataflux::shard_writer_summary& made) {
  const auto to = parse_location(options.output);
  for (const auto& each : made.written) {
    const std::string name =
        to->is_object() ? shown_url(to->scheme, to->bucket, each.name) : each.name;
    std::printf("%s: %" PRIu64 " samples, %" PRIu64 " bytes; %s\n", name.c_str(), each.samples,
                each.bytes, what_ended(each.ended));
  }
  std::printf("%zu shards, %" PRIu64 " samples, %" PRIu64 " bytes\n", made.written.size(),
              made.samples, made.bytes);
}

/// What is lost is a failure, unless it is wished.
void tell_lost(const rewrite_options& options, const std::string& text, outcome& report) {
  if (options.leave_out) return report.note(text);
  report.failed(error(errc::failed_precondition, text + "; --leave-out permits it"));
}

void tell_all_lost(const rewrite_options& options, const lost& without, outcome& report) {
  const dataflux::left_out_counts& of = without.members;
  if (of.members() > 0) {
    std::string text = std::to_string(of.members()) +
                       " members are in no sample, and were left out: links, hidden names, names "
                       "without a field";
    if (!of.first.empty()) text += "; the first is " + shown_name(of.first);
    tell_lost(options, text, report);
  }
  if (of.shards.damaged > 0) {
    tell_lost(options,
              std::to_string(of.shards.damaged) +
                  " damaged shards were read to the damage; behind it are " +
                  std::to_string(of.shards.bytes_behind) + " bytes, whose samples are lost",
              report);
  }
  if (without.files.count == 0) return;
  tell_lost(options,
            std::to_string(without.files.count) +
                " files that the command left are no fields, since they are not called "
                "sample.FIELD; the first is " +
                without.files.first,
            report);
}

/// Writes all samples. Errors of shards and samples are none of the command line.
result<dataflux::shard_writer_summary> written(sample_source& from, dataflux::shard_output& to) {
  for (;;) {
    const auto sample = from();
    if (!sample) return tar_shards::of_data(sample.error());
    if (*sample == nullptr) {
      auto made = to.finish();
      return made ? std::move(made) : tar_shards::of_data(std::move(made).error());
    }
    if (auto good = to.write((*sample)->key, (*sample)->fields); !good) {
      return tar_shards::of_data(std::move(good).error());
    }
  }
}

result<void> rewrite(const session& with, const rewrite_options& options, outcome& report) {
  lost without;
  const auto rules = rules_of(with, options, without.members);
  auto choice = choice_of(options);
  if (!choice) return std::move(choice).error();
  auto to = output_of(with, options);
  if (!to) return std::move(to).error();
  auto source = source_of(with, options, rules, without, report);
  if (!source) return std::move(source).error();
  auto chosen = choose_samples(*std::move(source), *std::move(choice));
  if (!chosen) return std::move(chosen).error();
  const auto made = written(*chosen, *to);
  if (!made) return made.error();
  report.done(0);
  print(options, *made);
  tar_shards::print_counts(without.members.shards, without.members.groups);
  if (made->samples == 0) report.note("no sample was chosen, so there is no shard");
  tell_all_lost(options, without, report);
  return {};
}

}  // namespace

}  // namespace rewriting

exit_status run_rewrite(const session& with, const rewrite_options& options) {
  outcome report(nullptr);
  auto done = rewriting::rewrite(with, options, report);
  if (!done) report.failed(tar_shards::with_options_named(done.error()));
  if (std::fflush(stdout) != 0) report.failed(file_error("output", "could not be written"));
  return report.status();
}

}  // namespace cli
