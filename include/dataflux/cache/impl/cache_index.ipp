#pragma once

#include <dataflux/cache/detail/cache_index.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/exec/detail/hidden_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <span>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Before the buckets, so that none of them crosses a page.
inline constexpr std::uint64_t cache_index_head_bytes = 4096;
inline constexpr std::uint64_t bytes_per_place = 8192;
inline constexpr std::uint64_t least_buckets = 256;
inline constexpr std::uint64_t most_buckets = 4U << 20U;

struct cache_index_head {
  std::uint64_t magic{0x32786469636664};  ///< "dfcidx2"
  std::uint64_t buckets{0};
  std::uint32_t checksum{0};
  std::uint32_t spare{0};

  std::uint32_t right_checksum() const noexcept {
    const auto covered = std::as_bytes(std::span(&magic, 1));
    return crc32c_extend(crc32c(covered), std::as_bytes(std::span(&buckets, 1)));
  }
};

DATAFLUX_INLINE void cache_index::open(int folder, std::uint64_t cache_bytes) noexcept {
  const std::uint64_t places = cache_bytes / bytes_per_place;
  const std::uint64_t wanted =
      std::bit_ceil(std::clamp(places / bucket_places, least_buckets, most_buckets));
  if (open_known(folder) && !is_small_for(wanted)) return;
  within_memory([&] {
    // Another process may have made it at the same moment.
    if (!make(folder, wanted)) open_known(folder);
  });
}

DATAFLUX_INLINE bool cache_index::is_small_for(std::uint64_t wanted) const noexcept {
  return buckets_ < wanted / 4;
}

DATAFLUX_INLINE bool cache_index::open_known(int folder) noexcept {
  cache_file file(::openat(folder, cache_index_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file) {  // where nothing may be written, what is there can be read all the same
    file = cache_file(
        ::openat(folder, cache_index_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  }
  cache_index_head head;
  struct stat facts {};
  if (!file || ::fstat(file.descriptor(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  const auto bytes = std::as_writable_bytes(std::span(&head, 1));
  if (file.read(bytes, 0) != ::ssize_t{sizeof head}) return false;
  if (head.magic != cache_index_head().magic || head.checksum != head.right_checksum()) {
    return false;
  }
  if (!std::has_single_bit(head.buckets) || head.buckets > most_buckets) return false;
  const std::uint64_t size = cache_index_head_bytes + head.buckets * sizeof(bucket);
  if (static_cast<std::uint64_t>(facts.st_size) != size) return false;
  file_ = std::move(file);
  buckets_ = head.buckets;
  return true;
}

DATAFLUX_INLINE bool cache_index::make(int folder, std::uint64_t buckets) {
  hidden_file fresh;
  constexpr unsigned ours_alone = 0600;
  if (!fresh.create(folder, ours_alone)) return false;
  cache_index_head head;
  head.buckets = buckets;
  head.checksum = head.right_checksum();
  const auto size = static_cast<::off_t>(cache_index_head_bytes + buckets * sizeof(bucket));
  const int file = fresh.descriptor();
  if (::pwrite(file, &head, sizeof head, 0) != ::ssize_t{sizeof head}) return false;
  if (::ftruncate(file, size) != 0) return false;
  // What is there is damaged or too small, or else a process was faster.
  if (!fresh.publish_new(cache_index_name, false)) {
    if (errno != EEXIST) return false;
    if (open_known(folder) && !is_small_for(buckets)) return true;
    if (!fresh.publish(cache_index_name, false)) return false;
  }
  return open_known(folder);
}

DATAFLUX_INLINE std::uint64_t cache_index::begin_of(std::uint64_t hash) const noexcept {
  return cache_index_head_bytes + (hash & (buckets_ - 1)) * sizeof(bucket);
}

DATAFLUX_INLINE cache_index::outcome cache_index::read(std::uint64_t hash, bucket& into,
                                                       bool may_block) const noexcept {
  if (!usable()) return outcome::failed;
  const ::ssize_t got =
      file_.read(std::as_writable_bytes(std::span(into)), begin_of(hash), may_block);
  if (got == ::ssize_t{sizeof into}) return outcome::read;
  return may_block ? outcome::failed : outcome::blocks;
}

DATAFLUX_INLINE bool cache_index::write(std::uint64_t hash, std::size_t which,
                                        const slot& value) const noexcept {
  const auto at = static_cast<::off_t>(begin_of(hash) + which * sizeof value);
  return ::pwrite(file_.descriptor(), &value, sizeof value, at) == ::ssize_t{sizeof value};
}

DATAFLUX_INLINE cache_index::found cache_index::find(std::uint64_t hash,
                                                     bool may_block) const noexcept {
  found all;
  bucket known;
  const outcome got = read(hash, known, may_block);
  all.blocks = got == outcome::blocks;
  if (got != outcome::read) return all;
  for (const slot& each : known) {
    const std::uint32_t segment = each.place.segment;
    if (each.tag != tag_of(hash) || segment == 0 || segment == doubts_segment) continue;
    if (all.count == all.places.size()) break;
    all.places[all.count++] = each.place;
  }
  return all;
}

/// The place with the least segment is the one that goes; doubts stay.
DATAFLUX_INLINE bool cache_index::put(std::uint64_t hash, const cache_place& place) const noexcept {
  bucket known;
  if (read(hash, known, true) != outcome::read) return false;
  const auto least = [](const slot& a, const slot& b) { return a.place.segment < b.place.segment; };
  const auto at = std::min_element(known.begin(), known.end(), least);
  return write(hash, static_cast<std::size_t>(at - known.begin()), {tag_of(hash), place});
}

DATAFLUX_INLINE void cache_index::drop(std::uint64_t hash,
                                       const cache_place& place) const noexcept {
  bucket known;
  if (read(hash, known, true) != outcome::read) return;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i].place == place) write(hash, i, {});
  }
}

DATAFLUX_INLINE const cache_index::slot* cache_index::doubts_in(const bucket& known,
                                                                std::uint64_t hash) noexcept {
  for (const slot& each : known) {
    if (each.tag == tag_of(hash) && each.place.segment == doubts_segment) return &each;
  }
  return nullptr;
}

DATAFLUX_INLINE cache_index::doubts cache_index::doubts_of(std::uint64_t hash,
                                                           bool may_block) const noexcept {
  bucket known;
  const outcome got = read(hash, known, may_block);
  if (got != outcome::read) return {.blocks = got == outcome::blocks};
  const slot* const there = doubts_in(known, hash);
  return {.count = static_cast<std::uint16_t>(there == nullptr ? 0 : there->place.offset)};
}

DATAFLUX_INLINE void cache_index::doubt(std::uint64_t hash) const noexcept {
  bucket known;
  if (read(hash, known, true) != outcome::read) return;
  const slot* const there = doubts_in(known, hash);
  // Another number than before is all that counts; 0 is that of who was never doubted.
  const auto next = static_cast<std::uint16_t>(there == nullptr ? 1 : there->place.offset + 1);
  const cache_place place{doubts_segment, std::max<std::uint32_t>(next, 1), 0};
  if (there == nullptr) {
    put(hash, place);
  } else {
    write(hash, static_cast<std::size_t>(there - known.data()), {tag_of(hash), place});
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
