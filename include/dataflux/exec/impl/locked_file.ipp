#pragma once

#include <dataflux/exec/locked_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE int open_locked(int folder, const std::string& name, unsigned mode) noexcept {
  constexpr int how = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  constexpr int most_attempts = 8;  // it may be removed, and be there again, time after time
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const int file = ::openat(folder, name.c_str(), how, mode);
    if (file < 0 && errno == ELOOP && ::unlinkat(folder, name.c_str(), 0) == 0) continue;
    if (file < 0) return -1;
    struct stat named {};
    struct stat opened {};
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (::fcntl(file, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES)) {
      ::close(file);
      errno = EWOULDBLOCK;
      return -1;
    }
    const bool same = ::fstat(file, &opened) == 0 &&
                      ::fstatat(folder, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                      named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
    if (same && S_ISREG(opened.st_mode) && opened.st_nlink == 1) return file;
    ::close(file);
    // A second name of somebody's file, or no file at all.
    if (same && ::unlinkat(folder, name.c_str(), 0) != 0) return -1;
  }
  errno = EBUSY;
  return -1;
}

}  // namespace dataflux::inline DATAFLUX_ABI
