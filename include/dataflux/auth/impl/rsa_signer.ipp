#pragma once

#include <dataflux/auth/detail/rsa_signer.hpp>

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <cstdint>
#include <limits>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

template <auto Free>
struct openssl_free {
  template <class T>
  void operator()(T* p) const noexcept {
    Free(p);
  }
};
using bio_ptr = std::unique_ptr<BIO, openssl_free<BIO_free>>;
using digest_ptr = std::unique_ptr<EVP_MD_CTX, openssl_free<EVP_MD_CTX_free>>;

inline constexpr int smallest_rsa_key = 2048;

/// For an encrypted key OpenSSL would ask on the terminal: give no password instead.
inline int no_password(char*, int, int, void*) noexcept { return -1; }

inline const unsigned char* as_unsigned(std::string_view text) noexcept {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// What failed stays on the thread's error queue, where the TLS of the same thread would find it.
inline error openssl_error(errc code, std::string_view what) {
  ERR_clear_error();
  return {code, std::string{what}};
}

DATAFLUX_INLINE result<rsa_signer> rsa_signer::from_pem(std::string_view pem) {
  if (pem.size() > std::numeric_limits<std::uint16_t>::max()) {
    return error{errc::invalid_argument, "the private key is too long to be one"};
  }
  // This may be the first use of OpenSSL in the process: threads of this library may still use it
  // when the process exits.
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
  const bio_ptr text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  EVP_PKEY* const raw =
      text ? PEM_read_bio_PrivateKey(text.get(), nullptr, no_password, nullptr) : nullptr;
  if (raw == nullptr) {
    return openssl_error(errc::invalid_argument,
                         "the private key is not a readable, unencrypted PEM key");
  }
  rsa_signer signer{
      std::shared_ptr<void>(raw, [](void* key) { EVP_PKEY_free(static_cast<EVP_PKEY*>(key)); })};
  if (EVP_PKEY_get_base_id(raw) != EVP_PKEY_RSA) {
    return error{errc::invalid_argument, "the private key is not an RSA key"};
  }
  if (EVP_PKEY_get_bits(raw) < smallest_rsa_key) {
    return error{errc::invalid_argument, "the private key is shorter than 2048 bits"};
  }
  // A signature that its own public half accepts shows that the numbers in it belong together.
  constexpr std::string_view probe = "dataflux";
  const auto signature = signer.sign_sha256(probe);
  const digest_ptr digest(EVP_MD_CTX_new());
  const bool accepted =
      signature && digest &&
      EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, raw) == 1 &&
      EVP_DigestVerify(digest.get(), as_unsigned(*signature), signature->size(), as_unsigned(probe),
                       probe.size()) == 1;
  if (!accepted) {
    return openssl_error(errc::invalid_argument, "the private key is damaged");
  }
  return signer;
}

DATAFLUX_INLINE result<std::string> rsa_signer::sign_sha256(std::string_view text) const {
  auto* const key = static_cast<EVP_PKEY*>(key_.get());
  const digest_ptr digest(EVP_MD_CTX_new());
  std::string signature(static_cast<std::size_t>(EVP_PKEY_get_size(key)), '\0');
  std::size_t length = signature.size();
  if (!digest || EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key) != 1 ||
      EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(signature.data()), &length,
                     as_unsigned(text), text.size()) != 1) {
    return openssl_error(errc::internal, "OpenSSL cannot sign with the private key");
  }
  signature.resize(length);
  return signature;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
