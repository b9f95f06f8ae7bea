#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/detail/text_hash.hpp>
#include <dataflux/shard/detail/shard_coding.hpp>
#include <dataflux/shard/detail/shard_indexer.hpp>

#include <algorithm>
#include <limits>
#include <utility>

/// The checksum of a sample is that of all bytes to its end, less that of all bytes to its begin.
/// So each byte is looked at once, whatever is in no sample included. Where a sample begins is
/// known only when its headers have been read: the checksum at each tar block since the last member
/// is kept until then.
namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// Of the names of a shard's fields, and what holds them.
inline constexpr std::size_t most_field_bytes = std::size_t{16} << 20U;
/// More blocks than the headers of one member have; those before are zeros behind the end.
inline constexpr std::size_t most_noted_blocks = 16384;

DATAFLUX_INLINE std::optional<byte_extent> shard_indexer::wanted(
    std::uint64_t most) const noexcept {
  if (now_.offset >= size_ || (at_rest() && skipped_)) return std::nullopt;
  return byte_extent{now_.offset, std::min({asked_, most, size_ - now_.offset})};
}

DATAFLUX_INLINE result<void> shard_indexer::check_kind(bytes_view bytes) const {
  const auto coding = coding_of(as_text(bytes));
  if (!coding) return {};
  // A name of a member may begin so; then a header follows that is one.
  if (bytes.size() >= tar_block && parse_tar_header(bytes.first(tar_block))) return {};
  return error{errc::unimplemented, std::string{"it is compressed by "}.append(*coding) +
                                        ", so its samples have no places; decompress it, or read "
                                        "it in sequence"};
}

DATAFLUX_INLINE void shard_indexer::note(bytes_view bytes) noexcept {
  if (!skipped_) now_.crc = crc32c_extend(now_.crc, bytes);
  now_.offset += bytes.size();
}

DATAFLUX_INLINE result<void> shard_indexer::take(bytes_view bytes) {
  if (now_.offset == 0) {
    if (auto good = check_kind(bytes); !good) return good;
    blocks_.push_back({});
  }
  asked_ = asked_ > byte_range::to_end / 4 ? asked_ : 4 * asked_;
  for (;;) {
    if (is_worth_skipping(bytes.size())) return skip_data();
    if (bytes.empty()) return {};
    auto taken = reader_.skippable() != 0 ? take_data(bytes) : take_header(bytes);
    if (!taken) return std::move(taken).error();
    bytes = bytes.subspan(*taken);
  }
}

DATAFLUX_INLINE bool shard_indexer::is_worth_skipping(std::size_t have) const noexcept {
  if (!file_ || at_rest()) return false;
  const std::uint64_t left = std::min(reader_.skippable(), size_ - now_.offset);
  return left >= rules_.skip_from && left > have;
}

/// What was read of the data is of no use.
DATAFLUX_INLINE result<void> shard_indexer::skip_data() {
  const std::uint64_t left = std::min(reader_.skippable(), size_ - now_.offset);
  reader_.skip(left);
  skipped_ = true;
  now_.offset += left;
  asked_ = std::max<std::uint64_t>(reader_.member().data - run_, tar_block);
  asked_ = (asked_ + tar_block - 1) / tar_block * tar_block;
  run_ = now_.offset;
  return settle();
}

/// Data and the padding behind them, or what is behind the shard's end.
DATAFLUX_INLINE result<std::size_t> shard_indexer::take_data(bytes_view bytes) {
  const std::uint64_t left = std::min(reader_.skippable(), size_ - now_.offset);
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left, bytes.size()));
  note(bytes.first(count));
  if (at_rest()) return count;
  reader_.skip(count);
  if (auto good = settle(); !good) return std::move(good).error();
  return count;
}

/// Data that are complete: the event comes without more bytes.
DATAFLUX_INLINE result<void> shard_indexer::settle() {
  if (reader_.skippable() != 0) return {};
  if (!file_ && !std::exchange(left_out_, false)) {  // it was of an extension
    note_block();
    return {};
  }
  if (file_) {
    if (auto good = settle_file(); !good) return good;
  }
  blocks_.assign(1, now_);
  return {};
}

DATAFLUX_INLINE void shard_indexer::note_block() {
  if (now_.offset % tar_block != 0) return;
  if (blocks_.size() == most_noted_blocks) {
    blocks_.erase(blocks_.begin(), blocks_.begin() + most_noted_blocks / 2);
  }
  blocks_.push_back(now_);
}

DATAFLUX_INLINE result<void> shard_indexer::settle_file() {
  const auto step = reader_.next({});
  if (!step) return step.error();
  return step->event == tar_event::file_end ? end_member() : result<void>{};
}

/// Up to the end of a tar block of headers or zeros.
DATAFLUX_INLINE result<std::size_t> shard_indexer::take_header(bytes_view bytes) {
  const std::size_t to_block = tar_block - now_.offset % tar_block;
  const bytes_view piece = bytes.first(std::min(to_block, bytes.size()));
  const auto step = reader_.next(piece);
  if (!step) return step.error();
  note(piece.first(step->consumed));
  if (step->event == tar_event::file) {
    if (auto good = begin_member(); !good) return std::move(good).error();
    if (auto good = settle(); !good) return std::move(good).error();
  } else if (step->event == tar_event::left_out) {
    left_out_ = true;
    note_left_out(reader_.member(), layout_.first_left_out);
    if (auto good = settle(); !good) return std::move(good).error();
  } else if (reader_.skippable() == 0) {
    note_block();
  }
  return step->consumed;
}

DATAFLUX_INLINE std::uint32_t shard_indexer::crc_at(std::uint64_t offset) const noexcept {
  const auto found = std::lower_bound(
      blocks_.begin(), blocks_.end(), offset,
      [](const place& each, std::uint64_t wanted) { return each.offset < wanted; });
  return found == blocks_.end() || found->offset != offset ? 0 : found->crc;
}

DATAFLUX_INLINE result<void> shard_indexer::begin_member() {
  const std::uint64_t begin = reader_.member().begin;
  const auto refuse = [begin](errc code, std::string_view why) {
    return error{code, "the member at offset " + std::to_string(begin) + std::string{why}};
  };
  if (reader_.member().data / tar_block > std::numeric_limits<std::uint32_t>::max()) {
    return refuse(errc::out_of_range,
                  " lies behind 2 TiB, where an index has no places; split the shard");
  }
  if (reader_.depends_on_all()) {
    return refuse(
        errc::unimplemented,
        " has its name or size from a global pax header, without which it cannot be read; "
        "write the shard without one");
  }
  member_ = {begin, crc_at(begin)};
  file_ = true;
  return {};
}

DATAFLUX_INLINE std::uint32_t shard_indexer::field(std::string_view name) {
  const auto known = fields_.find(name);
  if (known != fields_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(fields_.size());
  fields_.emplace(name, number);
  layout_.fields.emplace_back(name);
  layout_.field_bytes += field_memory(name);
  return number;
}

DATAFLUX_INLINE result<void> shard_indexer::end_member() {
  file_ = false;
  const tar_member& member = reader_.member();
  const auto grouped = grouper_.add(member.name, {member_.offset, now_.offset - member_.offset});
  if (!grouped) {
    error why = grouped.error();
    return std::move(
        why.with_message("at offset " + std::to_string(member_.offset) + ": " + why.message()));
  }
  if (grouped->ended && std::exchange(open_, false)) end_sample();
  if (grouped->begins) sample_.begin = member_;
  if (!grouped->taken) {
    note_left_out(member, layout_.first_left_out);
    return {};
  }
  // A member that is left out may begin a sample, and one that has no other is none.
  if (!std::exchange(open_, true)) begin_sample();
  sample_.end = now_;
  layout_.member_sizes.push_back(member.size);
  layout_.member_offsets.push_back(
      static_cast<std::uint32_t>((member.data - sample_.begin.offset) / tar_block));
  layout_.member_fields.push_back(field(grouped->field));
  if (layout_.field_bytes <= most_field_bytes) return {};
  return error{errc::resource_exhausted,
               "its fields have names of over 16 MiB together: each sample has others, such as "
               "numbers behind the first dot of a name; name members KEY.FIELD"};
}

DATAFLUX_INLINE void shard_indexer::begin_sample() {
  layout_.hashes.push_back(mixed_hash(grouper_.key()));
  layout_.begins.push_back(static_cast<std::uint32_t>(sample_.begin.offset / tar_block));
  layout_.first_members.push_back(static_cast<std::uint32_t>(layout_.member_sizes.size()));
}

DATAFLUX_INLINE void shard_indexer::end_sample() {
  layout_.crcs.push_back(crc32c_subtract_prefix(sample_.end.crc, sample_.begin.crc,
                                                sample_.end.offset - sample_.begin.offset));
}

DATAFLUX_INLINE result<shard_layout> shard_indexer::finish(std::optional<std::uint32_t> crc32c) {
  if (file_) {  // the shard may end within the padding of its last member
    if (auto good = settle_file(); !good) return std::move(good).error();
  }
  if (!at_rest()) {
    if (auto good = reader_.closed(); !good) return std::move(good).error();
  }
  if (grouper_.end_shard() && open_) end_sample();
  if (at_rest()) reader_.skip(size_ - reader_.offset());  // it counts what it has not read
  const bool whole = !skipped_ && now_.offset == size_;
  if (whole && crc32c && *crc32c != now_.crc) {
    return error{errc::data_loss,
                 "its bytes do not have the checksum that the service has of it; read it again"};
  }
  if (!whole) layout_.crcs.clear();
  layout_.checksummed = whole;
  layout_.counts = reader_.counts();
  layout_.groups = grouper_.counts();
  return std::move(layout_);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
