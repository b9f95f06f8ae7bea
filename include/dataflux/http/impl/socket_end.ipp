#pragma once

#include <dataflux/http/detail/socket_end.hpp>

#include <algorithm>
#include <array>
#include <cerrno>

#include <sys/socket.h>
#include <sys/uio.h>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

DATAFLUX_INLINE socket_end::outcome socket_end::outcome_of(std::ptrdiff_t moved) noexcept {
  if (moved > 0) return {status::ok, static_cast<std::size_t>(moved)};
  if (moved == 0) return {status::closed, 0};
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return {status::again, 0};
  failure_ = errno;
  return {status::failed, 0};
}

DATAFLUX_INLINE socket_end::outcome socket_end::send(bytes_view bytes) noexcept {
  return outcome_of(::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

DATAFLUX_INLINE socket_end::outcome socket_end::send(std::span<const bytes_view> pieces) noexcept {
  if (pieces.size() == 1) return send(pieces.front());
  std::array<::iovec, most_pieces> gathered;
  ::msghdr message{};
  message.msg_iov = gathered.data();
  for (const bytes_view piece : pieces.first(std::min(pieces.size(), most_pieces))) {
    gathered[message.msg_iovlen++] = {const_cast<std::byte*>(piece.data()), piece.size()};
  }
  return outcome_of(::sendmsg(descriptor_, &message, MSG_NOSIGNAL));
}

DATAFLUX_INLINE socket_end::outcome socket_end::receive(bytes_span memory, bool last) noexcept {
  if (drained_) return {status::again, 0};
  std::byte behind[1];
  ::ssize_t moved = 0;
  if (last) {
    const std::array<::iovec, 2> both{{{memory.data(), memory.size()}, {behind, sizeof(behind)}}};
    moved = ::readv(descriptor_, both.data(), static_cast<int>(both.size()));
  } else {
    moved = ::recv(descriptor_, memory.data(), memory.size(), 0);
  }
  const std::size_t room = memory.size() + (last ? sizeof(behind) : 0);
  outcome out = outcome_of(moved);
  const bool emptied = out.status == status::ok ? out.count < room : out.status == status::again;
  drained_ = emptied && !ended_;
  if (out.count > memory.size()) {
    out.count = memory.size();
    out.surplus = true;
  }
  return out;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
