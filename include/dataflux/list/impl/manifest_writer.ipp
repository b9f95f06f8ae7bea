#pragma once

#include <dataflux/file_error.hpp>
#include <dataflux/list/detail/manifest_encoder.hpp>
#include <dataflux/list/manifest_writer.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// A file under a temporary name, which is gone again unless it was put in its place.
class replacing_file {
 public:
  explicit replacing_file(const std::string& path) : path_(path) {}
  replacing_file(const replacing_file&) = delete;
  replacing_file& operator=(const replacing_file&) = delete;
  ~replacing_file() {
    if (file_ >= 0) ::close(file_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  result<void> create();
  result<void> write(std::string_view bytes);
  /// Flushes it and gives it its name. The folder is flushed as well, so that the name outlives a
  /// loss of power; a file system that cannot do that keeps its own promises.
  result<void> put_in_place();

 private:
  result<void> fail(const char* what) const { return file_error(errno, what, path_); }

  const std::string& path_;
  std::string temporary_{};
  int file_{-1};
};

DATAFLUX_INLINE result<void> replacing_file::create() {
  constexpr int most_attempts = 1000;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const std::string name =
        path_ + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    file_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ >= 0) {
      temporary_ = name;
      return {};
    }
    if (errno != EEXIST) break;
  }
  return fail("create a file beside");
}

DATAFLUX_INLINE result<void> replacing_file::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return fail("write");
    }
  }
  return {};
}

DATAFLUX_INLINE result<void> replacing_file::put_in_place() {
  if (::fsync(file_) != 0) return fail("flush");
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0) return fail("close");
  std::error_code renamed;
  std::filesystem::rename(temporary_, path_, renamed);
  if (renamed) return file_error(renamed.value(), "replace", path_);
  temporary_.clear();
  const auto slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  const int at = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (at >= 0) {
    static_cast<void>(::fsync(at));
    ::close(at);
  }
  return {};
}

}  // namespace detail

DATAFLUX_INLINE result<void> save_manifest(const std::string& path,
                                           const manifest_description& description,
                                           const object_columns& rows) {
  detail::replacing_file file{path};
  if (auto made = file.create(); !made) return made;
  detail::manifest_encoder encoder{description, rows};
  std::string piece;
  while (!encoder.done()) {
    piece.clear();
    if (auto good = encoder.append_to(piece); !good) return good;
    if (auto good = file.write(piece); !good) return good;
  }
  return file.put_in_place();
}

}  // namespace dataflux::inline DATAFLUX_ABI
