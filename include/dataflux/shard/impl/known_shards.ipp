#pragma once

#include <dataflux/detail/text_hash.hpp>
#include <dataflux/shard/detail/known_shards.hpp>
#include <dataflux/shard/detail/tar_format.hpp>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// Fields have their numbers in the order in which members bring them, as in an indexer.
DATAFLUX_INLINE result<shard_layout> layout_of(const shard_index& index, std::uint64_t shard) {
  const auto row = index.shard(shard);
  if (!row) return row.error();
  shard_layout out;
  std::map<std::string_view, std::uint32_t> fields;
  for (std::uint64_t i = 0; i < row->samples; ++i) {
    const auto sample = index.sample(row->first_sample + i);
    if (!sample) return sample.error();
    out.hashes.push_back(sample->key_hash);
    out.begins.push_back(static_cast<std::uint32_t>(sample->offset / tar_block));
    out.first_members.push_back(static_cast<std::uint32_t>(out.member_sizes.size()));
    if (sample->crc32c) out.crcs.push_back(*sample->crc32c);
    for (std::size_t k = 0; k < sample->members; ++k) {
      const indexed_member member = sample->member(k);
      const auto [field, is_new] =
          fields.try_emplace(member.field, static_cast<std::uint32_t>(fields.size()));
      if (is_new) {
        out.fields.emplace_back(member.field);
        out.field_bytes += field_memory(member.field);
      }
      out.member_sizes.push_back(member.size);
      out.member_offsets.push_back(
          static_cast<std::uint32_t>((member.offset - sample->offset) / tar_block));
      out.member_fields.push_back(field->second);
    }
  }
  out.checksummed = row->checksummed;
  out.counts = row->counts;
  out.groups = row->groups;
  return out;
}

DATAFLUX_INLINE bool is_listed(const object_row& there, const object_row& listed) noexcept {
  if (there.size != listed.size || there.name != listed.name) return false;
  if (there.generation != 0) return there.generation == listed.generation;
  return !there.crc32c || there.crc32c == listed.crc32c;
}

DATAFLUX_INLINE result<void> known_shards::add(shard_index part) {
  const auto rows = part.shard_rows();
  if (!rows) return rows.error();
  place at{static_cast<std::uint32_t>(parts_.size()), 0};
  for (const object_row row : *rows) {
    entries_.push_back({mixed_hash(row.name), at});
    ++at.shard;
  }
  parts_.push_back(std::move(part));
  return {};
}

DATAFLUX_INLINE void known_shards::sort() {
  std::sort(entries_.begin(), entries_.end(), [](const entry& a, const entry& b) {
    return std::tuple{a.hash, b.at.part, b.at.shard} < std::tuple{b.hash, a.at.part, a.at.shard};
  });
}

DATAFLUX_INLINE std::optional<known_shards::place> known_shards::find(
    const object_row& listed) const {
  const std::uint64_t hash = mixed_hash(listed.name);
  auto at = std::lower_bound(entries_.begin(), entries_.end(), hash,
                             [](const entry& e, std::uint64_t wanted) { return e.hash < wanted; });
  for (; at != entries_.end() && at->hash == hash; ++at) {
    const auto there = parts_[at->at.part].shard(at->at.shard);
    if (there && is_listed(there->object, listed)) return at->at;
  }
  return std::nullopt;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
