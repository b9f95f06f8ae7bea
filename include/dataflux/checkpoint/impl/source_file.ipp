#pragma once

#include <dataflux/checkpoint/detail/source_file.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/detail/file_error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What is read is checksummed while it is in the second-level cache.
inline constexpr std::uint64_t read_at_once = 256U << 10U;

inline std::int64_t time_of(const struct ::stat& facts) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  return facts.st_mtim.tv_sec * second + facts.st_mtim.tv_nsec;
}

DATAFLUX_INLINE source_file::~source_file() {
  if (file_ >= 0) ::close(file_);
}

DATAFLUX_INLINE result<void> source_file::open(const std::string& path, int folder) {
  path_ = path;
  const auto slash = path.rfind('/');
  const std::string name = folder < 0 || slash == std::string::npos ? path : path.substr(slash + 1);
  // Not to wait for the other end of a pipe.
  constexpr int how = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  file_ = ::openat(folder < 0 ? AT_FDCWD : folder, name.c_str(), how);
  if (file_ < 0) return file_error(errno, "open", path);
  struct stat facts {};
  if (::fstat(file_, &facts) != 0) return file_error(errno, "open", path);
  if (!S_ISREG(facts.st_mode)) {
    return error(errc::invalid_argument, "'" + path +
                                             "' is no regular file: a folder goes up by "
                                             "upload_folder, and what a pipe gives by a writer");
  }
  size_ = static_cast<std::uint64_t>(facts.st_size);
  modified_ = time_of(facts);
  inode_ = facts.st_ino;
  return {};
}

DATAFLUX_INLINE error source_file::changed() const {
  return error(errc::aborted, "'" + path_ + "' was changed while it was read").with_retryable(true);
}

DATAFLUX_INLINE result<std::uint32_t> source_file::read(std::uint64_t offset, std::uint64_t length,
                                                        bytes_span into, std::uint32_t crc) const {
  for (std::uint64_t done = 0; done < length;) {
    const std::uint64_t at = done % into.size();
    const auto some = into.subspan(
        static_cast<std::size_t>(at),
        static_cast<std::size_t>(std::min({read_at_once, length - done, into.size() - at})));
    const ssize_t count =
        ::pread(file_, some.data(), some.size(), static_cast<::off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_error(errno, "read", path_);
    if (count == 0) return changed();
    crc = crc32c_extend(crc, some.first(static_cast<std::size_t>(count)));
    done += static_cast<std::uint64_t>(count);
  }
  return crc;
}

DATAFLUX_INLINE result<void> source_file::unchanged() const {
  struct stat facts {};
  if (::fstat(file_, &facts) != 0) return file_error(errno, "read", path_);
  const bool same =
      static_cast<std::uint64_t>(facts.st_size) == size_ && time_of(facts) == modified_;
  return same ? result<void>() : changed();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
