#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/http/detail/trust_places.hpp>
#include <dataflux/result.hpp>

#include <memory>
#include <utility>

struct ssl_ctx_st;     // SSL_CTX
struct x509_store_st;  // X509_STORE

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// Trusted authorities, parsed once for all connections of a connector: a system's bundle costs
/// some 30 ms and 800 KiB. After a day they are read again, as curl's own cache does. Not
/// thread-safe.
class trust_store {
 public:
  explicit trust_store(trust_places places) : places_(std::move(places)) {}
  trust_store(const trust_store&) = delete;
  trust_store& operator=(const trust_store&) = delete;

  /// Has `context` trust them and nobody else, and read ahead. Errors: unavailable, retryable, when
  /// no descriptor is left to read the file; failed_precondition when it cannot be read or holds no
  /// certificate, or when nobody knows of a place. When it cannot be read again, the authorities
  /// that were read before stay.
  result<void> attach(::ssl_ctx_st* context, time_point now);

 private:
  using store = std::unique_ptr<::x509_store_st, void (*)(::x509_store_st*)>;
  result<store> read() const;

  const trust_places places_;
  store store_{nullptr, nullptr};
  time_point read_again_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/trust_store.ipp>
#endif
