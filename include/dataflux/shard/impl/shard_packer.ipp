#pragma once

#include <dataflux/detail/text.hpp>
#include <dataflux/shard/detail/sample_grouper.hpp>
#include <dataflux/shard/detail/sample_name.hpp>
#include <dataflux/shard/detail/shard_packer.hpp>
#include <dataflux/shard/impl/sample_grouper.ipp>
#include <dataflux/shard/impl/shard_indexer.ipp>
#include <dataflux/shard/shard_index.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// From there on two checksums are cheaper joined than computed over the same bytes twice.
inline constexpr std::uint64_t worth_combining = std::uint64_t{32} << 10U;

DATAFLUX_INLINE error shard_packer::refusal(std::string_view key, std::string_view field,
                                            std::string_view why) const {
  std::string text{"the sample "};
  append_quoted(text, key);
  if (!field.empty()) append_quoted(text += " with the field ", field);
  return {errc::invalid_argument, (text += ' ').append(why)};
}

/// What was written must be read as the same sample: the reader's own rules decide.
DATAFLUX_INLINE result<void> shard_packer::check(std::string_view key) {
  if (members_.empty()) return refusal(key, {}, "has no field; give it one");
  std::string lowered;
  std::string_view before;
  std::size_t names = 0;
  for (const member& each : members_) {
    const std::string_view field = each.field.name;
    if (field.empty()) return refusal(key, {}, "has a field without a name; name it");
    name_.assign(key).append(1, '.').append(field);
    const sample_name parts = split_name(name_);
    if (name_.find('\0') != std::string::npos || parts.kind != membership::sample ||
        parts.key != key || parts.field != field) {
      return refusal(key, field,
                     "would be read under other names, or not at all; a key is not empty, has no "
                     "dot behind its last slash, and neither has a NUL");
    }
    if (lower_field(field, lowered) != field) {
      return refusal(key, field, "would be read in lower case; write it so");
    }
    if (is_reserved(field)) return refusal(key, field, "has a name that every sample has");
    if (field == before) return refusal(key, field, "has that field twice; rename one");
    names += field.size() + 8;
    if (name_.size() > longest_tar_name || names > sample_grouper::most_field_bytes) {
      return refusal(key, {}, "has names of more than 1 MiB; shorten them");
    }
    before = field;
  }
  return {};
}

DATAFLUX_INLINE void shard_packer::write_headers(std::string_view key) {
  heads_.clear();
  sample_bytes_ = 0;
  std::uint64_t padding = 0;
  for (member& each : members_) {
    each.header = heads_.size();
    heads_.append(padding, '\0');
    name_.assign(key).append(1, '.').append(each.field.name);
    append_tar_header(heads_, name_, each.field.bytes.size());
    each.header_end = heads_.size();
    sample_bytes_ += heads_.size() - each.header;
    each.data = sample_bytes_;
    sample_bytes_ += each.field.bytes.size();
    padding = tar_padding(each.field.bytes.size());
  }
  heads_.append(padding, '\0');
  sample_bytes_ += padding;
}

DATAFLUX_INLINE result<void> shard_packer::take(std::string_view key,
                                                std::span<const sample_field> fields) {
  members_.clear();
  for (const sample_field& each : fields) members_.push_back({each, 0, 0, 0});
  std::sort(members_.begin(), members_.end(),
            [](const member& a, const member& b) { return a.field.name < b.field.name; });
  if (auto good = check(key); !good) return good;
  if (layout_.field_bytes > most_field_bytes) {
    return error{errc::resource_exhausted,
                 "the fields of a shard have names of over 16 MiB together, since each sample has "
                 "others; name them alike, or make smaller shards"};
  }
  write_headers(key);
  key_ = key;
  if (fits() && samples() > 0 && key == last_key_) {
    return refusal(key, {},
                   "has the key of the sample before it, so that both would be read as one; change "
                   "one of the keys");
  }
  const std::uint64_t begin = fits() ? size() : 0;
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  if (begin / tar_block > most || sample_bytes_ / tar_block > most) {
    error why = refusal(key, {}, "would be behind 2 TiB of its shard; make smaller shards");
    return error{errc::out_of_range, why.message()};
  }
  return {};
}

DATAFLUX_INLINE bool shard_packer::fits() const noexcept {
  if (samples() == 0) return true;
  if (is_full_by_count()) return false;
  return limits_.bytes == 0 || size() + sample_bytes_ + tar_end_bytes <= limits_.bytes;
}

DATAFLUX_INLINE std::uint32_t shard_packer::field(std::string_view name) {
  const auto known = fields_.find(name);
  if (known != fields_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(fields_.size());
  fields_.emplace(name, number);
  layout_.fields.emplace_back(name);
  layout_.field_bytes += name.size() + 64;
  return number;
}

DATAFLUX_INLINE void shard_packer::note_sample(std::uint32_t crc) {
  layout_.hashes.push_back(shard_index::hash_of(key_));
  layout_.begins.push_back(static_cast<std::uint32_t>(size() / tar_block));
  layout_.crcs.push_back(crc);
  layout_.first_members.push_back(static_cast<std::uint32_t>(layout_.member_sizes.size()));
  for (const member& each : members_) {
    layout_.member_sizes.push_back(each.field.bytes.size());
    layout_.member_offsets.push_back(static_cast<std::uint32_t>(each.data / tar_block));
    layout_.member_fields.push_back(field(each.field.name));
  }
}

DATAFLUX_INLINE std::span<const bytes_view> shard_packer::add() {
  const bytes_view heads = as_bytes(heads_);
  pieces_.clear();
  for (const member& each : members_) {
    pieces_.push_back(heads.subspan(each.header, each.header_end - each.header));
    if (!each.field.bytes.empty()) pieces_.push_back(each.field.bytes);
  }
  const std::size_t written = members_.back().header_end;
  if (written < heads.size()) pieces_.push_back(heads.subspan(written));
  crc32c_accumulator sample;
  for (const bytes_view piece : pieces_) sample.update(piece);
  note_sample(sample.crc());
  if (sample.length() >= worth_combining) {
    whole_.append(sample);
  } else {
    for (const bytes_view piece : pieces_) whole_.update(piece);
  }
  last_key_ = key_;
  return pieces_;
}

DATAFLUX_INLINE packed_shard shard_packer::finish() {
  whole_.update(shard_packer_end);
  layout_.checksummed = true;
  packed_shard made{whole_.length(), whole_.crc(), std::exchange(layout_, {})};
  whole_ = {};
  fields_.clear();
  last_key_.clear();
  return made;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
