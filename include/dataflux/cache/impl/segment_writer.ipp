#pragma once

#include <dataflux/cache/detail/segment_writer.hpp>
#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/exec/detail/blocking_worker.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::uint64_t most_cache_waiting = 64U << 20U;
/// Of a step: then others of the process have the thread.
inline constexpr std::uint64_t cache_step_bytes = 8U << 20U;
/// Records that one call of the system writes.
inline constexpr std::size_t cache_write_records = 64;
/// Another process may take each number that is tried.
inline constexpr int most_segment_attempts = 16;

DATAFLUX_INLINE void segment_writer::add(const cache_key& key, const read_summary& summary,
                                         bytes_view body) noexcept {
  const cache_head head = cache_head_of(key, summary);
  const std::uint64_t bytes = head.record_bytes();
  const bool added = within_memory([&] {
    {
      std::scoped_lock lock(mutex_);
      if (bytes > segment_bytes_ || waiting_bytes_ + bytes > most_cache_waiting) {
        return cache_counts::add(files_->counts.refused);
      }
      waiting_bytes_ += bytes;
    }
    taken_back_unless_kept counted([&] {
      std::scoped_lock lock(mutex_);
      waiting_bytes_ -= bytes;
    });
    record fresh{.memory = memory_.acquire(static_cast<std::size_t>(bytes)),
                 .bytes = static_cast<std::size_t>(bytes),
                 .head = head,
                 .key = {key.names, key.generation, head.offset, head.length}};
    const bytes_span to = fresh.memory.span().first(fresh.bytes);
    const auto before = static_cast<std::size_t>(head.bytes_before_body());
    std::memcpy(to.data() + before, body.data(), body.size());
    std::memset(to.data() + before + body.size(), 0, to.size() - before - body.size());
    enqueue(std::move(fresh));
    counted.kept();
  });
  if (!added) cache_counts::add(files_->counts.refused);
}

DATAFLUX_INLINE void segment_writer::enqueue(record fresh) {
  std::scoped_lock lock(mutex_);
  waiting_.push_back(std::move(fresh));
  if (busy_) return;
  busy_ = true;
  step();
}

/// With the mutex held. Where there is no thread, what waits is refused.
DATAFLUX_INLINE void segment_writer::step() {
  if (!try_file_step([self = shared_from_this()] { self->work(); })) rest();
}

/// With the mutex held: what still waits is refused.
DATAFLUX_INLINE void segment_writer::rest() noexcept {
  for (const record& each : waiting_) waiting_bytes_ -= each.bytes;
  cache_counts::add(files_->counts.refused, waiting_.size());
  waiting_.clear();
  busy_ = false;
  idle_.notify_all();
}

DATAFLUX_INLINE void segment_writer::work() {
  {
    std::scoped_lock lock(mutex_);
    std::uint64_t bytes = 0;
    while (!waiting_.empty() && bytes < cache_step_bytes) {
      const bool moved = within_memory([&] { writing_.emplace_back(); });
      if (!moved) break;
      writing_.back() = std::move(waiting_.front());
      waiting_.pop_front();
      bytes += writing_.back().bytes;
    }
  }
  if (!within_memory([&] { write_all(); })) {
    cache_counts::add(files_->counts.refused, writing_.size());
  }
  std::scoped_lock lock(mutex_);
  for (const record& each : writing_) waiting_bytes_ -= each.bytes;
  const bool some = !writing_.empty();
  writing_.clear();
  if (some && !waiting_.empty()) return step();
  rest();
}

/// One that is being written may be in the index by now: who writes it looks again.
template <class Which>
void segment_writer::forget_those(Which which) noexcept {
  std::scoped_lock lock(mutex_);
  for (record& each : waiting_) each.forgotten = each.forgotten || which(each);
  for (record& each : writing_) each.forgotten = each.forgotten || which(each);
}

DATAFLUX_INLINE void segment_writer::forget(const cache_key& key) noexcept {
  forget_those([&](const record& each) {
    return each.key.same_object(key) && each.key.offset == key.offset &&
           each.key.length == key.length;
  });
}

DATAFLUX_INLINE void segment_writer::forget_object(const cache_key& any) noexcept {
  forget_those(
      [&](const record& each) { return !each.head.verified && each.key.same_object(any); });
}

DATAFLUX_INLINE void segment_writer::flush() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return !busy_; });
}

DATAFLUX_INLINE void segment_writer::refuse(const record& what) noexcept {
  cache_counts::add(files_->counts.refused);
  pause_ -= std::min<std::uint64_t>(pause_, what.bytes);
}

DATAFLUX_INLINE void segment_writer::give_up() noexcept {
  segment_ = {};
  pause_ = segment_bytes_;
}

DATAFLUX_INLINE void segment_writer::write_all() {
  for (std::size_t at = 0; at < writing_.size();) {
    if (!fits(writing_[at].bytes)) {
      refuse(writing_[at++]);
      continue;
    }
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    while (at + count < writing_.size() && count < cache_write_records &&
           written_ + bytes + writing_[at + count].bytes <= segment_bytes_) {
      bytes += writing_[at + count++].bytes;
    }
    if (!write(at, count)) cache_counts::add(files_->counts.refused, count);
    at += count;
  }
}

/// Whether so many bytes go into the segment, which is a new one if they did not fit into the last,
/// or if that was removed.
DATAFLUX_INLINE bool segment_writer::fits(std::uint64_t bytes) {
  struct stat facts {};
  const bool there = segment_ && ::fstat(segment_.descriptor(), &facts) == 0 && facts.st_nlink > 0;
  if (there && written_ + bytes <= segment_bytes_) return true;
  segment_ = {};
  return pause_ == 0 && begin_segment();
}

DATAFLUX_INLINE bool segment_writer::begin_segment() {
  std::uint32_t number = 1;
  const std::vector<segment_facts> there = segments_of(files_->folder.descriptor());
  for (const segment_facts& each : there) number = std::max(number, each.number + 1);
  cache_file fresh;
  constexpr int how = O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC;
  constexpr unsigned ours_alone = 0600;
  for (int attempt = 0; attempt < most_segment_attempts && number != 0; ++attempt, ++number) {
    fresh = cache_file(
        ::openat(files_->folder.descriptor(), segment_name(number).c_str(), how, ours_alone));
    if (fresh || errno != EEXIST) break;
  }
  struct stat facts {};
  if (!fresh || ::fstat(fresh.descriptor(), &facts) != 0) {
    cache_counts::add(files_->counts.errors);
    give_up();
    return false;
  }
  const cache_room room =
      make_room(files_->folder.descriptor(), there, files_->limits, segment_bytes_, facts.st_mtim);
  cache_counts::add(files_->counts.evicted, room.segments_removed);
  cache_counts::add(files_->counts.evicted_bytes, room.bytes_removed);
  if (!room.made) {
    ::unlinkat(files_->folder.descriptor(), segment_name(number).c_str(), 0);
    give_up();
    return false;
  }
  segment_ = std::move(fresh);
  number_ = number;
  written_ = 0;
  return true;
}

/// Writes records behind one another and then tells the index. What the disk takes in part only is
/// in no index; the segment ends there.
DATAFLUX_INLINE bool segment_writer::write(std::size_t first, std::size_t count) {
  std::array<::iovec, cache_write_records> pieces;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    record& each = writing_[first + i];
    if (!each.head.verified) {
      each.head.doubts = files_->index.doubts_of(each.key.doubts_hash(), true).count;
    }
    encode_cache_head(each.head, each.key.names, each.memory.span());
    pieces[i] = {each.memory.data(), each.bytes};
    bytes += each.bytes;
  }
  const auto begin = static_cast<::off_t>(written_);
  const ::ssize_t done =
      ::pwritev(segment_.descriptor(), pieces.data(), static_cast<int>(count), begin);
  if (done < 0 || static_cast<std::uint64_t>(done) != bytes) {
    cache_counts::add(files_->counts.errors);
    give_up();
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const record& each = writing_[first + i];
    tell_index(each, {number_, static_cast<std::uint32_t>(written_ / cache_alignment),
                      static_cast<std::uint32_t>(each.head.unpadded_bytes())});
    written_ += each.bytes;
  }
  return true;
}

/// What is forgotten meanwhile is taken back: forget() looks at the index after its own mark.
DATAFLUX_INLINE void segment_writer::tell_index(const record& written, const cache_place& place) {
  const std::uint64_t hash = written.key.hash();
  const bool put = files_->index.put(hash, place);
  std::unique_lock lock(mutex_);
  const bool forgotten = written.forgotten;
  lock.unlock();
  if (forgotten) files_->index.drop(hash, place);
  if (!put || forgotten) return cache_counts::add(files_->counts.refused);
  cache_counts::add(files_->counts.kept);
  cache_counts::add(files_->counts.kept_bytes, written.bytes);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
