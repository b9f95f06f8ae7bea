#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/http/detail/socket_end.hpp>
#include <dataflux/http/detail/tls_stream.hpp>

#include <span>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// A connected byte stream, plain or TLS. Non-blocking. Belongs to one I/O thread. A connector
/// opens and closes it.
///
/// Bytes move by system calls and OpenSSL of our own (socket_end, tls_stream). Through a proxy, or
/// where curl stands on another TLS library, they move by curl_easy_send and curl_easy_recv. So
/// does the beginning of the first reply over TLS: it comes behind the tickets with which later
/// connections resume, and curl's cache takes those inside its own calls only.
class stream {
 public:
  using status = socket_end::status;
  using outcome = socket_end::outcome;

  int descriptor() const noexcept { return socket_.descriptor(); }
  /// Begins with the first of the pieces, which are not empty; the others go with it where sends
  /// are gathered.
  outcome send(std::span<const bytes_view> pieces) noexcept;
  /// Whether pieces go in one call without a copy. To TLS they are better given in one: each one
  /// would be a record of its own.
  bool gathers() const noexcept { return receives_ == way::socket; }
  /// As socket_end has it; `last` is known of plain streams only.
  outcome receive(bytes_span memory, bool last = false) noexcept;
  /// The last receive left nothing behind, neither in the socket nor in the TLS layer. False where
  /// that is not known, which is through curl.
  bool drained() const noexcept;
  void stirred(bool ended = false) noexcept;
  /// Asks whether nothing has come: no byte, no end, no part of a record. TLS tickets are taken in.
  bool is_silent() noexcept;
  /// What broke, for a person.
  std::string last_failure() const;

 private:
  friend class connector;
  enum class way : std::uint8_t { socket, tls, curl };
  outcome send_by_curl(bytes_view bytes) noexcept;
  outcome receive_by_curl(bytes_span memory) noexcept;
  std::string curl_failure() const;

  void* easy_{nullptr};
  socket_end socket_{};       ///< of a plain stream; of others its descriptor alone
  tls_stream* tls_{nullptr};  ///< belongs to the connection's SSL
  way receives_{way::curl};
  int curl_code_{0};  ///< of what failed there
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/stream.ipp>
#endif
