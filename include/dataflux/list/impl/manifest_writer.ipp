#pragma once

#include <dataflux/detail/file_error.hpp>
#include <dataflux/exec/detail/file_place.hpp>
#include <dataflux/exec/detail/hidden_file.hpp>
#include <dataflux/list/detail/manifest_encoder.hpp>
#include <dataflux/list/manifest.hpp>

#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// A hidden_file beside the path, whose name it gets.
class replacing_file {
 public:
  explicit replacing_file(const std::string& path) : path_(path) {}
  replacing_file(const replacing_file&) = delete;
  replacing_file& operator=(const replacing_file&) = delete;
  ~replacing_file() {
    file_ = {};  // while its folder is open
    if (folder_ >= 0) ::close(folder_);
  }

  result<void> create();
  result<void> write(std::string_view bytes);
  result<void> put_in_place();

 private:
  result<void> fail(const char* what) const { return file_error(errno, what, path_); }

  const std::string& path_;
  std::string name_{};
  int folder_{-1};
  hidden_file file_{};
};

DATAFLUX_INLINE result<void> replacing_file::create() {
  const file_place place = file_place::of(path_);
  name_ = place.name;
  if (auto good = check_published_name(name_, path_); !good) return good;
  folder_ = open_folder(place.folder);
  if (folder_ < 0 || !file_.create(folder_, 0666)) return fail("create a file beside");
  return {};
}

DATAFLUX_INLINE result<void> replacing_file::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.descriptor(), bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return fail("write");
    }
  }
  return {};
}

DATAFLUX_INLINE result<void> replacing_file::put_in_place() {
  if (!file_.publish(name_, true)) return fail("replace");
  return {};
}

}  // namespace detail

DATAFLUX_INLINE result<void> save_manifest(const std::string& path,
                                           const manifest_description& description,
                                           const object_columns& rows) {
  detail::manifest_encoder encoder{description, rows};
  detail::replacing_file file{path};
  if (auto made = file.create(); !made) return made;
  std::string piece;
  while (!encoder.done()) {
    piece.clear();
    if (auto good = encoder.append_to(piece); !good) return good;
    if (auto good = file.write(piece); !good) return good;
  }
  return file.put_in_place();
}

}  // namespace dataflux::inline DATAFLUX_ABI
