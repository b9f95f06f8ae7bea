#pragma once
// The file that the floor writes one large object to, as download_file() does: room for all of it
// beforehand, ranges where they belong, on the disk at the end, and its name then.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "measure.hpp"
#include "shapes.hpp"

namespace bench {

/// In the current folder. `use` = false: does nothing.
class target_file {
 public:
  explicit target_file(bool use) : use_(use) {}
  target_file(const target_file&) = delete;
  target_file& operator=(const target_file&) = delete;
  ~target_file() { unlink("bench-target"); }

  void begin() {
    if (!use_) return;
    fd_ = open("bench-target.part", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    if (fd_ < 0) fail("cannot make a file in the current folder");
    if (posix_fallocate(fd_, 0, static_cast<off_t>(large_size)) != 0) fail("posix_fallocate");
  }
  void write(std::string_view bytes, std::uint64_t at) const {
    if (pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(at)) !=
        static_cast<ssize_t>(bytes.size()))
      fail("pwrite");
  }
  void end() {
    if (!use_) return;
    if (fdatasync(fd_) != 0) fail("fdatasync");
    close(fd_);
    if (std::rename("bench-target.part", "bench-target") != 0) fail("rename");
  }

 private:
  bool use_;
  int fd_ = -1;
};

}  // namespace bench
