#pragma once

#include <dataflux/http/detail/socket_watch.hpp>

#include <sys/epoll.h>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

DATAFLUX_INLINE void socket_watch::watch(int descriptor, std::uint32_t events, void* owner) {
  ::epoll_event event{};
  event.data.u64 = tag(descriptor);
  event.events = events;
  owners_.insert_or_assign(descriptor, owner);
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    ::epoll_ctl(epoll_, EPOLL_CTL_MOD, descriptor, &event);
  }
}

DATAFLUX_INLINE void socket_watch::unwatch(int descriptor) noexcept {
  ::epoll_event event{};
  owners_.erase(descriptor);
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, &event);
}

DATAFLUX_INLINE void* socket_watch::owner_of(int descriptor) const noexcept {
  const auto found = owners_.find(descriptor);
  return found != owners_.end() ? found->second : nullptr;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
