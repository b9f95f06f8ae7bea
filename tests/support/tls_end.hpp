#pragma once

#include <emulator/certificate.hpp>
#include <support/raw_server.hpp>

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

/// The server's end of TLS on a connection of a raw_server. What is said goes out in records and
/// flights as the test wants them: each queue() is a record, each flush() a send.
class tls_end {
 public:
  /// Shakes hands; on failure everything else does nothing.
  tls_end(raw_server::peer& below, const emulator::certificate& own)
      : below_(below), context_(::SSL_CTX_new(::TLS_server_method()), &::SSL_CTX_free) {
    const bio_ptr chain(memory_of(own.certificate_pem), &::BIO_free_all);
    const bio_ptr key(memory_of(own.key_pem), &::BIO_free_all);
    const std::unique_ptr<::X509, decltype(&::X509_free)> leaf(
        ::PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr), &::X509_free);
    const std::unique_ptr<::EVP_PKEY, decltype(&::EVP_PKEY_free)> secret(
        ::PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr), &::EVP_PKEY_free);
    ::SSL_CTX_use_certificate(context_.get(), leaf.get());
    ::SSL_CTX_use_PrivateKey(context_.get(), secret.get());
    // The tickets of one connection are good for all.
    std::array<unsigned char, 80> same{};
    SSL_CTX_set_tlsext_ticket_keys(context_.get(), same.data(), same.size());
    ssl_.reset(::SSL_new(context_.get()));
    ::SSL_set_bio(ssl_.get(), ::BIO_new(::BIO_s_mem()), ::BIO_new(::BIO_s_mem()));
    while (::SSL_accept(ssl_.get()) != 1) {
      flush();
      if (!take_some()) return;
    }
    flush();
  }

  /// A head without a body; empty when the peer left before.
  std::string request() {
    std::string head;
    std::array<char, 4096> piece;
    while (head.find("\r\n\r\n") == std::string::npos) {
      const int n = ::SSL_read(ssl_.get(), piece.data(), static_cast<int>(piece.size()));
      if (n > 0) {
        head.append(piece.data(), static_cast<std::size_t>(n));
      } else if (!take_some()) {
        return {};
      }
    }
    return head;
  }
  /// So much of what the peer says; less when it leaves.
  std::string bytes(std::size_t size) {
    std::string out(size, '\0');
    std::size_t have = 0;
    while (have < size) {
      const int n = ::SSL_read(ssl_.get(), out.data() + have, static_cast<int>(size - have));
      if (n > 0) {
        have += static_cast<std::size_t>(n);
      } else if (!take_some()) {
        break;
      }
    }
    out.resize(have);
    return out;
  }
  /// At most 16 KiB.
  void queue(std::string_view text) {
    ::SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size()));
  }
  /// The word that nothing follows.
  void queue_end() { ::SSL_shutdown(ssl_.get()); }
  /// What is queued, as it would go out.
  std::string take() {
    char* data = nullptr;
    ::BIO* const out = ::SSL_get_wbio(ssl_.get());
    const long size = BIO_get_mem_data(out, &data);
    std::string sealed(data, size > 0 ? static_cast<std::size_t>(size) : 0);
    static_cast<void>(BIO_reset(out));
    return sealed;
  }
  bool flush() {
    const std::string sealed = take();
    return sealed.empty() || below_.send(sealed);
  }
  /// The peer came with a ticket.
  bool resumed() const { return ::SSL_session_reused(ssl_.get()) == 1; }

 private:
  using bio_ptr = std::unique_ptr<::BIO, decltype(&::BIO_free_all)>;
  static ::BIO* memory_of(const std::string& pem) {
    return ::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  }
  bool take_some() {
    const std::string came = below_.some();
    if (came.empty()) return false;
    ::BIO_write(::SSL_get_rbio(ssl_.get()), came.data(), static_cast<int>(came.size()));
    return true;
  }

  raw_server::peer& below_;
  std::unique_ptr<::SSL_CTX, decltype(&::SSL_CTX_free)> context_;
  std::unique_ptr<::SSL, decltype(&::SSL_free)> ssl_{nullptr, &::SSL_free};
};
