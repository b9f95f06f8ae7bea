#pragma once

#include <dataflux/http/detail/failure.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

DATAFLUX_INLINE std::string_view to_string(transport_failure f) noexcept {
  switch (f) {
    case transport_failure::none:
      return "none";
    case transport_failure::resolve:
      return "resolve";
    case transport_failure::connect:
      return "connect";
    case transport_failure::tls:
      return "tls";
    case transport_failure::timeout_connect:
      return "timeout_connect";
    case transport_failure::timeout_first_byte:
      return "timeout_first_byte";
    case transport_failure::stalled:
      return "stalled";
    case transport_failure::reset:
      return "reset";
    case transport_failure::closed_early:
      return "closed_early";
    case transport_failure::protocol:
      return "protocol";
    case transport_failure::refused:
      return "refused";
    case transport_failure::cancelled:
      return "cancelled";
    case transport_failure::deadline:
      return "deadline";
    case transport_failure::forked:
      return "forked";
    case transport_failure::wrong_protocol:
      return "wrong_protocol";
    case transport_failure::memory:
      return "memory";
  }
  return "none";
}

DATAFLUX_INLINE bool may_be_retried(transport_failure f) noexcept {
  switch (f) {
    case transport_failure::resolve:
    case transport_failure::connect:
    case transport_failure::timeout_connect:
    case transport_failure::timeout_first_byte:
    case transport_failure::stalled:
    case transport_failure::reset:
    case transport_failure::closed_early:
    case transport_failure::protocol:
      return true;
    case transport_failure::none:
    case transport_failure::tls:
    case transport_failure::refused:
    case transport_failure::cancelled:
    case transport_failure::deadline:
    case transport_failure::forked:
    case transport_failure::wrong_protocol:
    case transport_failure::memory:
      return false;
  }
  return false;
}

DATAFLUX_INLINE bool may_have_been_executed(transport_failure f) noexcept {
  switch (f) {
    case transport_failure::resolve:
    case transport_failure::connect:
    case transport_failure::tls:
    case transport_failure::timeout_connect:
    case transport_failure::forked:
    case transport_failure::wrong_protocol:
      return false;
    default:
      return true;
  }
}

DATAFLUX_INLINE errc errc_from_failure(transport_failure f) noexcept {
  switch (f) {
    case transport_failure::none:
      return errc::ok;
    case transport_failure::deadline:
      return errc::deadline_exceeded;
    case transport_failure::cancelled:
      return errc::cancelled;
    case transport_failure::forked:
      return errc::failed_precondition;
    case transport_failure::protocol:
    case transport_failure::refused:
    case transport_failure::wrong_protocol:
      return errc::internal;
    case transport_failure::memory:
      return errc::resource_exhausted;
    default:
      return errc::unavailable;
  }
}

DATAFLUX_INLINE std::string describe_stranger(std::string_view received) {
  // A record of TLS: alert or handshake, version 3.x (RFC 8446 5.1).
  if (received.starts_with("\x15\x03") || received.starts_with("\x16\x03")) {
    return "the server speaks TLS: is it https?";
  }
  std::string text{"no HTTP server answered, but one that says '"};
  for (const char c : received.substr(0, 40)) {
    if (c == '\r' || c == '\n') break;
    text += c >= 0x20 && c < 0x7f ? c : '?';
  }
  return text += '\'';
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
