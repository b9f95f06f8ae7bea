#pragma once

#include <dataflux/exec/detail/file_lock.hpp>
#include <dataflux/exec/detail/locked_file.hpp>

#include <fcntl.h>
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
    if (detail::try_lock(file) == detail::lock_outcome::taken) {
      ::close(file);
      errno = EWOULDBLOCK;
      return -1;
    }
    const bool same = detail::has_name(file, folder, name.c_str());
    if (same && detail::is_plain_file(file)) return file;
    ::close(file);
    // A second name of somebody's file, or no file at all.
    if (same && ::unlinkat(folder, name.c_str(), 0) != 0) return -1;
  }
  errno = EBUSY;
  return -1;
}

}  // namespace dataflux::inline DATAFLUX_ABI
