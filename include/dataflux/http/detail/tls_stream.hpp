#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/http/detail/socket_end.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string>

struct bio_st;         // BIO
struct bio_method_st;  // BIO_METHOD
struct ssl_st;         // SSL
struct ssl_ctx_st;     // SSL_CTX

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// Memory in which records wait until the socket takes them, for the connections of one I/O thread.
/// Nearly always the socket takes all at once, and the next connection gets what is warm.
class record_memory {
 public:
  using block = std::unique_ptr<std::byte[]>;
  /// Of content that is sealed at once, in whole records: as many as a socket takes well in one
  /// call.
  static constexpr std::size_t content = std::size_t{16} << 14U;
  /// With what a record adds at most, and room for messages of TLS itself.
  static constexpr std::size_t size = content + std::size_t{16} * 256 + (std::size_t{17} << 10U);

  /// Null when there is none.
  block take() noexcept;
  void give(block done) noexcept;

 private:
  static constexpr std::size_t most_kept = 8;
  std::array<block, most_kept> kept_{};
  std::size_t count_{0};
};

/// Puts the SSL that `context` is for into `found` when it has shaken hands: curl itself names it
/// only while a transfer of its own moves bytes. `found` lasts until then, or until tls_stream has
/// been attached to it.
void note_handshake(::ssl_ctx_st* context, ::ssl_st*& found) noexcept;

/// TLS on a socket, by an SSL that has shaken hands. Records are gathered and sent by one call for
/// up to 16 of them; OpenSSL by itself makes one call for each. What is received comes by way of
/// OpenSSL's read-ahead. Renegotiation (TLS 1.2) is refused. Belongs to one I/O thread.
class tls_stream {
 public:
  /// Puts itself below `ssl`, which owns it from then on: both end together. `memory` outlives
  /// them. Null when there is no memory: `ssl` is as it was.
  static tls_stream* attach(::ssl_st* ssl, int descriptor, record_memory& memory) noexcept;
  tls_stream(const tls_stream&) = delete;
  tls_stream& operator=(const tls_stream&) = delete;

  /// Bytes count as sent when the socket has taken their records; `again` is to be repeated with
  /// the bytes that do not, since they are sealed already.
  socket_end::outcome send(bytes_view bytes) noexcept;
  socket_end::outcome receive(bytes_span memory) noexcept;
  /// Of an SSL_read that somebody else has made and that gave nothing: it only waits for bytes.
  bool wants_more() const noexcept;
  /// Neither the socket nor OpenSSL holds anything back.
  bool drained() const noexcept;
  void stirred(bool ended) noexcept { socket_.stirred(ended); }
  std::string last_failure() const;

 private:
  tls_stream(::ssl_st* ssl, int descriptor, record_memory& memory) noexcept
      : ssl_(ssl), socket_(descriptor), memory_(memory) {}
  ~tls_stream();

  static const ::bio_method_st* method() noexcept;
  static tls_stream& of(::bio_st* bio) noexcept;
  static int on_write(::bio_st* bio, const char* data, int size) noexcept;
  static int on_read(::bio_st* bio, char* data, int size) noexcept;
  static long on_control(::bio_st* bio, int command, long, void*) noexcept;
  static int on_destroy(::bio_st* bio) noexcept;
  bool keep(bytes_view record) noexcept;
  socket_end::status flush() noexcept;
  socket_end::outcome seal(bytes_view bytes) noexcept;
  socket_end::outcome why_not(int returned) noexcept;

  ::ssl_st* const ssl_;
  socket_end socket_;
  record_memory& memory_;
  record_memory::block sealed_{};  ///< while the socket has not taken all
  std::size_t filled_{0};
  std::size_t sent_{0};
  std::size_t owed_{0};  ///< content that is sealed and not yet told to be sent
  bool ended_{false};    ///< the peer ended the stream below TLS
  unsigned long failure_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/tls_stream.ipp>
#endif
