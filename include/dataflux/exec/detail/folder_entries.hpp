#pragma once

#include <dataflux/detail/config.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The entries of an open folder, "." and ".." among them, in no order. False, with errno: it
/// cannot be read.
class folder_entries {
 public:
  /// It has a descriptor of its own, since closedir() closes the one that it was given.
  explicit folder_entries(int folder) noexcept {
    const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (again < 0) return;
    open_.reset(::fdopendir(again));
    if (open_ != nullptr) return;
    const int why = errno;
    ::close(again);
    errno = why;
  }
  explicit operator bool() const noexcept { return open_ != nullptr; }
  /// Null at the end, where errno is 0, and where the folder cannot be read. Valid until the next.
  const ::dirent* next() noexcept {
    errno = 0;
    return ::readdir(open_.get());
  }

 private:
  struct closer {
    void operator()(::DIR* open) const noexcept { ::closedir(open); }
  };
  std::unique_ptr<::DIR, closer> open_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
