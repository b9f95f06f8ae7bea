#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/http/impl/connector.ipp>

#include <algorithm>
#include <cstddef>
#include <utility>

/// What becomes of connects that are under way.
namespace dataflux::inline DATAFLUX_ABI::detail::http {

DATAFLUX_INLINE void connector::handle_socket(int descriptor, std::uint32_t events) {
  int mask = 0;
  if ((events & EPOLLIN) != 0) mask |= CURL_CSELECT_IN;
  if ((events & EPOLLOUT) != 0) mask |= CURL_CSELECT_OUT;
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) mask |= CURL_CSELECT_ERR;
  auto* const owner = static_cast<state::group*>(state_->connects.owner_of(descriptor));
  if (owner == nullptr) return state_->connects.unwatch(descriptor);
  int running = 0;
  static_cast<void>(::curl_multi_socket_action(owner->multi, descriptor, mask, &running));
}

DATAFLUX_INLINE void connector::handle_timers(time_point now) {
  for (const auto& g : state_->groups) {
    if (g->timer > now) continue;
    g->timer = never;
    int running = 0;
    static_cast<void>(::curl_multi_socket_action(g->multi, CURL_SOCKET_TIMEOUT, 0, &running));
  }
}

DATAFLUX_INLINE time_point connector::next_timer() const noexcept {
  time_point next = never;
  for (const auto& g : state_->groups) next = std::min(next, g->timer);
  return next;
}

DATAFLUX_INLINE bool connector::next_finished(finished& out) noexcept {
  if (state_->connecting == 0) return false;
  if (auto* const a = std::exchange(state_->starved, nullptr); a != nullptr && a->connecting) {
    state_->end_connecting(*a);
    out.user = a->user, out.failure = transport_failure::memory, out.detail.clear();
    return true;
  }
  for (const auto& g : state_->groups) {
    int left = 0;
    while (const ::CURLMsg* message = ::curl_multi_info_read(g->multi, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      auto& a = state::attempt_of(message->easy_handle);
      state_->end_connecting(a);
      out.user = a.user;
      detail::within_memory([&] { a.explain(message->easy_handle, message->data.result, out); },
                            [&] { out.failure = transport_failure::memory, out.detail.clear(); });
      return true;
    }
  }
  return false;
}

DATAFLUX_INLINE int connector::adopt(stream& s) noexcept {
  curl_socket_t descriptor = CURL_SOCKET_BAD;
  static_cast<void>(::curl_easy_getinfo(s.easy_, CURLINFO_ACTIVESOCKET, &descriptor));
  if (descriptor < 0) return -1;
  state_->connects.unwatch(descriptor);
  s.socket_ = socket_end(descriptor);
  if (::ssl_st* const tls = state::attempt_of(s.easy_).tls; tls != nullptr) {
    s.tls_ = tls_stream::attach(tls, descriptor, state_->records);
  }
  // When a transfer begins, curl closes what looks old or dead among connections that no transfer
  // has. This one has ours again from its first receive, of which nothing is to come yet.
  std::byte unasked{};
  if (s.receive_by_curl({&unasked, 1}).status == stream::status::ok) return -1;
  return descriptor;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
