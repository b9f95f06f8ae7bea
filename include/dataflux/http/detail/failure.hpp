#pragma once

#include <dataflux/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// How an exchange ended when no complete reply came. A reply of any status is `none`.
enum class transport_failure : std::uint8_t {
  none,                ///< a reply came, whatever its status
  resolve,             ///< the host name has no address, or the resolver did not answer
  connect,             ///< refused, unreachable, or a proxy would not let us through
  tls,                 ///< the peer's certificate or the handshake did not satisfy us
  timeout_connect,     ///< no connection within the connect timeout
  timeout_first_byte,  ///< the request was sent, no byte of a reply came in time
  stalled,             ///< bytes stopped moving in the middle of a request or a reply
  reset,               ///< the connection broke: reset, broken pipe, TLS failure in mid-stream
  closed_early,        ///< the peer closed before the end of the reply
  protocol,            ///< the peer's bytes are not HTTP/1.1
  refused,             ///< the receiver of the reply returned an error (head or sink)
  cancelled,           ///< the caller asked to stop, or the transport was destroyed
  deadline,            ///< the deadline of the whole call passed
  forked,              ///< the transport belongs to the parent process
  wrong_protocol,      ///< the peer speaks no HTTP, or not with TLS as it should, or not without
  memory,              ///< there was not enough of it here
};

/// The enumerator's name, such as "timeout_connect".
std::string_view to_string(transport_failure f) noexcept;

/// May the same exchange succeed if it is made again? False for `none`, for what the caller decided
/// (refused, cancelled, deadline, forked), for memory, wrong_protocol, and tls: a certificate does
/// not get better within seconds, and repeating would hide a man in the middle behind a timeout.
/// Resolver failures count as temporary (EAI_AGAIN looks the same as NXDOMAIN through some
/// resolvers). protocol.md 3.1.
bool may_be_retried(transport_failure f) noexcept;

/// May the service have carried out the request although no reply came? False only where the
/// request cannot have been sent. The transport knows more in single cases
/// (exchange_report::request_sent); this holds without it.
bool may_have_been_executed(transport_failure f) noexcept;

/// The code of the error that a caller gets: unavailable for what may be retried,
/// deadline_exceeded, cancelled, failed_precondition (forked), unavailable (tls), internal
/// (protocol, wrong_protocol; refused, whose own error should be given instead), resource_exhausted
/// (memory). errc::ok for none.
errc errc_from_failure(transport_failure f) noexcept;

/// The kind of a peer whose reply begins so, for a person: "the server speaks TLS".
std::string describe_stranger(std::string_view received);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/failure.ipp>
#endif
