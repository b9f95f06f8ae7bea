#pragma once

#include <dataflux/detail/buffer.hpp>
#include <dataflux/detail/file_error.hpp>
#include <dataflux/folder/detail/folder_handle.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline error not_a_folder(const std::string& path, int number) {
  const bool link = number == ELOOP;
  if (!link && number != ENOTDIR && number != EEXIST) return file_error(number, "open", path);
  return {errc::failed_precondition, "'" + path + "': " +
                                         (link ? "is a symbolic link, which is not followed"
                                               : "a folder must be here, and something else is")};
}

DATAFLUX_INLINE result<folder_ptr> folder_handle::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return not_a_folder(path, errno);
  return folder_ptr(std::make_shared<const folder_handle>(descriptor, path));
}

DATAFLUX_INLINE folder_handle::~folder_handle() { ::close(descriptor_); }

DATAFLUX_INLINE result<folder_ptr> folder_handle::enter(std::string_view name, bool make) const {
  const std::string leaf(name);
  constexpr int how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int descriptor = ::openat(descriptor_, leaf.c_str(), how);
  if (descriptor < 0 && errno == ENOENT && make) {
    if (::mkdirat(descriptor_, leaf.c_str(), 0777) != 0 && errno != EEXIST) {
      return file_error(errno, "make the folder", shown(leaf));
    }
    descriptor = ::openat(descriptor_, leaf.c_str(), how);
  }
  if (descriptor >= 0) {
    return folder_ptr(std::make_shared<const folder_handle>(descriptor, shown(leaf)));
  }
  const int why = errno;
  struct stat facts {};
  const bool link = ::fstatat(descriptor_, leaf.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
                    S_ISLNK(facts.st_mode);
  return not_a_folder(shown(leaf), link ? ELOOP : why);
}

DATAFLUX_INLINE result<void> make_folders(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed) return not_a_folder(path, failed.value());
  return {};
}

DATAFLUX_INLINE result<void> write_whole_file(const folder_handle& where, const std::string& name,
                                              bytes_view bytes) {
  const auto failed = [&](const char* what) { return file_error(errno, what, where.shown(name)); };
  if (auto good = check_replaced(where.descriptor(), name, where.shown(name)); !good) return good;
  hidden_file file;
  if (!file.create(where.descriptor(), 0666)) return failed("create");
  while (!bytes.empty()) {
    const auto written = ::write(file.descriptor(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = ENOSPC;
    if (written <= 0) return failed("write");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  if (file.publish(name, false)) return {};
  if (errno != EISDIR) return failed("replace");
  return error(errc::failed_precondition,
               "'" + where.shown(name) + "': a file must be here, and a folder is");
}

DATAFLUX_INLINE result<bool> remove_file(const folder_handle& where, const std::string& name) {
  if (::unlinkat(where.descriptor(), name.c_str(), 0) == 0) return true;
  if (errno == ENOENT) return false;
  return file_error(errno, "remove", where.shown(name));
}

DATAFLUX_INLINE file_comparison::file_comparison(const folder_handle& where,
                                                 const std::string& name, links how,
                                                 std::uint64_t size, std::uint32_t crc32c)
    : size_(size), crc32c_(crc32c) {
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  file_ = ::openat(where.descriptor(), name.c_str(),
                   how == links::refused ? flags | O_NOFOLLOW : flags);
  struct stat facts {};
  same_ = file_ >= 0 && ::fstat(file_, &facts) == 0 && S_ISREG(facts.st_mode) &&
          static_cast<std::uint64_t>(facts.st_size) == size;
}

DATAFLUX_INLINE file_comparison::file_comparison(file_comparison&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      size_(other.size_),
      crc32c_(other.crc32c_),
      same_(other.same_),
      all_(other.all_) {}

DATAFLUX_INLINE file_comparison::~file_comparison() {
  if (file_ >= 0) ::close(file_);
}

DATAFLUX_INLINE bool file_comparison::read(std::uint64_t most) {
  constexpr std::size_t at_once = std::size_t{256} << 10U;  // stays in the cache
  const std::uint64_t until = all_.length() + std::min(most, size_ - all_.length());
  const buffer_pool pool;
  buffer memory;
  while (same_ && all_.length() < until) {
    if (!memory)
      memory = pool.acquire(
          static_cast<std::size_t>(std::min<std::uint64_t>(at_once, until - all_.length())));
    const auto got = ::read(file_, memory.data(), std::min(memory.capacity(), at_once));
    if (got < 0 && errno == EINTR) continue;
    same_ = got > 0 && all_.length() + static_cast<std::uint64_t>(got) <= size_;
    if (same_) all_.update({memory.data(), static_cast<std::size_t>(got)});
  }
  return same_ && all_.length() < size_;
}

DATAFLUX_INLINE result<folder_ptr> target_tree::reach(const std::vector<std::string_view>& path) {
  if (root_ == nullptr) return root_;
  std::size_t same = 0;
  while (same < levels_.size() && same < path.size() && levels_[same].name == path[same]) ++same;
  levels_.resize(same);
  while (levels_.size() < path.size()) {
    const folder_handle& above = levels_.empty() ? *root_ : *levels_.back().open;
    const auto name = path[levels_.size()];
    auto next = above.enter(name, make_);
    if (!next && !make_ && next.error().code() == errc::not_found) return folder_ptr();
    if (!next) return next;
    levels_.push_back({std::string(name), std::move(*next)});
  }
  return levels_.empty() ? root_ : levels_.back().open;
}

DATAFLUX_INLINE std::vector<std::string_view> parts_of_name(std::string_view name) {
  std::vector<std::string_view> out;
  while (true) {
    const auto slash = std::min(name.find('/'), name.size());
    out.push_back(name.substr(0, slash));
    if (slash == name.size()) return out;
    name.remove_prefix(slash + 1);
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
