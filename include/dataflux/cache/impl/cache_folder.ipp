#pragma once

#include <dataflux/cache/detail/cache_folder.hpp>
#include <dataflux/detail/file_error.hpp>
#include <dataflux/detail/hexadecimal.hpp>
#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/detail/unique_name.hpp>
#include <dataflux/exec/detail/folder_entries.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>

#include <cerrno>
#include <charconv>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::string_view segment_prefix = "1-";
inline constexpr std::size_t segment_digits = 8;
/// Of no use for so long: a segment may be removed.
inline constexpr ::time_t cache_idle_seconds = 15L * 60;

DATAFLUX_INLINE ::ssize_t cache_file::read(bytes_span into, std::uint64_t at,
                                           bool may_block) const noexcept {
  ::iovec to{into.data(), into.size()};
  return ::preadv2(descriptor_, &to, 1, static_cast<::off_t>(at), may_block ? 0 : RWF_NOWAIT);
}

DATAFLUX_INLINE ::ssize_t cache_file::read(bytes_span into, bytes_span then, std::uint64_t at,
                                           bool may_block) const noexcept {
  const std::array<::iovec, 2> to{{{into.data(), into.size()}, {then.data(), then.size()}}};
  return ::preadv2(descriptor_, to.data(), 2, static_cast<::off_t>(at), may_block ? 0 : RWF_NOWAIT);
}

inline std::string cache_folder_name() {
  return std::string("dataflux-cache-").append(std::to_string(::geteuid()));
}

DATAFLUX_INLINE std::string cache_folder_path(const std::string& path) {
  return path + "/" + cache_folder_name();
}

DATAFLUX_INLINE result<cache_file> open_cache_folder(const std::string& path, bool make) {
  const std::string name = cache_folder_name();
  auto folder = open_own_folder({.path = path,
                                 .name = name,
                                 .refused = S_IWGRP | S_IWOTH,
                                 .why = "write there: what they put there would be served"},
                                make);
  if (!folder) return std::move(folder).error();
  return cache_file(*folder);
}

DATAFLUX_INLINE std::string segment_name(std::uint32_t number) {
  std::string name(segment_prefix);
  append_hex(name, number, segment_digits);
  return name;
}

DATAFLUX_INLINE cache_file open_segment(int folder, std::uint32_t number) noexcept {
  cache_file opened;
  within_memory([&] {
    // Whatever lies there, such as a pipe, makes nobody wait.
    opened = cache_file(::openat(folder, segment_name(number).c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  });
  return opened;
}

DATAFLUX_INLINE const cache_file& open_segments::of(int folder, std::uint32_t number) noexcept {
  for (const opened& each : there_) {
    if (each.number == number && each.file) return each.file;
  }
  opened& place = there_[oldest_++ % most];
  place.file = open_segment(folder, number);
  place.number = number;
  return place.file;
}

/// 0: it is no segment's.
inline std::uint32_t segment_number(std::string_view name) noexcept {
  if (!name.starts_with(segment_prefix)) return 0;
  name.remove_prefix(segment_prefix.size());
  std::uint32_t number = 0;
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number, 16);
  const bool all = failed == std::errc() && end == name.data() + name.size();
  return all && name.size() == segment_digits ? number : 0;
}

DATAFLUX_INLINE std::vector<segment_facts> segments_of(int folder) {
  std::vector<segment_facts> all;
  folder_entries entries(folder);
  if (!entries) return all;
  while (const ::dirent* entry = entries.next()) {
    const std::uint32_t number = segment_number(entry->d_name);
    struct stat facts {};
    if (number == 0 || ::fstatat(folder, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(facts.st_mode)) {
      all.push_back({number, static_cast<std::uint64_t>(facts.st_size), facts.st_mtim});
    }
  }
  return all;
}

DATAFLUX_INLINE cache_room make_room(int folder, const std::vector<segment_facts>& there,
                                     const cache_limits& limits, std::uint64_t needed,
                                     ::timespec now) {
  cache_room room;
  struct statfs facts {};
  if (::fstatfs(folder, &facts) != 0) return room;
  std::uint64_t free = facts.f_bavail * static_cast<std::uint64_t>(facts.f_bsize);
  std::uint64_t held = needed;
  std::vector<segment_facts> idle;
  for (const segment_facts& each : there) {
    held += each.bytes;
    if (now.tv_sec - each.used.tv_sec >= cache_idle_seconds) idle.push_back(each);
  }
  const auto is_enough = [&] {
    return held <= limits.bytes && free >= needed && free - needed >= limits.min_free;
  };
  while (!is_enough() && !idle.empty()) {
    std::swap(idle[system_entropy::bits() % idle.size()], idle.back());
    const segment_facts gone = idle.back();
    idle.pop_back();
    if (::unlinkat(folder, segment_name(gone.number).c_str(), 0) != 0 && errno != ENOENT) continue;
    held -= gone.bytes;
    free += gone.bytes;
    ++room.segments_removed;
    room.bytes_removed += gone.bytes;
  }
  room.made = is_enough();
  return room;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
