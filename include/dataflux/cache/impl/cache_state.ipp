#pragma once

#include <dataflux/cache/detail/cache_state.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/detail/short_of_memory.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A body up to this is read on the strand, if the system has it in memory.
inline constexpr std::uint64_t most_read_at_once = 256U << 10U;
/// Read in pieces that the processor still has when their checksum is made.
inline constexpr std::size_t cache_read_piece = 256U << 10U;
/// A segment is marked as of use once for so many bytes of hits, which is often enough: one that is
/// read through is marked by chance as often as it has such pieces.
inline constexpr std::uint64_t bytes_per_mark = 1U << 20U;

DATAFLUX_INLINE cache_state::cache_state(cache_file folder, const cache_limits& limits)
    : files_(std::make_shared<cache_files>(std::move(folder), limits)),
      writer_(std::make_shared<segment_writer>(files_)) {}

DATAFLUX_INLINE cache_answer cache_state::read(const cache_key& key, byte_sink& sink,
                                               bool may_block) {
  cache_answer answer = read_hashed(key, key.length, sink, may_block);
  if (answer.what == cache_answer::kind::miss && key.offset == 0 && !key.whole()) {
    answer = read_hashed(key.of_whole(), key.length, sink, may_block);
  }
  return answer;
}

/// What has more bytes than `most` is no answer.
DATAFLUX_INLINE cache_answer cache_state::read_hashed(const cache_key& key, std::uint64_t most,
                                                      byte_sink& sink, bool may_block) {
  const cache_index::found found = files_->index.find(key.hash(), may_block);
  if (found.blocks) return {cache_answer::kind::blocks};
  for (std::size_t i = 0; i < found.count; ++i) {
    const cache_place& place = found.places[i];
    if (!may_block && std::uint64_t{place.length} * cache_alignment > most_read_at_once) {
      return {cache_answer::kind::blocks};
    }
    cache_answer answer = read_at(place, key, most, sink, may_block);
    if (answer.what != cache_answer::kind::miss) return answer;
  }
  return {};
}

DATAFLUX_INLINE cache_answer cache_state::read_at(const cache_place& place, const cache_key& key,
                                                  std::uint64_t most, byte_sink& sink,
                                                  bool may_block) {
  const cache_file segment = open_segment(files_->folder.descriptor(), place.segment);
  if (!segment) {
    if (errno == ENOENT) {
      files_->index.drop(key.hash(), place);
    } else {
      cache_counts::add(files_->counts.errors);
    }
    return {};
  }
  std::array<std::byte, cache_head_bytes + most_cache_names> before;
  const auto known = bytes_span(before).first(cache_head_bytes + key.names.size());
  const std::uint64_t begin = std::uint64_t{place.offset} * cache_alignment;
  const ::ssize_t got = segment.read(known, begin, may_block);
  if (got < static_cast<::ssize_t>(known.size()) && !may_block) return {cache_answer::kind::blocks};
  const auto head =
      got == static_cast<::ssize_t>(known.size()) ? decode_cache_head(known) : std::nullopt;
  const auto names = as_text(known.subspan(cache_head_bytes));
  if (!head) cache_counts::add(files_->counts.damaged);
  // Another record may lie there by now, or two keys have one hash.
  if (!head || !head->answers(key) || names != key.names ||
      head->record_bytes() != std::uint64_t{place.length} * cache_alignment) {
    files_->index.drop(key.hash(), place);
    return {};
  }
  if (head->bytes > most) return {};  // a part of the object is asked for
  cache_answer answer = checked(segment, begin + known.size(), *head, key, sink, may_block);
  if (answer.what == cache_answer::kind::miss) files_->index.drop(key.hash(), place);
  return answer;
}

DATAFLUX_INLINE cache_answer cache_state::checked(const cache_file& segment, std::uint64_t begin,
                                                  const cache_head& head, const cache_key& key,
                                                  byte_sink& sink, bool may_block) {
  if (!head.verified) {
    const auto doubts = files_->index.doubts_of(key.doubts_hash(), may_block);
    if (doubts.blocks) return {cache_answer::kind::blocks};
    if (doubts.count != head.doubts) return {};
  }
  return deliver(segment, begin, head, sink, may_block);
}

/// Into the sink; what is found to be damaged on the way is taken back.
DATAFLUX_INLINE cache_answer cache_state::deliver(const cache_file& segment, std::uint64_t begin,
                                                  const cache_head& head, byte_sink& sink,
                                                  bool may_block) {
  if (auto good = sink.expect(head.bytes); !good) {
    return {cache_answer::kind::hit, std::move(good).error()};
  }
  crc32c_accumulator all;
  while (all.length() < head.bytes) {
    const std::uint64_t left = head.bytes - all.length();
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(left, cache_read_piece));
    bytes_span into = sink.prepare(most);
    if (into.empty() && sink.satisfied()) {
      read_summary beginning = head.summary();
      beginning.bytes = all.length();
      beginning.crc32c = all.crc();
      beginning.verified = false;
      return {cache_answer::kind::hit, beginning};
    }
    if (into.empty()) {
      error full(errc::out_of_range, "the sink takes fewer bytes than there are");
      return {cache_answer::kind::hit, std::move(full)};
    }
    into = into.first(std::min(into.size(), most));
    const ::ssize_t got = segment.read(into, begin + all.length(), may_block);
    if (got <= 0) {
      if (got < 0 && !may_block) return undelivered(cache_answer::kind::blocks, sink);
      cache_counts::add(got < 0 ? files_->counts.errors : files_->counts.damaged);
      return undelivered(cache_answer::kind::miss, sink);
    }
    all.update(into.first(static_cast<std::size_t>(got)));
    if (auto good = sink.commit(static_cast<std::size_t>(got)); !good) {
      return {cache_answer::kind::hit, std::move(good).error()};
    }
  }
  if (all.crc() != head.crc32c) {
    cache_counts::add(files_->counts.damaged);
    return undelivered(cache_answer::kind::miss, sink);
  }
  hits_in_a_row_.fetch_add(1, std::memory_order_relaxed);
  cache_counts::add(files_->counts.hits);
  cache_counts::add(files_->counts.hit_bytes, head.bytes);
  of_use(segment.descriptor(), head.bytes);
  return {cache_answer::kind::hit, head.summary()};
}

DATAFLUX_INLINE cache_answer cache_state::undelivered(cache_answer::kind what, byte_sink& sink) {
  if (auto rewound = sink.rewind(0); !rewound) {
    return {cache_answer::kind::hit, std::move(rewound).error()};
  }
  return {what};
}

DATAFLUX_INLINE void cache_state::of_use(int segment, std::uint64_t bytes) noexcept {
  if (untold_.fetch_add(bytes, std::memory_order_relaxed) + bytes < bytes_per_mark) return;
  untold_.store(0, std::memory_order_relaxed);
  static_cast<void>(::futimens(segment, nullptr));
}

DATAFLUX_INLINE void cache_state::keep(const cache_key& key, const read_summary& summary,
                                       bytes_view body) noexcept {
  writer_->add(key, summary, body);
}

/// What waits first: a record that is being written is found in the index, or never gets there.
DATAFLUX_INLINE void cache_state::forget(const cache_key& key) noexcept {
  writer_->forget(key);
  const std::uint64_t hash = key.hash();
  const cache_index::found found = files_->index.find(hash, true);
  for (std::size_t i = 0; i < found.count; ++i) files_->index.drop(hash, found.places[i]);
  if (key.offset != 0 || key.whole()) return;
  within_memory([&] { forget(key.of_whole()); });
}

DATAFLUX_INLINE void cache_state::forget_object(const cache_key& any) noexcept {
  writer_->forget_object(any);
  files_->index.doubt(any.doubts_hash());
}

DATAFLUX_INLINE cache_counters cache_state::counters() const noexcept {
  const auto now = [](const std::atomic<std::uint64_t>& each) {
    return each.load(std::memory_order_relaxed);
  };
  return {.hits = now(files_->counts.hits),
          .hit_bytes = now(files_->counts.hit_bytes),
          .misses = now(files_->counts.misses),
          .kept = now(files_->counts.kept),
          .kept_bytes = now(files_->counts.kept_bytes),
          .refused = now(files_->counts.refused),
          .evicted = now(files_->counts.evicted),
          .evicted_bytes = now(files_->counts.evicted_bytes),
          .damaged = now(files_->counts.damaged),
          .errors = now(files_->counts.errors)};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
