#include <dataflux/shard/detail/index_rules.hpp>
#include <dataflux/shard/detail/known_shards.hpp>
#include <dataflux/shard/detail/layout_difference.hpp>
#include <dataflux/shard/detail/shard_index_encoder.hpp>
#include <dataflux/shard/detail/shard_indexer.hpp>
#include <dataflux/shard/sample_reads.hpp>

#include <fuzz/require.hpp>
#include <fuzz/shard_indexer_fuzz.hpp>
#include <support/tar_bytes.hpp>

#include <algorithm>
#include <memory>
#include <string>

namespace {

using dataflux::result;
using dataflux::detail::shard::indexing_rules;
using dataflux::detail::shard::shard_layout;

result<shard_layout> index(const std::string& bytes, const indexing_rules& rules,
                           std::uint64_t most) {
  dataflux::detail::shard::shard_indexer indexer(rules, bytes.size());
  while (const auto next = indexer.wanted(most)) {
    require(next->length != 0 && next->length <= most);
    require(next->offset + next->length <= bytes.size());
    const auto piece = dataflux::as_bytes(bytes).subspan(static_cast<std::size_t>(next->offset),
                                                         static_cast<std::size_t>(next->length));
    if (auto good = indexer.take(piece); !good) return std::move(good).error();
  }
  return indexer.finish(std::nullopt);
}

void check_reads(const std::string& bytes, const shard_layout& layout,
                 const indexing_rules& rules) {
  dataflux::detail::shard::shard_index_encoder encoder(
      {.bucket = "bkt", .options = dataflux::detail::shard::options_of(rules)});
  const auto out = std::make_shared<std::string>();
  dataflux::object_row row;
  row.name = "s.tar";
  row.size = bytes.size();
  row.generation = 7;
  require(encoder.add(row, layout, *out).has_value());
  require(encoder.end(*out).has_value());
  const auto made = dataflux::shard_index::over(dataflux::as_bytes(*out), out).value();
  const auto again = dataflux::detail::shard::layout_of(made, 0).value();
  require(dataflux::detail::shard::difference_of(layout, again).empty());
  require(again.counts == layout.counts && again.groups == layout.groups);
  require(again.crcs == layout.crcs && again.fields == layout.fields);
  for (std::uint64_t i = 0; i < made.samples(); ++i) {
    const auto sample = made.sample(i).value();
    const auto piece = dataflux::as_bytes(bytes).subspan(static_cast<std::size_t>(sample.offset),
                                                         static_cast<std::size_t>(sample.size));
    const auto parts = dataflux::split_sample(made, i, piece);
    require(parts.has_value() && parts->fields.size() == sample.members);
  }
}

}  // namespace

void fuzz_shard_indexer(std::span<const std::byte> input) {
  if (input.empty()) return;
  const auto flags = static_cast<unsigned>(input[0]);
  std::string bytes{dataflux::as_text(input.subspan(1))};
  for (std::size_t at = 0; (flags & 8U) != 0 && at + 512 <= bytes.size(); at += 512) {
    if (bytes.compare(at + 257, 5, "ustar") == 0) dataflux::test::seal_tar_header(bytes, at);
  }
  indexing_rules rules;
  if ((flags & 1U) != 0) rules.reading.concatenated = dataflux::concatenated_rule::read;
  if ((flags & 2U) != 0) rules.reading.trailing = dataflux::trailing_rule::ignore;
  if ((flags & 4U) != 0) rules.reading.damaged = dataflux::damaged_rule::end;
  if ((flags & 16U) != 0) rules.grouping.repeated = dataflux::repeated_rule::keep_first;
  const auto whole = index(bytes, rules, UINT64_MAX);
  const auto cut = index(bytes, rules, 512 + flags);
  require(whole.has_value() == cut.has_value());
  if (!whole) return;
  require(dataflux::detail::shard::difference_of(*whole, *cut).empty());
  require(whole->crcs == cut->crcs);
  indexing_rules skipping = rules;
  skipping.skip_from = 1;
  const auto skipped = index(bytes, skipping, 512);
  require(skipped.has_value());
  require(dataflux::detail::shard::difference_of(*whole, *skipped).empty());
  check_reads(bytes, *whole, rules);
  check_reads(bytes, *skipped, rules);
}
