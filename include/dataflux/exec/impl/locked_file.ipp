#pragma once

#include <dataflux/exec/detail/locked_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What is there, or one that is made: an empty file of ours, which nobody else has open. `made`
/// says which.
inline int open_or_make(int folder, const char* name, unsigned mode, bool& made) noexcept {
  constexpr int how = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const int there = ::openat(folder, name, how);
  made = there < 0 && errno == ENOENT;
  return made ? ::openat(folder, name, how | O_CREAT | O_EXCL, mode) : there;
}

/// Whether it was made by this user, for whom `mode` allows. Whoever made a file himself keeps it
/// open, or is let in by its bits, and changes what we write later.
inline bool is_own_file(int file, unsigned mode) noexcept {
  struct stat facts {};
  constexpr unsigned others_write = S_IWGRP | S_IWOTH;
  return ::fstat(file, &facts) == 0 && facts.st_uid == ::geteuid() &&
         (facts.st_mode & others_write & ~mode) == 0;
}

DATAFLUX_INLINE int open_locked(int folder, const std::string& name, unsigned mode) noexcept {
  constexpr int most_attempts = 8;  // it may be removed, and be there again, time after time
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    bool made = false;
    const int file = open_or_make(folder, name.c_str(), mode, made);
    if (file < 0 && made && errno == EEXIST) continue;  // another one was faster
    // A link, or a file that we may not open.
    const bool foreign = file < 0 && !made && (errno == ELOOP || errno == EACCES || errno == ENXIO);
    if (foreign && ::unlinkat(folder, name.c_str(), 0) == 0) continue;
    if (file < 0) return -1;
    if (try_lock(file) == lock_outcome::taken) {
      ::close(file);  // another user's, too: he may be at work
      errno = EWOULDBLOCK;
      return -1;
    }
    const bool same = has_name(file, folder, name.c_str());
    if (same && is_plain_file(file) && (made || is_own_file(file, mode))) {
      return file;
    }
    ::close(file);
    // A second name of somebody's file, or no file of ours at all.
    if (same && ::unlinkat(folder, name.c_str(), 0) != 0) return -1;
  }
  errno = EBUSY;
  return -1;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
