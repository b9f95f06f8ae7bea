#pragma once

#include <dataflux/detail/hexadecimal.hpp>
#include <dataflux/detail/unique_name.hpp>
#include <dataflux/exec/detail/file_place.hpp>
#include <dataflux/exec/detail/folder_entries.hpp>
#include <dataflux/exec/detail/hidden_file.hpp>
#include <dataflux/exec/detail/locked_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::string_view hidden_prefix = ".dataflux-";
/// Names that others have meanwhile; more than a few mean that something else is wrong.
inline constexpr int most_hidden_names = 16;

struct hidden_names {
  /// ".dataflux-", what tells this machine since its start from all others, '-'; empty where the
  /// system does not say.
  static const std::string& here() {
    static const std::string prefix = prefix_of_this_machine();
    return prefix;
  }

  /// Drawn anew each time, so that the child of a fork has others than its parent.
  static std::string draw() {
    std::string name = here();
    if (name.empty())
      name = hashed_name(hidden_prefix, std::to_string(system_entropy::bits())) + '-';
    return name += std::to_string(system_entropy::bits());
  }

 private:
  static std::string prefix_of_this_machine() {
    const int file = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    char id[64];
    const ssize_t length = ::read(file, id, sizeof id);
    ::close(file);
    if (length <= 0) return {};
    return hashed_name(hidden_prefix, {id, static_cast<std::size_t>(length)}) + '-';
  }
};

/// What killed processes have left in a folder.
class hidden_file_sweep {
 public:
  /// `fresh`: a file that was made in it just now, which tells the time there.
  static void first_in(int folder, int fresh) {
    struct stat made {};
    if (::fstat(fresh, &made) != 0 || !is_first(folder)) return;
    hidden_file_sweep(folder, made.st_mtime).run();
  }

 private:
  static constexpr ::time_t foreign_age = ::time_t{24} * 60 * 60;

  hidden_file_sweep(int folder, ::time_t now) noexcept : folder_(folder), now_(now) {}

  /// A table without locks, since the child of a fork asks, too. Two folders may share a place in
  /// it: then one is checked again.
  static bool is_first(int folder) noexcept {
    constexpr std::size_t places = 4096;
    static std::array<std::atomic<std::uint64_t>, places> seen{};
    struct statx facts {};
    if (::statx(folder, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &facts) != 0) return false;
    // A folder that is removed may leave its number to another.
    std::uint64_t id = 1;
    for (const std::uint64_t part :
         {std::uint64_t{facts.stx_dev_major} << 32U | facts.stx_dev_minor,
          std::uint64_t{facts.stx_ino}, static_cast<std::uint64_t>(facts.stx_btime.tv_sec),
          std::uint64_t{facts.stx_btime.tv_nsec}}) {
      id = (id ^ part) * 0x9e3779b97f4a7c15U;
      id ^= id >> 32U;
    }
    return seen[id % places].exchange(id, std::memory_order_relaxed) != id;
  }

  void run() const {
    folder_entries entries(folder_);
    if (!entries) return;
    while (const ::dirent* entry = entries.next()) {
      if (is_hidden_file_name(entry->d_name)) remove_if_left(entry->d_name);
    }
  }

  /// Whose lock it gets is left, unless the file was published or removed meanwhile.
  void remove_if_left(const char* name) const {
    constexpr int how = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    const int file = ::openat(folder_, name, how);
    if (file < 0) return;
    if (try_lock(file) == lock_outcome::locked && has_name(file, folder_, name) &&
        is_plain_file(file) && is_ours_to_remove(file, name)) {
      ::unlinkat(folder_, name, 0);
    }
    ::close(file);
  }

  bool is_ours_to_remove(int file, std::string_view name) const {
    const std::string& here = hidden_names::here();
    if (!here.empty() && name.starts_with(here)) return true;
    struct stat facts {};
    return ::fstat(file, &facts) == 0 && now_ - facts.st_mtime >= foreign_age;
  }

  int folder_;
  ::time_t now_;
};

DATAFLUX_INLINE bool is_hidden_file_name(std::string_view name) noexcept {
  if (!name.starts_with(hidden_prefix)) return false;
  name.remove_prefix(hidden_prefix.size());
  const auto dash = name.find('-');
  if (dash == std::string_view::npos || dash == 0 || dash + 1 == name.size()) return false;
  return is_hex(name.substr(0, dash)) &&
         name.find_first_not_of("0123456789", dash + 1) == std::string_view::npos;
}

DATAFLUX_INLINE result<void> check_published_name(std::string_view name, const std::string& path) {
  if (!is_hidden_file_name(name)) return {};
  return error(errc::invalid_argument,
               "'" + path +
                   "' is a name of the files that are hidden until they are whole, and would be "
                   "swept with those; choose another one");
}

DATAFLUX_INLINE result<void> check_replaced(int folder, const std::string& name,
                                            const std::string& path) {
  struct stat there {};
  if (::fstatat(folder, name.c_str(), &there, 0) != 0) return {};
  if (S_ISREG(there.st_mode) || S_ISDIR(there.st_mode)) return {};
  return error(errc::invalid_argument,
               "cannot replace '" + path +
                   "': it is a device, a FIFO or a socket, and no file; name another path");
}

DATAFLUX_INLINE hidden_file::hidden_file(hidden_file&& other) noexcept
    : folder_(other.folder_),
      file_(std::exchange(other.file_, -1)),
      named_(other.named_),
      hidden_(std::exchange(other.hidden_, {})) {}

DATAFLUX_INLINE hidden_file& hidden_file::operator=(hidden_file&& other) noexcept {
  if (this == &other) return *this;
  discard();
  folder_ = other.folder_;
  file_ = std::exchange(other.file_, -1);
  named_ = other.named_;
  hidden_ = std::exchange(other.hidden_, {});
  return *this;
}

DATAFLUX_INLINE void hidden_file::discard() noexcept {
  if (!hidden_.empty()) ::unlinkat(folder_, hidden_.c_str(), 0);  // before others may lock it
  hidden_.clear();
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

DATAFLUX_INLINE bool hidden_file::create(int folder, unsigned mode, form wanted) {
  discard();
  folder_ = folder;
  named_ = false;
  // Whatever refuses the one form, the other says why.
  if (wanted == form::unnamed && create_unnamed(mode)) return true;
  return create_named(mode);
}

DATAFLUX_INLINE std::string hidden_file::path_of_descriptor() const {
  return "/proc/self/fd/" + std::to_string(file_);
}

DATAFLUX_INLINE bool hidden_file::create_unnamed(unsigned mode) {
  file_ = ::openat(folder_, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
  if (file_ < 0) return false;
  struct stat facts {};
  if (::stat(path_of_descriptor().c_str(), &facts) == 0) return true;
  ::close(std::exchange(file_, -1));  // its link would have no way
  return false;
}

DATAFLUX_INLINE bool hidden_file::create_named(unsigned mode) {
  for (int attempt = 0; attempt < most_hidden_names; ++attempt) {
    if (!open(folder_, hidden_names::draw(), mode)) {
      if (errno != EWOULDBLOCK) return false;  // another has just drawn it, or checks it
      continue;
    }
    hidden_file_sweep::first_in(folder_, file_);
    return true;
  }
  return false;
}

DATAFLUX_INLINE bool hidden_file::open(int folder, std::string name, unsigned mode) {
  discard();
  folder_ = folder;
  file_ = open_locked(folder, name, mode);
  if (file_ < 0) return false;
  named_ = true;
  hidden_ = std::move(name);
  return true;
}

DATAFLUX_INLINE bool hidden_file::link_to(const std::string& name) const {
  return ::linkat(AT_FDCWD, path_of_descriptor().c_str(), folder_, name.c_str(),
                  AT_SYMLINK_FOLLOW) == 0;
}

/// Says whether all that was written is stored. Some file systems say at a close that it did not
/// fit; a lock stays with the file.
DATAFLUX_INLINE bool hidden_file::settle(bool flush) const noexcept {
  if (flush && ::fsync(file_) != 0) return false;
  const int again = ::fcntl(file_, F_DUPFD_CLOEXEC, 0);
  return again >= 0 && ::close(again) == 0;
}

DATAFLUX_INLINE bool hidden_file::copy_content_to(int file) const noexcept {
  constexpr std::size_t most_at_once = std::size_t{1} << 30U;
  ::off64_t at = 0;
  while (true) {
    const ssize_t copied = ::copy_file_range(file_, &at, file, nullptr, most_at_once, 0);
    if (copied == 0) return true;
    if (copied < 0 && errno != EINTR) return false;
  }
}

/// Some systems give files without names and refuse their links, which cannot be known before.
DATAFLUX_INLINE bool hidden_file::copy_to_named(bool flush) {
  struct stat facts {};
  hidden_file copy;
  if (::fstat(file_, &facts) != 0 || !copy.create(folder_, facts.st_mode & 0777U, form::named) ||
      !copy_content_to(copy.file_) || !copy.settle(flush)) {
    return false;
  }
  *this = std::move(copy);
  return true;
}

DATAFLUX_INLINE bool hidden_file::give_hidden_name(bool flush) {
  static_cast<void>(try_lock(file_));  // without locks nobody removes it either
  for (int attempt = 0; attempt < most_hidden_names; ++attempt) {
    std::string name = hidden_names::draw();
    if (!link_to(name)) {
      if (errno == EEXIST) continue;
      if (errno == ENOENT || errno == ENOSPC || errno == EDQUOT || errno == EROFS) return false;
      return copy_to_named(flush);
    }
    named_ = true;
    hidden_ = std::move(name);
    hidden_file_sweep::first_in(folder_, file_);
    return true;
  }
  return false;
}

DATAFLUX_INLINE bool hidden_file::rename_to(const std::string& name, bool over) const {
  if (over) return ::renameat(folder_, hidden_.c_str(), folder_, name.c_str()) == 0;
  if (::renameat2(folder_, hidden_.c_str(), folder_, name.c_str(), RENAME_NOREPLACE) == 0) {
    return true;
  }
  // Not all file systems know that.
  if (errno != EINVAL && errno != ENOSYS) return false;
  if (::linkat(folder_, hidden_.c_str(), folder_, name.c_str(), 0) != 0) return false;
  ::unlinkat(folder_, hidden_.c_str(), 0);
  return true;
}

DATAFLUX_INLINE bool hidden_file::write(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

DATAFLUX_INLINE bool hidden_file::publish(const std::string& name, bool flush) {
  return publish(name, flush, true);
}

DATAFLUX_INLINE bool hidden_file::publish_new(const std::string& name, bool flush) {
  return publish(name, flush, false);
}

DATAFLUX_INLINE bool hidden_file::publish(const std::string& name, bool flush, bool over) {
  if (!settle(flush)) return false;
  if (named_ || !link_to(name)) {
    if (!named_ && !over && errno == EEXIST) return false;
    if (!named_ && !give_hidden_name(flush)) return false;
    if (!rename_to(name, over)) return false;
  }
  named_ = true;
  hidden_.clear();
  if (flush) flush_folder(folder_);
  return true;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
