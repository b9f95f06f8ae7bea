#pragma once

#include <dataflux/exec/detail/fork.hpp>
#include <dataflux/http/detail/descriptors.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

DATAFLUX_INLINE bool is_descriptor_shortage(int code) noexcept {
  return code == EMFILE || code == ENFILE;
}

DATAFLUX_INLINE bool out_of_descriptors() noexcept {
  const int s = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (s < 0) return is_descriptor_shortage(errno);
  ::close(s);
  return false;
}

inline void set_number(int socket, int level, int name, std::int64_t value) noexcept {
  const int number = static_cast<int>(std::clamp<std::int64_t>(value, 1, 1 << 30));
  ::setsockopt(socket, level, name, &number, sizeof(number));
}

DATAFLUX_INLINE int open_socket(int family, int type, duration peer_timeout) noexcept {
  const int s = ::socket(family, type | SOCK_CLOEXEC, 0);
  if (s < 0) return s;
  try {
    track_descriptor(s);
  } catch (...) {
    ::close(s);
    errno = ENOMEM;
    return -1;
  }
  if (peer_timeout <= duration::zero() || peer_timeout == duration::max()) return s;
  const auto whole = std::chrono::ceil<std::chrono::milliseconds>(peer_timeout).count();
  set_number(s, SOL_SOCKET, SO_KEEPALIVE, 1);
  // Three questions in the second half.
  set_number(s, IPPROTO_TCP, TCP_KEEPIDLE, whole / 2000);
  set_number(s, IPPROTO_TCP, TCP_KEEPINTVL, whole / 6000);
  set_number(s, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_number(s, IPPROTO_TCP, TCP_USER_TIMEOUT, whole);
  return s;
}

/// By readdir: libstdc++'s iterator ends the process where a name finds no memory.
DATAFLUX_INLINE std::vector<int> inheritable_descriptors() {
  std::vector<int> out;
  const std::unique_ptr<::DIR, int (*)(::DIR*)> folder(::opendir("/proc/self/fd"), &::closedir);
  while (const ::dirent* const entry = folder == nullptr ? nullptr : ::readdir(folder.get())) {
    const std::string_view name(entry->d_name);
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    const int flags = ::fcntl(descriptor, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) out.push_back(descriptor);
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Bytes that wait to be read (SIOCINQ), or that the peer has not read (SIOCOUTQ); man 7 unix.
inline int bytes_under_way(int socket, unsigned long which) noexcept {
  int count = 0;
  return ::ioctl(socket, which, &count) == 0 ? count : 0;
}

DATAFLUX_INLINE std::vector<int> quiet_sockets_since(const std::vector<int>& before) {
  std::vector<int> out;
  for (const int descriptor : inheritable_descriptors()) {
    ::sockaddr address{};
    ::socklen_t size = sizeof(address);
    if (std::binary_search(before.begin(), before.end(), descriptor)) continue;
    if (::getsockname(descriptor, &address, &size) != 0 || address.sa_family != AF_UNIX) continue;
    if (bytes_under_way(descriptor, SIOCINQ) != 0) continue;
    if (bytes_under_way(descriptor, SIOCOUTQ) == 0) out.push_back(descriptor);
  }
  return out;
}

DATAFLUX_INLINE void keep_busy_sockets(const std::vector<int>& sockets) noexcept {
  int receiver = -1;
  for (const int s : sockets) {
    const bool receives = bytes_under_way(s, SIOCINQ) != 0;
    if (!receives && bytes_under_way(s, SIOCOUTQ) == 0) continue;
    ::fcntl(s, F_SETFD, FD_CLOEXEC);
    if (receives) receiver = s;
  }
  char byte = 0;
  if (receiver >= 0) static_cast<void>(::recv(receiver, &byte, 1, MSG_DONTWAIT) == 1);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
