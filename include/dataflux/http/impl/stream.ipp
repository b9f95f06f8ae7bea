#pragma once

#include <dataflux/http/detail/stream.hpp>

#include <system_error>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

DATAFLUX_INLINE stream::outcome stream::send(std::span<const bytes_view> pieces) noexcept {
  if (gathers()) return socket_.send(pieces);
  return tls_ != nullptr ? tls_->send(pieces.front()) : send_by_curl(pieces.front());
}

DATAFLUX_INLINE stream::outcome stream::receive(bytes_span memory, bool last) noexcept {
  switch (receives_) {
    case way::socket:
      return socket_.receive(memory, last);
    case way::tls:
      return tls_->receive(memory);
    case way::curl:
      break;
  }
  const outcome got = receive_by_curl(memory);
  if (tls_ == nullptr) return got;
  if (got.status == status::again && tls_->wants_more()) return got;
  // From here on without curl: the tickets have come. What is wrong is better asked for here, since
  // curl knows no failure of a socket that is not read by itself.
  receives_ = way::tls;
  return got.status == status::ok ? got : tls_->receive(memory);
}

DATAFLUX_INLINE bool stream::drained() const noexcept {
  if (receives_ == way::socket) return socket_.drained();
  return tls_ != nullptr && tls_->drained();
}

DATAFLUX_INLINE void stream::stirred(bool ended) noexcept {
  tls_ != nullptr ? tls_->stirred(ended) : socket_.stirred(ended);
}

DATAFLUX_INLINE bool stream::is_silent() noexcept {
  std::byte probe[1];
  stirred();
  if (receive(probe).status != status::again) return false;
  return drained() || (tls_ == nullptr && receives_ == way::curl);
}

DATAFLUX_INLINE std::string stream::last_failure() const {
  if (receives_ == way::socket) return std::generic_category().message(socket_.failure());
  return tls_ != nullptr ? tls_->last_failure() : curl_failure();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
