#pragma once

#include <dataflux/detail/config.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <string>

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

/// Ends the lock at once, although a forked child has the file open, too.
inline void unlock(int file) noexcept {
  struct flock whole {};
  whole.l_type = F_UNLCK;
  whole.l_whence = SEEK_SET;
  static_cast<void>(::fcntl(file, F_OFD_SETLK, &whole));
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

/// Opens the file `name` of an open folder for reading and writing, and makes it if it is missing.
/// The file is locked against all other such calls, of this process and others, until its last
/// descriptor is closed. It is for state that one call leaves for the next. A call that removes the
/// file does so before it closes it.
///
/// The name is one that only we use, but others may have put something there: a link, a second name
/// of somebody's file, a pipe, a file of another user, or one that more may write to than `mode`
/// lets. That is removed, and never read or written to. A file system without locks leaves it to
/// the caller that there is one call at a time. One that names another owner than who has made a
/// file keeps nothing from call to call.
///
/// Gives a descriptor, or -1 with errno: EWOULDBLOCK when another call has it, of any user; EPERM
/// or EACCES when what others have put there cannot be removed. Blocks for the disk.
int open_locked(int folder, const std::string& name, unsigned mode) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/exec/impl/locked_file.ipp>
#endif
