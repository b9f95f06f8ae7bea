#pragma once

#include <dataflux/auth/detail/sha256.hpp>
#include <dataflux/codec/detail/base64.hpp>
#include <dataflux/store/detail/held_key.hpp>
#include <dataflux/store/encryption_key.hpp>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <array>
#include <cstring>
#include <span>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

DATAFLUX_INLINE held_key::~held_key() {
  OPENSSL_cleanse(bytes.data(), bytes.size());
  OPENSSL_cleanse(base64.data(), base64.size());
}

/// Empty where the system's OpenSSL does without MD5, which S3 alone asks for.
inline std::string md5_in_base64(bytes_view of) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (EVP_Digest(of.data(), of.size(), digest.data(), &length, EVP_md5(), nullptr) != 1) {
    ERR_clear_error();
    return {};
  }
  return codec::encode_base64(std::as_bytes(std::span(digest).first(length)));
}

}  // namespace detail

DATAFLUX_INLINE result<encryption_key> encryption_key::from_bytes(bytes_view bytes) {
  if (bytes.size() != length) {
    return error{errc::invalid_argument,
                 "an encryption key has 32 bytes, and not " + std::to_string(bytes.size())};
  }
  auto held = std::make_shared<detail::held_key>();
  std::memcpy(held->bytes.data(), bytes.data(), length);
  held->base64 = detail::codec::encode_base64(bytes);
  const auto digest = detail::auth::sha256_of(as_text(bytes));
  if (!digest) return digest.error();
  held->sha256 = detail::codec::encode_base64(std::as_bytes(std::span(*digest)));
  held->md5 = detail::md5_in_base64(bytes);
  encryption_key made;
  made.held_ = std::move(held);
  return made;
}

DATAFLUX_INLINE result<encryption_key> encryption_key::from_base64(std::string_view text) {
  auto bytes = detail::codec::decode_base64(text);
  if (!bytes) return error{errc::invalid_argument, "the encryption key is no Base64"};
  auto made = from_bytes(as_bytes(*bytes));
  OPENSSL_cleanse(bytes->data(), bytes->size());
  return made;
}

DATAFLUX_INLINE bool encryption_key::equals(const encryption_key& other) const noexcept {
  if (held_ == other.held_) return true;
  return held_ != nullptr && other.held_ != nullptr &&
         CRYPTO_memcmp(held_->bytes.data(), other.held_->bytes.data(), length) == 0;
}

}  // namespace dataflux::inline DATAFLUX_ABI
