#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/shard/detail/shard_index_encoder.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// Of one block, unless its last shard has more.
inline constexpr std::size_t block_samples = 65536;
inline constexpr std::size_t block_members = 262144;
inline constexpr std::size_t block_shards = 4096;
inline constexpr std::size_t block_field_bytes = std::size_t{64} << 20U;

DATAFLUX_INLINE result<void> shard_index_encoder::begin(std::string& out) {
  if (frame_.begun()) return {};
  if (auto good = codec::check_block_file_order(shard_index_kind); !good) return good;
  bool good = codec::is_valid_utf8(description_.bucket);
  for (const auto& [name, value] : description_.options) {
    good &= codec::is_valid_utf8(name) && codec::is_valid_utf8(value);
  }
  if (!good) return error{errc::invalid_argument, "the description of an index must be UTF-8"};
  frame_.append_head(out);
  return {};
}

DATAFLUX_INLINE std::uint32_t shard_index_encoder::field(std::string_view name) {
  const auto known = fields_.find(name);
  if (known != fields_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(fields_.size());
  fields_.emplace(name, number);
  all_.fields.emplace_back(name);
  field_bytes_ += name.size();
  return number;
}

DATAFLUX_INLINE void shard_index_encoder::take_shard(const object_row& shard) {
  const std::size_t at = sizes_.size();
  if (at % 8 == 0) known_.push_back(0);
  if (shard.crc32c) known_.back() = static_cast<std::uint8_t>(known_.back() | 1U << (at % 8));
  any_unknown_ |= !shard.crc32c;
  sizes_.push_back(shard.size);
  generations_.push_back(shard.generation);
  crcs_.push_back(shard.crc32c.value_or(0));
  offsets_.push_back(static_cast<std::uint32_t>(names_.size()));
  names_.append(shard.name);
}

DATAFLUX_INLINE void shard_index_encoder::take_counts(const shard_layout& layout) {
  first_counts_.push_back(static_cast<std::uint32_t>(count_values_.size()));
  const auto take = [this](std::size_t kind, std::uint64_t value) {
    if (value == 0) return;
    count_kinds_.push_back(static_cast<std::uint32_t>(kind));
    count_values_.push_back(value);
  };
  for (std::size_t kind = 0; kind < count_members.size(); ++kind) {
    take(kind, layout.counts.*count_members[kind]);
  }
  for (std::size_t kind = 0; kind < group_members.size(); ++kind) {
    take(first_group_kind + kind, layout.groups.*group_members[kind]);
  }
}

DATAFLUX_INLINE void shard_index_encoder::take_samples(const shard_layout& layout) {
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  const auto members = static_cast<std::uint32_t>(all_.member_sizes.size());
  append(all_.hashes, layout.hashes);
  append(all_.begins, layout.begins);
  if (layout.checksummed) {
    append(all_.crcs, layout.crcs);
  } else {
    all_.crcs.resize(all_.hashes.size());
  }
  for (const std::uint32_t first : layout.first_members) {
    all_.first_members.push_back(members + first);
  }
  append(all_.member_sizes, layout.member_sizes);
  append(all_.member_offsets, layout.member_offsets);
  std::vector<std::uint32_t> numbers;
  numbers.reserve(layout.fields.size());
  for (const std::string& name : layout.fields) numbers.push_back(field(name));
  for (const std::uint32_t number : layout.member_fields) {
    all_.member_fields.push_back(numbers[number]);
  }
}

DATAFLUX_INLINE result<void> shard_index_encoder::add(const object_row& shard,
                                                      const shard_layout& layout,
                                                      std::string& out) {
  if (auto good = begin(out); !good) return good;
  if (!codec::is_valid_utf8(shard.name)) {
    return error{errc::invalid_argument, "the name of a shard is not UTF-8, as all of objects are"};
  }
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max() - 1;
  if (layout.hashes.size() > most || layout.member_sizes.size() > most ||
      layout.field_bytes > most || shard.name.size() > most / block_shards) {
    return error{errc::resource_exhausted,
                 "'" + std::string(shard.name) +
                     "' has more samples, members or fields than an index of "
                     "shards can hold; split it"};
  }
  const bool full = all_.hashes.size() + layout.hashes.size() > block_samples ||
                    all_.member_sizes.size() + layout.member_sizes.size() > block_members ||
                    field_bytes_ + layout.field_bytes > block_field_bytes ||
                    sizes_.size() == block_shards;
  if (full && !sizes_.empty()) append_block(out);
  any_crcs_ |= layout.checksummed;
  first_samples_.push_back(static_cast<std::uint32_t>(all_.hashes.size()));
  shard_flags_.push_back(layout.checksummed ? shard_checksummed_flag : 0);
  take_shard(shard);
  take_counts(layout);
  take_samples(layout);
  return {};
}

DATAFLUX_INLINE result<void> shard_index_encoder::end(std::string& out) {
  if (auto good = begin(out); !good) return good;
  if (!sizes_.empty()) append_block(out);
  frame_.append_rest(write_index_description(description_), out);
  return {};
}

/// Samples by the hash of their key, then by number.
DATAFLUX_INLINE std::vector<std::uint32_t> shard_index_encoder::order() const {
  std::vector<std::uint32_t> order(all_.hashes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
    return std::pair{all_.hashes[a], a} < std::pair{all_.hashes[b], b};
  });
  return order;
}

DATAFLUX_INLINE index_block shard_index_encoder::describe() const noexcept {
  index_block block;
  block.shards = static_cast<std::uint32_t>(sizes_.size());
  block.samples = static_cast<std::uint32_t>(all_.hashes.size());
  block.members = static_cast<std::uint32_t>(all_.member_sizes.size());
  block.fields = static_cast<std::uint32_t>(all_.fields.size());
  block.name_bytes = static_cast<std::uint32_t>(names_.size());
  block.field_bytes = static_cast<std::uint32_t>(field_bytes_);
  block.counts = static_cast<std::uint32_t>(count_values_.size());
  if (any_unknown_) block.flags |= index_gaps_flag;
  if (any_crcs_) block.flags |= index_crcs_flag;
  if (all_.hashes.size() > narrow_samples) block.flags |= index_wide_flag;
  return block;
}

DATAFLUX_INLINE void shard_index_encoder::append_block(std::string& out) {
  offsets_.push_back(static_cast<std::uint32_t>(names_.size()));
  first_samples_.push_back(static_cast<std::uint32_t>(all_.hashes.size()));
  first_counts_.push_back(static_cast<std::uint32_t>(count_values_.size()));
  all_.first_members.push_back(static_cast<std::uint32_t>(all_.member_sizes.size()));
  index_block block = describe();
  block.begin = frame_.written();
  const index_layout layout{block};
  const std::size_t begin = out.size();
  out.resize(begin + layout.end, '\0');
  const auto put = [&](std::size_t at, auto column) {
    if (column.size_bytes() != 0) {
      std::memcpy(out.data() + begin + at, column.data(), column.size_bytes());
    }
  };
  put(layout.sizes, std::span{sizes_});
  put(layout.generations, std::span{generations_});
  put(layout.crcs, std::span{crcs_});
  put(layout.offsets, std::span{offsets_});
  if (any_unknown_) put(layout.validity, std::span{known_});
  put(layout.names, std::span{names_});
  put(layout.first_samples, std::span{first_samples_});
  put(layout.shard_flags, std::span{shard_flags_});
  put(layout.first_counts, std::span{first_counts_});
  put(layout.count_values, std::span{count_values_});
  put(layout.count_kinds, std::span{count_kinds_});
  put(layout.hashes, std::span{all_.hashes});
  put(layout.begins, std::span{all_.begins});
  put(layout.first_members, std::span{all_.first_members});
  if (any_crcs_) put(layout.sample_crcs, std::span{all_.crcs});
  put_order(out.data() + begin + layout.order);
  put(layout.member_sizes, std::span{all_.member_sizes});
  put(layout.member_offsets, std::span{all_.member_offsets});
  put(layout.member_fields, std::span{all_.member_fields});
  put_fields(out.data() + begin + layout.field_offsets, out.data() + begin + layout.field_names);
  block.bytes = layout.end;
  block.crc = crc32c(as_bytes({out.data() + begin, layout.end}));
  const auto entry = index_entry(block);
  frame_.count({entry.data(), entry.size()}, block.bytes, block.samples);
  forget();
}

DATAFLUX_INLINE void shard_index_encoder::put_order(char* to) const {
  const std::vector<std::uint32_t> by_hash = order();
  if (by_hash.size() > narrow_samples) {
    std::memcpy(to, by_hash.data(), by_hash.size() * sizeof by_hash[0]);
    return;
  }
  for (std::size_t i = 0; i < by_hash.size(); ++i) {
    codec::store_at(to, 2 * i, static_cast<std::uint16_t>(by_hash[i]));
  }
}

DATAFLUX_INLINE void shard_index_encoder::put_fields(char* offsets, char* names) const {
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < all_.fields.size(); ++i) {
    const std::string& name = all_.fields[i];
    codec::store_at(offsets, 4 * i, at);
    std::copy(name.begin(), name.end(), names + at);
    at += static_cast<std::uint32_t>(name.size());
  }
  codec::store_at(offsets, 4 * all_.fields.size(), at);
}

DATAFLUX_INLINE void shard_index_encoder::forget() {
  for (auto* column :
       {&crcs_, &offsets_, &first_samples_, &shard_flags_, &first_counts_, &count_kinds_}) {
    column->clear();
  }
  sizes_.clear();
  generations_.clear();
  names_.clear();
  known_.clear();
  any_unknown_ = false;
  count_values_.clear();
  all_ = {};
  any_crcs_ = false;
  fields_.clear();
  field_bytes_ = 0;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
