#pragma once

#include <dataflux/detail/config.hpp>

#include <cstdint>
#include <unordered_map>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// The sockets of an epoll descriptor that still connect, and whose they are. Not thread-safe.
class socket_watch {
 public:
  explicit socket_watch(int epoll) noexcept : epoll_(epoll) {}

  /// Their events have odd data, so that they can be told from pointers.
  static constexpr std::uint64_t tag(int descriptor) noexcept {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(descriptor)) << 1U) | 1U;
  }

  /// Waits for `events` of the descriptor from now on. Throws std::bad_alloc.
  void watch(int descriptor, std::uint32_t events, void* owner);
  /// Only here: the descriptor may be another thread's by now.
  void forget(int descriptor) noexcept { owners_.erase(descriptor); }
  void unwatch(int descriptor) noexcept;
  /// Null when it is not watched.
  void* owner_of(int descriptor) const noexcept;

 private:
  int epoll_;
  std::unordered_map<int, void*> owners_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/socket_watch.ipp>
#endif
