#pragma once

#include <dataflux/detail/config.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <string>

/// Where a file is: a folder, and a name in it.
namespace dataflux::inline DATAFLUX_ABI::detail {

struct file_place {
  std::string folder{};  ///< with its slash, or "."
  std::string name{};

  static file_place of(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return {".", path};
    return {path.substr(0, slash + 1), path.substr(slash + 1)};
  }
};

/// For what is opened, renamed and removed relative to it, so that what is renamed or linked
/// meanwhile leads nowhere else. -1 with errno.
inline int open_folder(const std::string& path) noexcept {
  return ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/// Names in it outlive a loss of power then. A file system that cannot flush a folder keeps its own
/// promises.
inline void flush_folder(int folder) noexcept {
  const int readable = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (readable < 0) return;
  static_cast<void>(::fsync(readable));
  ::close(readable);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
