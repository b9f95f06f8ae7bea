#pragma once

#include <dataflux/detail/file_error.hpp>
#include <dataflux/exec/detail/mapped_file.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE result<bytes_view> map_file(const std::string& path, std::string_view noun,
                                            std::shared_ptr<const void>& owner) {
  // Without waiting for who writes, if it is a pipe.
  int file = -1;
  do {
    file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  } while (file < 0 && errno == EINTR);
  if (file < 0) return file_error(errno, "open", path);
  struct stat status {};
  if (::fstat(file, &status) != 0) {
    const int why = errno;
    ::close(file);
    return file_error(why, "look at", path);
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(file);
    return error{errc::invalid_argument,
                 std::string{"not a "}.append(noun).append(": '" + path + "' is not a file")};
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {
    ::close(file);
    return bytes_view{};
  }
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  const int why = errno;
  ::close(file);
  if (at == MAP_FAILED) return file_error(why, "map", path);
  owner = std::shared_ptr<const void>(
      at, [size](const void* p) { static_cast<void>(::munmap(const_cast<void*>(p), size)); });
  return bytes_view{static_cast<const std::byte*>(at), size};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
