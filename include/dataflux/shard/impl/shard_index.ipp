#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/detail/text_hash.hpp>
#include <dataflux/exec/detail/mapped_file.hpp>
#include <dataflux/shard/detail/index_rules.hpp>
#include <dataflux/shard/detail/shard_index_format.hpp>
#include <dataflux/shard/shard_index.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

struct shard_index::state {
  std::string shown_as{};
  bytes_view bytes{};
  std::shared_ptr<const void> owner{};
  shard_index_description description{};
  grouping_rules grouping{};
  std::uint64_t digest{0};
  std::uint64_t shards{0};
  std::uint64_t samples{0};
  std::vector<detail::shard::index_block> blocks{};
  std::vector<detail::shard::index_columns> columns{};  ///< of each block
  std::vector<std::uint64_t> first_shards{};
  std::vector<std::uint64_t> first_samples{};
  /// Blocks that were checked and found good. Two threads may check the same block: no harm.
  std::unique_ptr<std::atomic<bool>[]> good {};

  result<void> read(bytes_view whole);
  result<void> read_table(const detail::codec::block_file_end& end);
  result<void> check(std::size_t block) const;
  error of_this(error why) const { return detail::codec::of_block_file(shown_as, std::move(why)); }
};

DATAFLUX_INLINE result<void> shard_index::state::read_table(
    const detail::codec::block_file_end& end) {
  constexpr std::size_t piece = detail::codec::block_file_piece;
  const auto table = detail::codec::block_file_table(detail::shard::shard_index_kind, bytes, end);
  if (!table) return table.error();
  digest = detail::mixed_hash(as_text(*table));
  blocks.reserve(end.blocks);
  std::size_t begin = piece;
  for (std::size_t i = 0; i < end.blocks; ++i) {
    const auto block = detail::shard::read_index_block(table->subspan(i * piece, piece));
    if (!detail::shard::is_possible(block, begin, end.description_begin)) {
      return detail::shard::damaged_index("its table is wrong about block " + std::to_string(i));
    }
    blocks.push_back(block);
    columns.push_back(detail::shard::index_columns::of(bytes, block));
    first_shards.push_back(shards);
    first_samples.push_back(samples);
    shards += block.shards;
    samples += block.samples;
    begin += block.bytes;
  }
  if (samples != end.rows)
    return detail::shard::damaged_index("its blocks do not add up to its samples");
  good = std::make_unique<std::atomic<bool>[]>(blocks.size());
  return {};
}

DATAFLUX_INLINE result<void> shard_index::state::check(std::size_t index) const {
  if (good[index].load(std::memory_order_relaxed)) return {};
  const detail::shard::index_block& block = blocks[index];
  const auto name = [&] {
    return "block " + std::to_string(index) + " (shards " + std::to_string(first_shards[index]) +
           " to " + std::to_string(first_shards[index] + block.shards - 1) + ")";
  };
  if (crc32c(bytes.subspan(block.begin, block.bytes)) != block.crc) {
    return of_this(detail::shard::damaged_index("the checksum of " + name() + " does not match"));
  }
  if (const char* what = detail::shard::impossible_in(columns[index])) {
    return of_this(detail::shard::damaged_index(std::string{"the "}.append(what) + " of " + name() +
                                                " are impossible"));
  }
  good[index].store(true, std::memory_order_relaxed);
  return {};
}

DATAFLUX_INLINE result<void> shard_index::state::read(bytes_view whole) {
  if (reinterpret_cast<std::uintptr_t>(whole.data()) % 8 != 0) {
    return error{errc::invalid_argument, "a shard index's address must be a multiple of 8"};
  }
  const auto end = detail::codec::read_block_file_end(detail::shard::shard_index_kind, whole);
  if (!end) return end.error();
  bytes = whole;
  if (auto table = read_table(*end); !table) return table;
  const auto text =
      detail::codec::block_file_description(detail::shard::shard_index_kind, bytes, *end);
  if (!text) return text.error();
  auto read = detail::shard::read_index_description(*text);
  if (!read) return std::move(read).error();
  description = *std::move(read);
  grouping = detail::shard::rules_of(description.options).grouping;
  return {};
}

DATAFLUX_INLINE result<shard_index> shard_index::over(bytes_view bytes,
                                                      std::shared_ptr<const void> owner,
                                                      std::string shown_as) {
  const auto made = std::make_shared<state>();
  made->shown_as = std::move(shown_as);
  made->owner = std::move(owner);
  if (auto read = made->read(bytes); !read) return made->of_this(std::move(read).error());
  return shard_index{made};
}

DATAFLUX_INLINE result<shard_index> shard_index::open(const std::string& path) {
  std::shared_ptr<const void> owner;
  const auto bytes = detail::map_file(path, detail::shard::shard_index_kind.noun, owner);
  if (!bytes) return bytes.error();
  return over(*bytes, std::move(owner), "'" + path + "'");
}

DATAFLUX_INLINE const shard_index_description& shard_index::description() const noexcept {
  return state_->description;
}
DATAFLUX_INLINE const grouping_rules& shard_index::grouping() const noexcept {
  return state_->grouping;
}
DATAFLUX_INLINE std::uint64_t shard_index::shards() const noexcept { return state_->shards; }
DATAFLUX_INLINE std::uint64_t shard_index::samples() const noexcept { return state_->samples; }
DATAFLUX_INLINE std::size_t shard_index::bytes() const noexcept { return state_->bytes.size(); }
DATAFLUX_INLINE std::uint64_t shard_index::digest() const noexcept { return state_->digest; }

DATAFLUX_INLINE std::uint64_t shard_index::hash_of(std::string_view key) noexcept {
  return detail::mixed_hash(key);
}

namespace detail::shard {

inline error not_so_many(const char* what, std::uint64_t i, std::uint64_t count) {
  return error{errc::out_of_range, std::string{what} + " " + std::to_string(i) +
                                       " of an index of " + std::to_string(count) + " " + what +
                                       "s"};
}

/// The block that has number `i`, which is there. Blocks without samples have none.
inline std::size_t block_of(const std::vector<std::uint64_t>& firsts, std::uint64_t i) noexcept {
  const auto after = std::upper_bound(firsts.begin(), firsts.end(), i);
  return static_cast<std::size_t>(after - firsts.begin()) - 1;
}

}  // namespace detail::shard

DATAFLUX_INLINE result<indexed_shard> shard_index::shard(std::uint64_t i) const {
  const state& s = *state_;
  if (i >= s.shards) return detail::shard::not_so_many("shard", i, s.shards);
  const std::size_t block = detail::shard::block_of(s.first_shards, i);
  if (auto good = s.check(block); !good) return std::move(good).error();
  const detail::shard::index_columns& c = s.columns[block];
  const auto at = static_cast<std::size_t>(i - s.first_shards[block]);
  indexed_shard found{
      .object = c.shards.row(at),
      .first_sample = s.first_samples[block] + c.first_samples[at],
      .samples = c.first_samples[at + 1] - c.first_samples[at],
      .checksummed = (c.shard_flags[at] & detail::shard::shard_checksummed_flag) != 0,
      .counts = {},
      .groups = {}};
  for (std::size_t k = c.first_counts[at]; k < c.first_counts[at + 1]; ++k) {
    const std::size_t kind = c.count_kinds[k];  // one that is not known is of a later version
    constexpr std::size_t first = detail::shard::first_group_kind;
    if (kind < detail::shard::count_members.size()) {
      found.counts.*detail::shard::count_members[kind] = c.count_values[k];
    } else if (kind >= first && kind - first < detail::shard::group_members.size()) {
      found.groups.*detail::shard::group_members[kind - first] = c.count_values[k];
    }
  }
  return found;
}

DATAFLUX_INLINE result<object_columns> shard_index::shard_rows() const {
  const state& s = *state_;
  object_columns rows;
  for (std::size_t block = 0; block < s.blocks.size(); ++block) {
    if (auto good = s.check(block); !good) return std::move(good).error();
    rows.append_shared(s.columns[block].shards, s.owner);
  }
  return rows;
}

DATAFLUX_INLINE result<indexed_sample> shard_index::sample(std::uint64_t i) const {
  const state& s = *state_;
  if (i >= s.samples) return detail::shard::not_so_many("sample", i, s.samples);
  const std::size_t block = detail::shard::block_of(s.first_samples, i);
  if (auto good = s.check(block); !good) return std::move(good).error();
  const detail::shard::index_columns& c = s.columns[block];
  const auto at = static_cast<std::size_t>(i - s.first_samples[block]);
  const std::size_t shard = c.shard_of(at);
  const std::uint64_t begin = std::uint64_t{c.begins[at]} * detail::shard::tar_block;
  indexed_sample found{.shard = s.first_shards[block] + shard,
                       .offset = begin,
                       .size = c.end_of(at, c.shards.sizes[shard]) - begin,
                       .key_hash = c.hashes[at],
                       .crc32c = {},
                       .members = c.first_members[at + 1] - c.first_members[at],
                       .columns = &c,
                       .first_member = c.first_members[at]};
  if ((c.shard_flags[shard] & detail::shard::shard_checksummed_flag) != 0) {
    found.crc32c = c.sample_crcs[at];
  }
  return found;
}

DATAFLUX_INLINE indexed_member indexed_sample::member(std::size_t k) const noexcept {
  const std::size_t at = first_member + k;
  return {.field = columns->field(columns->member_fields[at]),
          .offset = offset + std::uint64_t{columns->member_offsets[at]} * detail::shard::tar_block,
          .size = columns->member_sizes[at]};
}

DATAFLUX_INLINE result<std::vector<std::uint64_t>> shard_index::find(std::string_view key) const {
  const state& s = *state_;
  const std::uint64_t hash = hash_of(key);
  std::vector<std::uint64_t> found;
  for (std::size_t block = 0; block < s.blocks.size(); ++block) {
    if (auto good = s.check(block); !good) return std::move(good).error();
    const detail::shard::index_columns& c = s.columns[block];
    std::size_t first = 0;
    for (std::size_t end = c.hashes.size(); first < end;) {
      const std::size_t middle = first + (end - first) / 2;
      const bool before = c.hashes[c.ordered(middle)] < hash;
      (before ? first : end) = before ? middle + 1 : middle;
    }
    for (; first < c.hashes.size() && c.hashes[c.ordered(first)] == hash; ++first) {
      found.push_back(s.first_samples[block] + c.ordered(first));
    }
  }
  return found;
}

}  // namespace dataflux::inline DATAFLUX_ABI
