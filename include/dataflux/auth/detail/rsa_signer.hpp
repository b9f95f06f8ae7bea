#pragma once

#include <dataflux/result.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// An RSA private key that signs. Copies share the key. Thread-safe: signing changes nothing.
class rsa_signer {
 public:
  /// Reads an unencrypted PEM key (PKCS#8 or PKCS#1) of at least 2048 bits, checks that it is a
  /// consistent RSA key, and forgets `pem`. Errors: invalid_argument, never quoting the key.
  /// Cost: milliseconds, for the check.
  static result<rsa_signer> from_pem(std::string_view pem);

  /// RS256 of RFC 7518: PKCS#1 v1.5 over SHA-256; raw bytes. Cost: about 1 ms for 2048 bits.
  /// Errors: internal, when OpenSSL refuses.
  result<std::string> sign_sha256(std::string_view text) const;

 private:
  explicit rsa_signer(std::shared_ptr<void> key) noexcept : key_(std::move(key)) {}
  std::shared_ptr<void> key_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/rsa_signer.ipp>
#endif
