#include "folder.hpp"

#include <dataflux/buffer.hpp>
#include <dataflux/codec/crc32c.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "outcome.hpp"

namespace cli {

using dataflux::error;
using dataflux::result;

namespace {

error not_a_folder(std::string_view path, int number) {
  if (number == ELOOP) return file_error(path, "is a symbolic link, which is not followed");
  if (number == ENOTDIR) return file_error(path, "a folder must be here, and something else is");
  return file_error(path, number);
}

}  // namespace

result<folder_ptr> folder::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return not_a_folder(path, errno);
  return folder_ptr(std::make_shared<const folder>(descriptor, path));
}

folder::~folder() { ::close(descriptor_); }

result<folder_ptr> folder::enter(std::string_view name, bool make) const {
  const std::string leaf(name);
  constexpr int how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int descriptor = ::openat(descriptor_, leaf.c_str(), how);
  if (descriptor < 0 && errno == ENOENT && make) {
    if (::mkdirat(descriptor_, leaf.c_str(), 0777) != 0 && errno != EEXIST) {
      return file_error(shown(leaf), errno);
    }
    descriptor = ::openat(descriptor_, leaf.c_str(), how);
  }
  if (descriptor >= 0) {
    return folder_ptr(std::make_shared<const folder>(descriptor, shown(leaf)));
  }
  const int why = errno;
  struct stat facts {};
  const bool link = ::fstatat(descriptor_, leaf.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
                    S_ISLNK(facts.st_mode);
  return not_a_folder(shown(leaf), link ? ELOOP : why);
}

result<new_file> new_file::create(folder_ptr where, std::string name) {
  dataflux::hidden_file file;
  if (!file.create(where->descriptor(), 0666)) return file_error(where->shown(name), errno);
  return new_file(std::move(where), std::move(name), std::move(file));
}

result<void> new_file::write(dataflux::bytes_view bytes) const {
  while (!bytes.empty()) {
    const auto written = ::write(file_.descriptor(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return file_error(shown(), written == 0 ? ENOSPC : errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

result<void> new_file::publish() {
  if (file_.publish(name_, false)) return {};
  if (errno == EISDIR) return file_error(shown(), "a file must be here, and a folder is");
  return file_error(shown(), errno);
}

bool has_bytes(const folder& where, const std::string& name, links how, std::uint64_t size,
               std::uint32_t crc32c) {
  const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  const int descriptor = ::openat(where.descriptor(), name.c_str(),
                                  how == links::refused ? flags | O_NOFOLLOW : flags);
  if (descriptor < 0) return false;
  struct stat facts {};
  bool same = ::fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) &&
              static_cast<std::uint64_t>(facts.st_size) == size;
  const dataflux::buffer_pool pool;
  const auto memory = pool.acquire(std::size_t{1} << 20U);
  dataflux::codec::crc32c_accumulator all;
  while (same && all.length() < size) {
    const auto got = ::read(descriptor, memory.data(), memory.capacity());
    if (got < 0 && errno == EINTR) continue;
    same = got > 0;
    if (same) all.update({memory.data(), static_cast<std::size_t>(got)});
  }
  ::close(descriptor);
  return same && all.length() == size && all.crc() == crc32c;
}

result<folder_ptr> target_tree::reach(const std::vector<std::string_view>& path) {
  if (root_ == nullptr) return root_;
  std::size_t same = 0;
  while (same < levels_.size() && same < path.size() && levels_[same].name == path[same]) ++same;
  levels_.resize(same);
  while (levels_.size() < path.size()) {
    const folder& above = levels_.empty() ? *root_ : *levels_.back().open;
    const auto name = path[levels_.size()];
    auto next = above.enter(name, make_);
    if (!next && !make_ && next.error().code() == dataflux::errc::not_found) return folder_ptr();
    if (!next) return next;
    levels_.push_back({std::string(name), std::move(*next)});
  }
  return levels_.empty() ? root_ : levels_.back().open;
}

result<void> make_folders(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed) return file_error(path, failed.value());
  return {};
}

}  // namespace cli
