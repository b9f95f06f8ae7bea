#include "local_path.hpp"

#include <dataflux/codec/crc32c.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <vector>

namespace cli {

path_kind kind_of(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return path_kind::missing;
  if (S_ISDIR(facts.st_mode)) return path_kind::folder;
  return S_ISREG(facts.st_mode) ? path_kind::file : path_kind::other;
}

std::string below(std::string path, std::string_view name) {
  if (!path.ends_with('/')) path += '/';
  return path.append(name);
}

bool has_bytes(const std::string& path, links how, std::uint64_t size, std::uint32_t crc32c) {
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  const int descriptor = ::open(path.c_str(), how == links::refused ? flags | O_NOFOLLOW : flags);
  if (descriptor < 0) return false;
  struct stat facts {};
  bool same = ::fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) &&
              static_cast<std::uint64_t>(facts.st_size) == size;
  std::vector<std::byte> memory(std::size_t{256} << 10U);
  dataflux::crc32c_accumulator all;
  while (same && all.length() < size) {
    const auto got = ::read(descriptor, memory.data(), memory.size());
    if (got < 0 && errno == EINTR) continue;
    same = got > 0;
    if (same) all.update({memory.data(), static_cast<std::size_t>(got)});
  }
  ::close(descriptor);
  return same && all.length() == size && all.crc() == crc32c;
}

}  // namespace cli
