#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/detail/config.hpp>
#include <dataflux/exec/detail/own_folder.hpp>
#include <dataflux/result.hpp>

#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

/// The files of a cache. They lie in a folder of their own below the one that users name, which
/// belongs to this user alone: what others put there would be served as objects. Its name has the
/// user's number, so that users with one disk do not meet.
///
/// A segment is a file of records, "1-" and eight hexadecimal digits, which one process writes and
/// all read. Its number is greater than all before. When it was last of use its time of
/// modification says, by the file system's clock; any process sets that. So nobody keeps a list: a
/// process that is killed leaves nothing undone.
///
/// Threads: any. All block for the disk.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// A descriptor, closed with it.
class cache_file {
 public:
  cache_file() noexcept = default;
  explicit cache_file(int descriptor) noexcept : descriptor_(descriptor) {}
  cache_file(cache_file&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  cache_file& operator=(cache_file&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~cache_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int descriptor() const noexcept { return descriptor_; }
  /// As pread(), of which it gives the result. If it may not block, only what the system has in
  /// memory.
  ::ssize_t read(bytes_span into, std::uint64_t at, bool may_block = true) const noexcept;
  /// What lies behind one another, into two places.
  ::ssize_t read(bytes_span into, bytes_span then, std::uint64_t at, bool may_block) const noexcept;
  explicit operator bool() const noexcept { return descriptor_ >= 0; }

 private:
  int descriptor_{-1};
};

/// Its path.
std::string cache_folder_path(const std::string& path);
/// The cache's own folder below `path`. `make`: both are made where they are missing.
/// Errors: those of the file system, with the path; failed_precondition: the file system is one of
/// several machines (NFS and its like), or the own folder is another user's or may be written to by
/// others; not_found.
result<cache_file> open_cache_folder(const std::string& path, bool make);

/// A segment, or nothing with errno.
std::string segment_name(std::uint32_t number);
cache_file open_segment(int folder, std::uint32_t number) noexcept;

/// Segments that reads which come together have open, closed with it: who keeps one for longer
/// keeps its disk from those who remove it.
class open_segments {
 public:
  /// As open_segment(), until the next call.
  const cache_file& of(int folder, std::uint32_t number) noexcept;

 private:
  static constexpr std::size_t most = 16;
  struct opened {
    std::uint32_t number{0};
    cache_file file{};
  };
  std::array<opened, most> there_{};
  std::size_t oldest_{0};
};

struct segment_facts {
  std::uint32_t number{0};
  std::uint64_t bytes{0};
  ::timespec used{};
};
/// Of all segments, in no order. Nothing where the folder cannot be read.
std::vector<segment_facts> segments_of(int folder);

/// How much a cache may hold.
struct cache_limits {
  std::uint64_t bytes{0};
  std::uint64_t min_free{0};  ///< of the file system
};

/// What make_room() did.
struct cache_room {
  bool made{false};
  std::uint64_t segments_removed{0};
  std::uint64_t bytes_removed{0};
};

/// Sees to it that `needed` bytes more than those of `there`, which are all segments, are within
/// the limits: segments that were of no use in the quarter of an hour before `now` are removed,
/// drawn by lot. Where there are too few of them no room is made: then what is there is of more use
/// than what would come.
///
/// By lot, since a training job reads what it has in one order again and again: if that is more
/// than the limit, the segment that was of no use for longest is the next one to be of use.
cache_room make_room(int folder, const std::vector<segment_facts>& there,
                     const cache_limits& limits, std::uint64_t needed, ::timespec now);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/cache/impl/cache_folder.ipp>
#endif
