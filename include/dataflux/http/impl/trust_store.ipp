#pragma once

#include <dataflux/http/detail/descriptors.hpp>
#include <dataflux/http/detail/trust_store.hpp>

#include <cerrno>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// One system call for several TLS records instead of two for each: a seventh of the cost of a
/// small read. The buffer lives with the connection.
inline void read_ahead(::ssl_ctx_st* context) noexcept {
  static_cast<void>(SSL_CTX_set_read_ahead(context, 1));
  ::SSL_CTX_set_default_read_buffer_len(context, std::size_t{128} << 10U);
}

DATAFLUX_INLINE result<void> trust_store::attach(::ssl_ctx_st* context, time_point now) {
  read_ahead(context);
  if (store_ == nullptr || read_again_ <= now) {
    auto fresh = read();
    if (!fresh && store_ == nullptr) return std::move(fresh).error();
    if (fresh) {
      store_ = std::move(*fresh);
      read_again_ = now + std::chrono::hours(24);
    }
  }
  ::SSL_CTX_set1_cert_store(context, store_.get());
  return {};
}

DATAFLUX_INLINE result<trust_store::store> trust_store::read() const {
  store made(::X509_STORE_new(), &::X509_STORE_free);
  if (made == nullptr) throw std::bad_alloc();
  // As curl has it: prefer what is trusted to what the server sends along, and let an intermediate
  // authority be trusted by itself.
  ::X509_STORE_set_flags(made.get(), X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN);
  ::ERR_clear_error();
  errno = 0;
  const auto& [file, folders, named_by] = places_;
  const bool good = (file.empty() || ::X509_STORE_load_file(made.get(), file.c_str()) == 1) &&
                    (folders.empty() || ::X509_STORE_load_path(made.get(), folders.c_str()) == 1);
  const int code = errno;
  ::ERR_clear_error();
  if (file.empty() && folders.empty()) {
    return error(
        errc::failed_precondition,
        "found no trusted authorities on this system: install its ca-certificates, or name "
        "a PEM file by SSL_CERT_FILE or in the client's ca_file");
  }
  if (good) return made;
  if (is_descriptor_shortage(code)) {
    return error(errc::unavailable, std::string(no_descriptor_text)).with_retryable(true);
  }
  return error(errc::failed_precondition,
               "cannot read the trusted authorities of \"" + (file.empty() ? folders : file) +
                   "\"" + (named_by.empty() ? "" : " (" + named_by + ")") +
                   (code != 0 ? ": " + std::generic_category().message(code) : ""));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
