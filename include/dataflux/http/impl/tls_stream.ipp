#pragma once

#include <dataflux/http/detail/tls_stream.hpp>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <system_error>
#include <utility>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

/// OpenSSL reads and writes by a BIO. Ours appends what is written to a block of memory, and
/// flush() sends that. send() seals up to a block of content, then flushes. What the socket does
/// not take stays in the block until send() is called again, and whatever OpenSSL says by itself
/// (a key update, the end) goes behind it, so that records are in order.
///
/// A call of OpenSSL judges by the thread's queue of errors, so that must be empty before.
namespace dataflux::inline DATAFLUX_ABI::detail::http {

DATAFLUX_INLINE record_memory::block record_memory::take() noexcept {
  if (count_ > 0) return std::move(kept_[--count_]);
  return block(new (std::nothrow) std::byte[size]);
}

DATAFLUX_INLINE void record_memory::give(block done) noexcept {
  if (count_ < most_kept) kept_[count_++] = std::move(done);
}

inline void forget_tls_errors() noexcept {
  if (::ERR_peek_error() != 0) ::ERR_clear_error();
}

inline int found_index() noexcept {
  static const int made = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return made;
}

DATAFLUX_INLINE void note_handshake(::ssl_ctx_st* context, ::ssl_st*& found) noexcept {
  if (::SSL_CTX_set_ex_data(context, found_index(), &found) != 1) return;
  ::SSL_CTX_set_info_callback(context, [](const ::SSL* ssl, int what, int) noexcept {
    if ((what & SSL_CB_HANDSHAKE_DONE) == 0) return;
    void* const place = ::SSL_CTX_get_ex_data(::SSL_get_SSL_CTX(ssl), found_index());
    *static_cast<::SSL**>(place) = const_cast<::SSL*>(ssl);
  });
}

DATAFLUX_INLINE tls_stream* tls_stream::attach(::ssl_st* ssl, int descriptor,
                                               record_memory& memory) noexcept {
  ::SSL_set_info_callback(ssl, nullptr);
  std::unique_ptr<tls_stream, void (*)(tls_stream*)> made(
      new (std::nothrow) tls_stream(ssl, descriptor, memory), [](tls_stream* t) { delete t; });
  if (made == nullptr || method() == nullptr) return nullptr;
  ::BIO* const bio = ::BIO_new(method());
  if (bio == nullptr) return nullptr;
  ::BIO_set_data(bio, made.get());
  ::BIO_set_init(bio, 1);
  ::SSL_set_bio(ssl, bio, bio);
  static_cast<void>(SSL_set_mode(ssl, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER));
  static_cast<void>(::SSL_set_options(ssl, SSL_OP_NO_RENEGOTIATION));
  return made.release();
}

DATAFLUX_INLINE tls_stream::~tls_stream() {
  if (sealed_ != nullptr) memory_.give(std::move(sealed_));
}

/// Never freed: an SSL may end while the process does.
DATAFLUX_INLINE const ::bio_method_st* tls_stream::method() noexcept {
  static ::BIO_METHOD* const made = [] {
    ::BIO_METHOD* const m =
        ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "dataflux records");
    if (m == nullptr) return m;
    ::BIO_meth_set_write(m, &on_write);
    ::BIO_meth_set_read(m, &on_read);
    ::BIO_meth_set_ctrl(m, &on_control);
    ::BIO_meth_set_destroy(m, &on_destroy);
    return m;
  }();
  return made;
}

DATAFLUX_INLINE tls_stream& tls_stream::of(::bio_st* bio) noexcept {
  return *static_cast<tls_stream*>(::BIO_get_data(bio));
}

DATAFLUX_INLINE int tls_stream::on_write(::bio_st* bio, const char* data, int size) noexcept {
  ::BIO_clear_retry_flags(bio);
  const tls_stream& self = of(bio);
  if (of(bio).keep(as_bytes({data, static_cast<std::size_t>(size)}))) return size;
  if (self.sealed_ != nullptr && self.socket_.failure() == 0) BIO_set_retry_write(bio);
  return -1;
}

DATAFLUX_INLINE int tls_stream::on_read(::bio_st* bio, char* data, int size) noexcept {
  tls_stream& self = of(bio);
  ::BIO_clear_retry_flags(bio);
  const std::span<char> memory(data, static_cast<std::size_t>(size));
  const auto got = self.socket_.receive(std::as_writable_bytes(memory));
  if (got.status == socket_end::status::ok) return static_cast<int>(got.count);
  self.ended_ = self.ended_ || got.status == socket_end::status::closed;
  if (got.status == socket_end::status::again) BIO_set_retry_read(bio);
  return self.ended_ ? 0 : -1;
}

DATAFLUX_INLINE long tls_stream::on_control(::bio_st* bio, int command, long, void*) noexcept {
  switch (command) {
    case BIO_CTRL_EOF:
      return of(bio).ended_ ? 1 : 0;
    case BIO_CTRL_FLUSH:  // what the socket does not take now goes before all that follows
      static_cast<void>(of(bio).flush());
      return 1;
    default:
      return 0;
  }
}

DATAFLUX_INLINE int tls_stream::on_destroy(::bio_st* bio) noexcept {
  delete static_cast<tls_stream*>(::BIO_get_data(bio));
  return 1;
}

/// Appends a record to what is to be sent. False: no room, or no memory.
DATAFLUX_INLINE bool tls_stream::keep(bytes_view record) noexcept {
  if (record.size() > record_memory::size - filled_) static_cast<void>(flush());
  if (record.size() > record_memory::size - filled_) return false;
  if (sealed_ == nullptr) sealed_ = memory_.take();
  if (sealed_ == nullptr) return false;
  std::memcpy(sealed_.get() + filled_, record.data(), record.size());
  filled_ += record.size();
  return true;
}

/// Sends what is sealed; `ok` when the socket has taken all.
DATAFLUX_INLINE socket_end::status tls_stream::flush() noexcept {
  while (sent_ < filled_) {
    const auto moved = socket_.send(bytes_view(sealed_.get(), filled_).subspan(sent_));
    if (moved.status != socket_end::status::ok) return moved.status;
    sent_ += moved.count;
  }
  filled_ = sent_ = 0;
  if (sealed_ != nullptr) memory_.give(std::move(sealed_));
  return socket_end::status::ok;
}

/// `ok` when at least one byte is sealed.
DATAFLUX_INLINE socket_end::outcome tls_stream::seal(bytes_view bytes) noexcept {
  forget_tls_errors();
  const bytes_view most = bytes.first(std::min(bytes.size(), record_memory::content));
  while (owed_ < most.size()) {
    const bytes_view rest = most.subspan(owed_);
    const int taken = ::SSL_write(ssl_, rest.data(), static_cast<int>(rest.size()));
    if (taken <= 0 && owed_ == 0) return why_not(taken);
    if (taken <= 0) break;
    owed_ += static_cast<std::size_t>(taken);
  }
  return {socket_end::status::ok, 0};
}

DATAFLUX_INLINE socket_end::outcome tls_stream::send(bytes_view bytes) noexcept {
  if (owed_ == 0) {
    if (const auto sealed = seal(bytes); sealed.status != socket_end::status::ok) return sealed;
  }
  const std::size_t before = filled_ - sent_;
  const auto how = flush();
  if (how == socket_end::status::ok) return {how, std::exchange(owed_, 0)};
  if (how != socket_end::status::again) return {how, 0};
  // Of what is on its way in part the whole records count, nearly; all of it does at the end.
  const std::size_t gone = before - (filled_ - sent_);
  const std::size_t count = static_cast<std::size_t>(std::uint64_t{owed_} * gone / before);
  if (count == 0 || count == owed_) return {socket_end::status::again, 0};
  owed_ -= count;
  return {socket_end::status::ok, count};
}

DATAFLUX_INLINE socket_end::outcome tls_stream::receive(bytes_span memory) noexcept {
  forget_tls_errors();
  const auto most = std::min<std::size_t>(memory.size(), INT_MAX);
  const int came = ::SSL_read(ssl_, memory.data(), static_cast<int>(most));
  if (came > 0) return {socket_end::status::ok, static_cast<std::size_t>(came)};
  return why_not(came);
}

/// A socket that has failed once may say something else when it is asked again.
DATAFLUX_INLINE socket_end::outcome tls_stream::why_not(int returned) noexcept {
  if (socket_.failure() != 0) return {socket_end::status::failed, 0};
  switch (::SSL_get_error(ssl_, returned)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return {socket_end::status::again, 0};
    case SSL_ERROR_ZERO_RETURN:
      return {socket_end::status::closed, 0};
    default:
      failure_ = ::ERR_peek_last_error();
      ::ERR_clear_error();
      return {socket_end::status::failed, 0};
  }
}

DATAFLUX_INLINE bool tls_stream::wants_more() const noexcept {
  return SSL_want_read(ssl_) || SSL_want_write(ssl_);
}

DATAFLUX_INLINE bool tls_stream::drained() const noexcept {
  return socket_.drained() && ::SSL_has_pending(ssl_) == 0;
}

DATAFLUX_INLINE std::string tls_stream::last_failure() const {
  if (socket_.failure() != 0) return std::generic_category().message(socket_.failure());
  if (ended_) return "the server ended the connection without a close of TLS";
  const char* const reason = ::ERR_reason_error_string(failure_);
  return reason != nullptr ? std::string("TLS: ") + reason : "TLS failed";
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
