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
inline constexpr std::size_t cache_read_piece = std::size_t{256} << 10U;
/// A segment is marked as of use once for so many bytes of hits, which is often enough: one that is
/// read through is marked by chance as often as it has such pieces.
inline constexpr std::uint64_t bytes_per_mark = 1U << 20U;

DATAFLUX_INLINE cache_state::cache_state(cache_file folder, const cache_limits& limits)
    : files_(std::make_shared<cache_files>(std::move(folder), limits)),
      writer_(std::make_shared<segment_writer>(files_)) {}

DATAFLUX_INLINE cache_answer cache_state::read(const cache_key& key, byte_sink& sink,
                                               open_segments& segments, bool may_block) {
  cache_answer answer = read_hashed({key, sink, segments, may_block}, key.length);
  if (answer.what == cache_answer::kind::miss && key.offset == 0 && !key.whole()) {
    answer = read_hashed({key.of_whole(), sink, segments, may_block}, key.length);
  }
  return answer;
}

/// What has more bytes than `most` is no answer: a part of the object is asked for.
DATAFLUX_INLINE cache_answer cache_state::read_hashed(const look& of, std::uint64_t most) {
  const cache_index::found found = files_->index.find(of.key.hash(), of.may_block);
  if (found.blocks) return {cache_answer::kind::blocks};
  const std::uint64_t before = cache_head_bytes + of.key.names.size();
  for (std::size_t i = 0; i < found.count; ++i) {
    const cache_place& place = found.places[i];
    // One without a body is another key's.
    if (place.length <= before || place.length - before > most) continue;
    if (!of.may_block && place.length > most_read_at_once) return {cache_answer::kind::blocks};
    cache_answer answer = read_at(of, place);
    if (answer.what != cache_answer::kind::miss) return answer;
  }
  return {};
}

DATAFLUX_INLINE cache_answer cache_state::read_at(const look& of, const cache_place& place) {
  const cache_file& segment = of.segments.of(files_->folder.descriptor(), place.segment);
  if (!segment && errno != ENOENT) {
    cache_counts::add(files_->counts.errors);
    return {};
  }
  cache_answer answer = segment ? read_record(of, place, segment) : cache_answer{};
  if (answer.what == cache_answer::kind::miss) files_->index.drop(of.key.hash(), place);
  return answer;
}

/// Head and body come by one call of the system: the sink has taken nothing until the head is known
/// to be the right one.
DATAFLUX_INLINE cache_answer cache_state::read_record(const look& of, const cache_place& place,
                                                      const cache_file& segment) {
  std::array<std::byte, cache_head_bytes + most_cache_names> before;
  const auto known = bytes_span(before).first(cache_head_bytes + of.key.names.size());
  const std::uint64_t begin = std::uint64_t{place.offset} * cache_alignment;
  const std::size_t bytes = place.length - known.size();
  stored_body from{.segment = segment, .begin = begin + known.size()};
  if (auto good = of.sink.expect(bytes); good) {
    from.into = of.sink.prepare(std::min(bytes, cache_read_piece));
    from.into = from.into.first(std::min({from.into.size(), bytes, cache_read_piece}));
  } else {
    from.refused = std::move(good).error();
  }
  const ::ssize_t got = segment.read(known, from.into, begin, of.may_block);
  const std::size_t came = static_cast<std::size_t>(std::max<::ssize_t>(got, 0));
  if (came < known.size() + from.into.size() && !of.may_block) {
    return undelivered(cache_answer::kind::blocks, of.sink);
  }
  const auto head = came < known.size() ? std::nullopt : decode_cache_head(known);
  if (!head) cache_counts::add(files_->counts.damaged);
  // Another record may lie there by now, or two keys have one hash.
  if (!head || !head->answers(of.key) || head->unpadded_bytes() != place.length ||
      as_text(known.subspan(cache_head_bytes)) != of.key.names) {
    return undelivered(cache_answer::kind::miss, of.sink);
  }
  return checked(of, from, *head, came - known.size());
}

DATAFLUX_INLINE cache_answer cache_state::checked(const look& of, const stored_body& from,
                                                  const cache_head& head, std::size_t came) {
  if (!head.verified) {
    const auto doubts = files_->index.doubts_of(of.key.doubts_hash(), of.may_block);
    if (doubts.blocks) return undelivered(cache_answer::kind::blocks, of.sink);
    if (doubts.count != head.doubts) return undelivered(cache_answer::kind::miss, of.sink);
  }
  return deliver(of, from, head, came);
}

/// Into the sink, of which `came` bytes are there; what is found to be damaged on the way is taken
/// back.
DATAFLUX_INLINE cache_answer cache_state::deliver(const look& of, const stored_body& from,
                                                  const cache_head& head, std::size_t came) {
  if (from.refused) return {cache_answer::kind::hit, *from.refused};
  crc32c_accumulator all;
  bytes_span into = from.into.first(came);
  for (;;) {
    all.update(into);
    if (auto good = into.empty() ? result<void>() : of.sink.commit(into.size()); !good) {
      return {cache_answer::kind::hit, std::move(good).error()};
    }
    if (all.length() >= head.bytes) break;
    const std::uint64_t left = head.bytes - all.length();
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(left, cache_read_piece));
    into = of.sink.prepare(most);
    if (into.empty() && of.sink.satisfied()) {
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
    const ::ssize_t got = from.segment.read(into, from.begin + all.length(), of.may_block);
    if (got <= 0) {
      if (got < 0 && !of.may_block) return undelivered(cache_answer::kind::blocks, of.sink);
      cache_counts::add(got < 0 ? files_->counts.errors : files_->counts.damaged);
      return undelivered(cache_answer::kind::miss, of.sink);
    }
    into = into.first(static_cast<std::size_t>(got));
  }
  return whole(of, from, head, all.crc());
}

/// All of it has come.
DATAFLUX_INLINE cache_answer cache_state::whole(const look& of, const stored_body& from,
                                                const cache_head& head, std::uint32_t crc32c) {
  if (crc32c != head.crc32c) {
    cache_counts::add(files_->counts.damaged);
    return undelivered(cache_answer::kind::miss, of.sink);
  }
  hits_in_a_row_.fetch_add(1, std::memory_order_relaxed);
  cache_counts::add(files_->counts.hits);
  cache_counts::add(files_->counts.hit_bytes, head.bytes);
  of_use(from.segment.descriptor(), head.bytes);
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
