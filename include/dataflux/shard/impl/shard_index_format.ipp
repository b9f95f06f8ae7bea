#pragma once

#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/shard/detail/shard_index_format.hpp>
#include <dataflux/shard/shard_index.hpp>
#include <dataflux/store/detail/own_service.hpp>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

DATAFLUX_INLINE index_layout::index_layout(const index_block& block) noexcept {
  const std::size_t shards = block.shards;
  const std::size_t samples = block.samples;
  const std::size_t members = block.members;
  const auto place = [this](std::size_t& at, std::size_t bytes) {
    at = codec::block_file_aligned(end);
    end = at + bytes;
  };
  place(sizes, 8 * shards);
  place(generations, 8 * shards);
  place(crcs, 4 * shards);
  place(offsets, 4 * (shards + 1));
  if (block.has(index_gaps_flag)) place(validity, (shards + 7) / 8);
  place(first_samples, 4 * (shards + 1));
  place(shard_flags, 4 * shards);
  place(first_counts, 4 * (shards + 1));
  place(count_values, 8 * std::size_t{block.counts});
  place(count_kinds, 4 * std::size_t{block.counts});
  place(names, block.name_bytes);
  place(hashes, 8 * samples);
  place(begins, 4 * samples);
  place(first_members, 4 * (samples + 1));
  if (block.has(index_crcs_flag)) place(sample_crcs, 4 * samples);
  place(order, (block.has(index_wide_flag) ? 4 : 2) * samples);
  place(member_sizes, 8 * members);
  place(member_offsets, 4 * members);
  place(member_fields, 4 * members);
  place(field_offsets, 4 * (std::size_t{block.fields} + 1));
  place(field_names, block.field_bytes);
  end = codec::block_file_aligned(end);
}

DATAFLUX_INLINE index_block read_index_block(bytes_view entry) noexcept {
  using codec::load_at;
  index_block block;
  block.begin = load_at<std::uint64_t>(entry, 0);
  block.bytes = load_at<std::uint64_t>(entry, 8);
  std::size_t at = 16;
  for (std::uint32_t* value :
       {&block.shards, &block.samples, &block.members, &block.fields, &block.name_bytes,
        &block.field_bytes, &block.counts, &block.flags, &block.crc}) {
    *value = load_at<std::uint32_t>(entry, at);
    at += 4;
  }
  return block;
}

DATAFLUX_INLINE std::array<char, codec::block_file_piece> index_entry(
    const index_block& block) noexcept {
  using codec::store_at;
  std::array<char, codec::block_file_piece> to{};
  store_at(to.data(), 0, block.begin);
  store_at(to.data(), 8, block.bytes);
  std::size_t at = 16;
  for (const std::uint32_t value :
       {block.shards, block.samples, block.members, block.fields, block.name_bytes,
        block.field_bytes, block.counts, block.flags, block.crc}) {
    store_at(to.data(), at, value);
    at += 4;
  }
  return to;
}

DATAFLUX_INLINE index_columns index_columns::of(bytes_view whole,
                                                const index_block& block) noexcept {
  const index_layout layout{block};
  const std::byte* base = whole.data() + block.begin;
  const auto column = [base](std::size_t at, std::size_t count, auto kind) {
    return std::span{reinterpret_cast<const decltype(kind)*>(base + at), count};
  };
  const std::size_t shards = block.shards;
  const std::size_t samples = block.samples;
  index_columns c;
  c.shards = {.first_row = 0,
              .rows = shards,
              .offsets = column(layout.offsets, shards + 1, std::int32_t{}),
              .names = column(layout.names, block.name_bytes, char{}),
              .sizes = column(layout.sizes, shards, std::uint64_t{}),
              .generations = column(layout.generations, shards, std::int64_t{}),
              .crc32c = column(layout.crcs, shards, std::uint32_t{}),
              .crc32c_validity = {},
              .first_bit = 0,
              .extras = {}};
  if (block.has(index_gaps_flag)) {
    c.shards.crc32c_validity = column(layout.validity, (shards + 7) / 8, std::uint8_t{});
  }
  c.first_samples = column(layout.first_samples, shards + 1, std::uint32_t{});
  c.shard_flags = column(layout.shard_flags, shards, std::uint32_t{});
  c.first_counts = column(layout.first_counts, shards + 1, std::uint32_t{});
  c.count_values = column(layout.count_values, block.counts, std::uint64_t{});
  c.count_kinds = column(layout.count_kinds, block.counts, std::uint32_t{});
  c.hashes = column(layout.hashes, samples, std::uint64_t{});
  c.begins = column(layout.begins, samples, std::uint32_t{});
  c.first_members = column(layout.first_members, samples + 1, std::uint32_t{});
  if (block.has(index_crcs_flag)) {
    c.sample_crcs = column(layout.sample_crcs, samples, std::uint32_t{});
  }
  if (block.has(index_wide_flag)) {
    c.wide_order = column(layout.order, samples, std::uint32_t{});
  } else {
    c.narrow_order = column(layout.order, samples, std::uint16_t{});
  }
  c.member_sizes = column(layout.member_sizes, block.members, std::uint64_t{});
  c.member_offsets = column(layout.member_offsets, block.members, std::uint32_t{});
  c.member_fields = column(layout.member_fields, block.members, std::uint32_t{});
  c.field_offsets = column(layout.field_offsets, std::size_t{block.fields} + 1, std::uint32_t{});
  c.field_names = column(layout.field_names, block.field_bytes, char{});
  return c;
}

DATAFLUX_INLINE std::uint64_t index_columns::end_of(std::size_t sample,
                                                    std::uint64_t shard_size) const noexcept {
  const std::size_t last = first_members[sample + 1] - 1;
  const std::uint64_t blocks = (member_sizes[last] + tar_block - 1) / tar_block;
  const std::uint64_t end =
      (std::uint64_t{begins[sample]} + member_offsets[last] + blocks) * tar_block;
  return std::min(end, shard_size);
}

DATAFLUX_INLINE std::size_t index_columns::shard_of(std::size_t sample) const noexcept {
  const auto after = std::upper_bound(first_samples.begin(), first_samples.end(), sample);
  return static_cast<std::size_t>(after - first_samples.begin()) - 1;
}

DATAFLUX_INLINE bool is_possible(const index_block& block, std::size_t begin,
                                 std::size_t end) noexcept {
  constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max();
  if (block.begin != begin || block.shards == 0 || block.shards > most - 1) return false;
  if (block.name_bytes > most || (block.flags & ~index_all_flags) != 0) return false;
  if (block.samples > most - 1 || block.members < block.samples) return false;
  if (block.has(index_wide_flag) != (block.samples > narrow_samples)) return false;
  return block.bytes == index_layout{block}.end && block.bytes <= end - begin;
}

/// The members of a sample: their data lie behind one another and inside the shard.
inline bool are_members(const index_columns& c, std::size_t sample, std::uint64_t size) noexcept {
  const std::uint64_t begin = std::uint64_t{c.begins[sample]} * tar_block;
  std::uint64_t free = begin + tar_block;  // behind a header at least
  for (std::size_t m = c.first_members[sample]; m < c.first_members[sample + 1]; ++m) {
    const std::uint64_t data = begin + std::uint64_t{c.member_offsets[m]} * tar_block;
    if (data < free || data > size || c.member_sizes[m] > size - data) return false;
    if (c.member_fields[m] >= c.field_offsets.size() - 1) return false;
    free = data + c.member_sizes[m];
  }
  return true;
}

inline bool are_samples(const index_columns& c, std::size_t shard) noexcept {
  const std::uint64_t size = c.shards.sizes[shard];
  std::uint64_t free = 0;
  for (std::size_t s = c.first_samples[shard]; s < c.first_samples[shard + 1]; ++s) {
    if (c.first_members[s] == c.first_members[s + 1]) return false;
    if (std::uint64_t{c.begins[s]} * tar_block < free || !are_members(c, s, size)) return false;
    free = c.end_of(s, size);
  }
  return true;
}

inline bool is_order(const index_columns& c) noexcept {
  for (std::size_t i = 0; i < c.hashes.size(); ++i) {
    if (c.ordered(i) >= c.hashes.size()) return false;
    if (i == 0) continue;
    const std::size_t before = c.ordered(i - 1);
    const std::size_t now = c.ordered(i);
    // Strictly ascending, so that it is a permutation.
    if (std::pair{c.hashes[before], before} >= std::pair{c.hashes[now], now}) return false;
  }
  return true;
}

DATAFLUX_INLINE const char* impossible_in(const index_columns& c) noexcept {
  if (!codec::are_ascending(c.shards.offsets, c.shards.names.size())) return "names";
  for (std::size_t shard = 0; shard < c.shards.rows; ++shard) {
    const auto begin = static_cast<std::size_t>(c.shards.offsets[shard]);
    const auto end = static_cast<std::size_t>(c.shards.offsets[shard + 1]);
    if (!codec::is_valid_utf8({c.shards.names.data() + begin, end - begin})) return "names";
  }
  if (!codec::are_ascending(c.first_samples, c.hashes.size())) return "numbers of samples";
  if (!codec::are_ascending(c.first_members, c.member_sizes.size())) return "numbers of members";
  if (!codec::are_ascending(c.first_counts, c.count_values.size())) return "counts";
  if (!codec::are_ascending(c.field_offsets, c.field_names.size())) return "fields";
  for (std::size_t shard = 0; shard < c.shards.rows; ++shard) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (c.shards.sizes[shard] > most) return "sizes of shards";
    if (!are_samples(c, shard)) return "places of samples";
    const bool checksummed = (c.shard_flags[shard] & shard_checksummed_flag) != 0;
    if (checksummed && c.sample_crcs.empty() && !c.hashes.empty()) return "checksums";
  }
  return is_order(c) ? nullptr : "order of keys";
}

DATAFLUX_INLINE std::string write_index_description(const shard_index_description& d) {
  codec::json_writer json;
  json.begin_object().key("bucket").string(d.bucket);
  if (d.scheme != usual_scheme) json.key("scheme").string(d.scheme);
  json.key("taken").string(to_string(d.taken)).key("options").begin_object();
  for (const auto& [name, value] : d.options) json.key(name).string(value);
  json.end_object().end_object();
  return std::move(json).take();
}

DATAFLUX_INLINE result<shard_index_description> read_index_description(bytes_view text) {
  const auto json = codec::json_document::parse(text);
  if (!json) return damaged_index("its description is not JSON");
  const codec::json_value root = json->root();
  shard_index_description d;
  const auto bucket = root.find("bucket").text();
  if (!bucket) return damaged_index("its description lacks the bucket");
  d.bucket = *bucket;
  auto scheme = scheme_in(root);
  if (!scheme) return damaged_index("its description names no service");
  d.scheme = *std::move(scheme);
  const auto taken = parse_timestamp(root.find("taken").text().value_or(""));
  if (!taken) return damaged_index("its description lacks the time");
  d.taken = *taken;
  for (const auto& [name, value] : root.find("options").members()) {
    d.options.emplace_back(name, value.text().value_or(""));
  }
  return d;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
