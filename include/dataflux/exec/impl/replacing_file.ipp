#pragma once

#include <dataflux/detail/file_error.hpp>
#include <dataflux/exec/detail/file_place.hpp>
#include <dataflux/exec/detail/replacing_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE replacing_file::~replacing_file() {
  file_ = {};  // while its folder is open
  if (folder_ >= 0) ::close(folder_);
}

DATAFLUX_INLINE result<void> replacing_file::fail(const char* what) const {
  return file_error(errno, what, path_);
}

DATAFLUX_INLINE result<void> replacing_file::create() {
  const file_place place = file_place::of(path_);
  name_ = place.name;
  if (name_.empty()) {
    return error{errc::invalid_argument, "'" + path_ + "' names no file; write PATH/NAME"};
  }
  if (auto good = check_published_name(name_, path_); !good) return good;
  folder_ = open_folder(place.folder);
  if (folder_ < 0) return fail("create a file beside");
  struct stat there {};
  if (::fstatat(folder_, name_.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISDIR(there.st_mode)) {
    errno = EISDIR;
    return fail("replace");
  }
  if (auto good = check_replaced(folder_, name_, path_); !good) return good;
  if (!file_.create(folder_, mode_)) return fail("create a file beside");
  return {};
}

DATAFLUX_INLINE result<void> replacing_file::write(std::string_view bytes) {
  if (!file_.write(bytes)) return fail("write");
  return {};
}

DATAFLUX_INLINE result<void> replacing_file::put_in_place() {
  if (!file_.publish(name_, true)) return fail("replace");
  return {};
}

DATAFLUX_INLINE result<void> replacing_file::put_in_free_place() {
  if (file_.publish_new(name_, true)) return {};
  if (errno != EEXIST) return fail("create");
  return error{errc::failed_precondition,
               "'" + path_ + "' was made by another program meanwhile; it is not replaced"};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
