#pragma once

#include <dataflux/shard/shard_stream.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::shard {

inline constexpr std::uint64_t default_most_sample = std::uint64_t{1} << 30U;
/// What is decompressed at a time.
inline constexpr std::size_t decoded_at_once = std::size_t{256} << 10U;
/// Enough to learn whether a shard is compressed.
inline constexpr std::size_t decoded_first = 1024;
/// A header may say any size: no more than this is reserved before the data are there.
inline constexpr std::uint64_t most_reserved = std::uint64_t{16} << 20U;

inline void make_room(std::vector<std::byte>& bytes, std::uint64_t more) {
  const auto wanted = bytes.size() + static_cast<std::size_t>(std::min(more, most_reserved));
  if (wanted > bytes.capacity()) bytes.reserve(std::max(wanted, 2 * bytes.capacity()));
}

}  // namespace detail::shard

DATAFLUX_INLINE shard_stream::shard_stream(const shard_stream_options& options) noexcept
    : options_(options), reader_(options.reading), grouper_(options.grouping) {}

DATAFLUX_INLINE void shard_stream::feed(bytes_view bytes) noexcept {
  if (!ended_) input_ = bytes;
}

DATAFLUX_INLINE result<const streamed_sample*> shard_stream::next() {
  while (!ready_ && !failure_ && !closed_) {
    if (!archive_.empty()) {
      advance();
    } else if (!cut_ && (decoding_ || !input_.empty())) {
      decode();
    } else if (ended_) {
      close();
    } else {
      break;
    }
  }
  if (std::exchange(ready_, false)) return &whole_;
  if (failure_) return *failure_;
  return nullptr;
}

DATAFLUX_INLINE void shard_stream::decode() {
  const bool large = memory_.size() < detail::shard::decoded_at_once &&
                     decoder_.coding() > detail::shard::shard_coding::plain;
  if (memory_.empty()) memory_.resize(detail::shard::decoded_first);
  if (large) memory_.resize(detail::shard::decoded_at_once);
  auto step = decoder_.decode(input_, memory_);
  if (step) {
    archive_ = step->bytes;
    input_ = input_.subspan(step->consumed);
    decoding_ = !step->needs_input;
  } else if (step.error().code() == errc::data_loss &&
             options_.reading.damaged == damaged_rule::end) {
    cut_ = true;
  } else {
    fail(std::move(step).error());
  }
}

/// One step through what was decoded.
DATAFLUX_INLINE void shard_stream::advance() {
  auto step = reader_.next(archive_);
  if (!step) return fail_behind_end(std::move(step).error());
  archive_ = archive_.subspan(step->consumed);
  take(*step);
}

DATAFLUX_INLINE void shard_stream::take(const detail::shard::tar_step& step) {
  switch (step.event) {
    case detail::shard::tar_event::file:
      begin_member();
      break;
    case detail::shard::tar_event::data:
      if (!in_field_) break;
      open_.bytes.insert(open_.bytes.end(), step.data.begin(), step.data.end());
      open_.fields.back().size += step.data.size();
      break;
    case detail::shard::tar_event::file_end:
      in_field_ = false;
      break;
    case detail::shard::tar_event::left_out:
      detail::shard::note_left_out(reader_.member(), first_left_out_);
      break;
    case detail::shard::tar_event::more:
      break;
  }
}

DATAFLUX_INLINE void shard_stream::begin_member() {
  const detail::shard::tar_member& member = reader_.member();
  const auto grouped =
      grouper_.add(member.name, {member.begin, member.data + member.size - member.begin});
  const std::string place = "at offset " + std::to_string(member.begin) + ": ";
  if (!grouped) {
    error why = grouped.error();
    return fail(std::move(why.with_message(place + why.message())));
  }
  if (grouped->ended) hand_over();
  if (grouped->begins) open_.key = grouper_.key();
  if (!grouped->taken) return detail::shard::note_left_out(member, first_left_out_);
  const std::uint64_t most =
      options_.most_bytes != 0 ? options_.most_bytes : detail::shard::default_most_sample;
  if (member.size > most - open_.bytes.size()) {
    return fail({errc::resource_exhausted,
                 place + "the sample has more than " + std::to_string(most) +
                     " bytes, the most that one may have (most_bytes); allow more, or read its "
                     "fields by ranges with an index"});
  }
  open_.fields.push_back({std::string{grouped->field}, open_.bytes.size(), 0});
  detail::shard::make_room(open_.bytes, member.size);
  in_field_ = true;
}

/// A sample may have no member that was taken; then it is none.
DATAFLUX_INLINE void shard_stream::hand_over() {
  if (!open_.fields.empty()) {
    std::swap(open_, whole_);
    ready_ = true;
  }
  open_.key.clear();
  open_.bytes.clear();
  open_.fields.clear();
}

/// Takes the shard's end.
DATAFLUX_INLINE void shard_stream::close() {
  const bool ends_early = options_.reading.damaged == damaged_rule::end;
  if (auto whole = decoder_.finish(); !cut_ && !whole) {
    if (!ends_early || whole.error().code() != errc::data_loss) {
      return fail(std::move(whole).error());
    }
    cut_ = true;
  }
  auto step = reader_.next({});
  if (!step) return fail_behind_end(std::move(step).error());
  take(*step);
  if (step->event != detail::shard::tar_event::more) return;
  if (reader_.skippable() != byte_range::to_end) {
    if (auto good = reader_.closed(); !good) return fail_behind_end(std::move(good).error());
  }
  if (std::exchange(in_field_, false)) {  // the shard ends within it, as the rules allow
    open_.bytes.resize(open_.fields.back().offset);
    open_.fields.pop_back();
  }
  closed_ = true;
  grouper_.end_shard();
  hand_over();
}

DATAFLUX_INLINE shard_counts shard_stream::counts() const noexcept {
  shard_counts all = reader_.counts();
  if (cut_ && all.damaged == 0) all.damaged = 1;
  return all;
}

DATAFLUX_INLINE void shard_stream::fail(error why) { failure_ = std::move(why); }

/// What the rules refuse stands behind an archive's end, so that the last sample is whole. Of one
/// before damage nobody knows.
DATAFLUX_INLINE void shard_stream::fail_behind_end(error why) {
  if (why.code() == errc::failed_precondition) hand_over();
  fail(std::move(why));
}

}  // namespace dataflux::inline DATAFLUX_ABI
