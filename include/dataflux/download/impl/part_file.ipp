#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/detail/part_file.hpp>
#include <dataflux/file_error.hpp>
#include <dataflux/unique_name.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr char part_magic[8] = {'d', 'f', 'x', 'p', 'a', 'r', 't', '1'};
/// Read back at a time: it stays in the cache.
inline constexpr std::size_t read_back_bytes = std::size_t{1} << 20U;

DATAFLUX_INLINE part_file::~part_file() {
  hidden_ = {};  // while its folder is open
  if (own_folder_ >= 0) ::close(own_folder_);
}

DATAFLUX_INLINE result<void> part_file::fail(const char* what) const {
  return file_error(errno, what, path_);
}

/// Splits the path. All that follows is relative to one open folder, so that what is renamed or
/// linked meanwhile leads nowhere else.
DATAFLUX_INLINE result<void> part_file::find_place() {
  const auto slash = path_.rfind('/');
  name_ = slash == std::string::npos ? path_ : path_.substr(slash + 1);
  if (folder_ < 0) {
    const std::string above = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
    own_folder_ = ::open(above.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (own_folder_ < 0) return fail("open the folder of");
    folder_ = own_folder_;
  }
  struct stat there {};
  const bool taken = ::fstatat(folder_, name_.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0;
  if (!taken && errno == ENAMETOOLONG) return fail("create");
  if (name_.empty() || name_ == "." || name_ == ".." || (taken && S_ISDIR(there.st_mode))) {
    errno = EISDIR;
    return fail("replace");
  }
  return {};
}

DATAFLUX_INLINE result<void> part_file::create() {
  if (auto found = find_place(); !found) return found;
  if (!hidden_.create(folder_, 0666)) return fail("create");
  return content_.slices() > 1 ? preallocate(content_.length) : result<void>();
}

DATAFLUX_INLINE result<void> part_file::open_with_journal() {
  if (auto found = find_place(); !found) return found;
  journal_ = true;
  if (!hidden_.open(folder_, hashed_name(".dataflux-part-", name_), 0666)) {
    const int why = errno;
    if (why == EWOULDBLOCK) {
      return error(errc::failed_precondition, "another download of '" + path_ + "' is at work");
    }
    errno = why;
    return fail("create");
  }
  make_head();
  struct stat facts {};
  std::array<std::byte, head_size> found{};
  records_.resize(content_.slices() * record_size);
  if (::fstat(hidden_.descriptor(), &facts) == 0 &&
      static_cast<std::uint64_t>(facts.st_size) == full_size() &&
      read_back(found, content_.length) && found == head_ &&
      read_back(records_, content_.length + head_size)) {
    return {};
  }
  return begin_anew();
}

DATAFLUX_INLINE std::uint64_t part_file::full_size() const noexcept {
  return content_.length + head_size + content_.slices() * record_size;
}

DATAFLUX_INLINE void part_file::make_head() {
  const auto name =
      codec::crc32c(as_bytes(content_.bucket + '\n' + content_.object + '\n' + name_));
  std::byte* at = head_.data();
  const auto add = [&at](const auto& value) {
    std::memcpy(at, &value, sizeof value);
    at += sizeof value;
  };
  add(part_magic);
  add(content_.generation);
  add(content_.object_size);
  add(content_.offset);
  add(content_.length);
  add(content_.slice);
  add(name);
  head_crc_ = codec::crc32c(bytes_view(head_).first(head_size - sizeof head_crc_));
  add(head_crc_);
}

DATAFLUX_INLINE std::uint32_t part_file::check_of(std::size_t i,
                                                  std::uint32_t crc32c) const noexcept {
  const std::uint64_t record[]{i, crc32c};
  return codec::crc32c_extend(head_crc_, std::as_bytes(std::span(record)));
}

DATAFLUX_INLINE result<void> part_file::begin_anew() {
  std::fill(records_.begin(), records_.end(), std::byte{0});
  if (::ftruncate(hidden_.descriptor(), 0) != 0) return fail("empty the part of");
  if (auto room = preallocate(full_size()); !room) return room;
  if (::ftruncate(hidden_.descriptor(), static_cast<::off_t>(full_size())) != 0)
    return fail("enlarge");
  return put(head_, content_.length);
}

/// Says early that a disk is too small, and keeps slices that come in any order together.
DATAFLUX_INLINE result<void> part_file::preallocate(std::uint64_t size) {
  int status = 0;
  do {
    status = ::fallocate(hidden_.descriptor(), 0, 0, static_cast<::off_t>(size));
  } while (status != 0 && errno == EINTR);
  if (status == 0 || errno == EOPNOTSUPP || errno == ENOSYS) return {};
  return fail("make room for");
}

DATAFLUX_INLINE result<void> part_file::put(bytes_view bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pwrite(hidden_.descriptor(), bytes.data(), bytes.size(), static_cast<::off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = ENOSPC;
    if (count <= 0) return fail("write");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return {};
}

DATAFLUX_INLINE bool part_file::read_back(bytes_span into, std::uint64_t offset) const {
  while (!into.empty()) {
    const ssize_t count =
        ::pread(hidden_.descriptor(), into.data(), into.size(), static_cast<::off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    into = into.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return true;
}

DATAFLUX_INLINE std::optional<std::uint32_t> part_file::verified(std::size_t i) {
  std::uint32_t record[2];
  std::memcpy(record, records_.data() + i * record_size, record_size);
  if (record[1] != check_of(i, record[0])) return std::nullopt;
  scratch_.resize(
      static_cast<std::size_t>(std::min<std::uint64_t>(content_.slice, read_back_bytes)));
  std::uint32_t crc = 0;
  std::uint64_t at = content_.begin_of(i);
  for (std::uint64_t left = content_.length_of(i); left > 0;) {
    const auto some = bytes_span(scratch_).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(left, scratch_.size())));
    if (!read_back(some, at)) return std::nullopt;
    crc = codec::crc32c_extend(crc, some);
    at += some.size();
    left -= some.size();
  }
  if (crc != record[0]) return std::nullopt;
  return crc;
}

DATAFLUX_INLINE result<void> part_file::write(std::size_t i, bytes_view bytes,
                                              std::uint32_t crc32c) {
  if (auto good = put(bytes, content_.begin_of(i)); !good || !journal_) return good;
  const std::uint32_t record[]{crc32c, check_of(i, crc32c)};
  return put(std::as_bytes(std::span(record)), content_.length + head_size + i * record_size);
}

DATAFLUX_INLINE result<void> part_file::publish(bool flush) {
  if (journal_ && ::ftruncate(hidden_.descriptor(), static_cast<::off_t>(content_.length)) != 0) {
    return fail("cut");
  }
  if (!hidden_.publish(name_, flush)) return fail("replace");
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
