#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/exec/detail/file_place.hpp>
#include <dataflux/transfer/detail/journal_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE journal_file::~journal_file() {
  file_ = {};  // while its folder is open
  if (own_folder_ >= 0) ::close(own_folder_);
}

DATAFLUX_INLINE bool journal_file::enter(int folder, const std::string& path) {
  if (folder < 0) folder = own_folder_ = open_folder(path);
  folder_ = folder;
  return folder >= 0;
}

DATAFLUX_INLINE std::uint64_t journal_file::size() const noexcept {
  struct stat facts {};
  const bool known = ::fstat(file_.descriptor(), &facts) == 0;
  return known ? static_cast<std::uint64_t>(facts.st_size) : 0;
}

DATAFLUX_INLINE bool journal_file::resize(std::uint64_t size) noexcept {
  return ::ftruncate(file_.descriptor(), static_cast<::off_t>(size)) == 0;
}

DATAFLUX_INLINE bool journal_file::make_room(std::uint64_t bytes) noexcept {
  int status = 0;
  do {
    status = ::fallocate(file_.descriptor(), 0, 0, static_cast<::off_t>(bytes));
  } while (status != 0 && errno == EINTR);
  return status == 0 || errno == EOPNOTSUPP || errno == ENOSYS;
}

DATAFLUX_INLINE std::optional<std::size_t> journal_file::read(bytes_span into,
                                                              std::uint64_t at) const noexcept {
  std::size_t used = 0;
  while (used < into.size()) {
    const ssize_t count = ::pread(file_.descriptor(), into.data() + used, into.size() - used,
                                  static_cast<::off_t>(at + used));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
  }
  return used;
}

DATAFLUX_INLINE bool journal_file::write(bytes_view bytes, std::uint64_t at) noexcept {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pwrite(file_.descriptor(), bytes.data(), bytes.size(), static_cast<::off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = ENOSPC;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    at += static_cast<std::uint64_t>(count);
  }
  return true;
}

DATAFLUX_INLINE bool journal_file::flush(bool name) noexcept {
  if (::fdatasync(file_.descriptor()) != 0) return false;
  if (name) flush_folder(folder_);
  return true;
}

DATAFLUX_INLINE void journal_file::set_head(bytes_view head) noexcept { head_ = crc32c(head); }

DATAFLUX_INLINE std::uint32_t journal_file::checksum(bytes_view record) const noexcept {
  return crc32c_extend(head_, record);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
