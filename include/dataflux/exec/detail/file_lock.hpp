#pragma once

#include <dataflux/detail/config.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>

/// What open_locked and hidden_file share.
namespace dataflux::inline DATAFLUX_ABI::detail {

enum class lock_outcome : std::uint8_t {
  locked,
  taken,
  unsupported,  ///< the file system has no locks
};

/// Locks a file that is open for writing against all others that lock it so, of this process and
/// others, until the last descriptor of this opening is closed.
inline lock_outcome try_lock(int file) noexcept {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(file, F_OFD_SETLK, &whole) == 0) return lock_outcome::locked;
  return errno == EAGAIN || errno == EACCES ? lock_outcome::taken : lock_outcome::unsupported;
}

/// Whether an open file has the name `name` in the folder.
inline bool has_name(int file, int folder, const char* name) noexcept {
  struct stat named {};
  struct stat opened {};
  return ::fstat(file, &opened) == 0 && ::fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

/// Whether it is a regular file that has one name.
inline bool is_plain_file(int file) noexcept {
  struct stat facts {};
  return ::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_nlink == 1;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
