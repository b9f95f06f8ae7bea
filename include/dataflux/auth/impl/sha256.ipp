#pragma once

#include <dataflux/auth/detail/sha256.hpp>
#include <dataflux/detail/hexadecimal.hpp>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <cstddef>
#include <memory>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// Looked up once: at each use that costs more than the digest of a short text.
inline const EVP_MD* sha256_algorithm() noexcept {
  static EVP_MD* const found = [] {
    // Threads of this library may still use it when the process exits.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
    return EVP_MD_fetch(nullptr, "SHA256", nullptr);
  }();
  return found;
}

/// One context for all digests of a thread: OpenSSL allocates each new one in several pieces.
class sha256_context {
 public:
  static sha256_context& of_this_thread() noexcept {
    thread_local sha256_context context;
    return context;
  }

  bool digest(std::span<const bytes_view> parts, sha256_digest& into) noexcept {
    const EVP_MD* const algorithm = sha256_algorithm();
    if (context_ == nullptr) context_.reset(EVP_MD_CTX_new());
    bool good = context_ != nullptr && algorithm != nullptr &&
                EVP_DigestInit_ex2(context_.get(), algorithm, nullptr) == 1;
    for (const bytes_view part : parts) {
      good = good && EVP_DigestUpdate(context_.get(), part.data(), part.size()) == 1;
    }
    return good && EVP_DigestFinal_ex(context_.get(), into.data(), nullptr) == 1;
  }

 private:
  struct freed {
    void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, freed> context_{};
};

inline error no_digest() {
  ERR_clear_error();
  return {errc::internal, "OpenSSL cannot compute SHA-256"};
}

DATAFLUX_INLINE result<sha256_digest> sha256_of(std::span<const bytes_view> parts) {
  sha256_digest digest{};
  if (!sha256_context::of_this_thread().digest(parts, digest)) return no_digest();
  return digest;
}

DATAFLUX_INLINE result<sha256_digest> sha256_of(std::string_view text) {
  const std::array<bytes_view, 1> parts{as_bytes(text)};
  return sha256_of(parts);
}

DATAFLUX_INLINE result<sha256_digest> hmac_sha256(std::string_view key, std::string_view text) {
  constexpr std::size_t block_size = 64;
  constexpr std::uint8_t inner = 0x36;
  constexpr std::uint8_t outer = 0x5c;
  sha256_context& context = sha256_context::of_this_thread();
  sha256_digest digest{};
  std::array<std::uint8_t, block_size> pad{};
  bool good = true;
  if (key.size() > block_size) {
    const std::array<bytes_view, 1> whole{as_bytes(key)};
    good = context.digest(whole, digest);
    key = raw_text(digest);
  }
  key.copy(reinterpret_cast<char*>(pad.data()), pad.size());
  for (std::uint8_t& byte : pad) byte = static_cast<std::uint8_t>(byte ^ inner);
  const std::array<bytes_view, 2> first{std::as_bytes(std::span(pad)), as_bytes(text)};
  good = good && context.digest(first, digest);
  for (std::uint8_t& byte : pad) byte = static_cast<std::uint8_t>(byte ^ inner ^ outer);
  const std::array<bytes_view, 2> second{std::as_bytes(std::span(pad)),
                                         std::as_bytes(std::span(digest))};
  sha256_digest mac{};
  good = good && context.digest(second, mac);
  OPENSSL_cleanse(pad.data(), pad.size());
  if (!good) return no_digest();
  return mac;
}

DATAFLUX_INLINE void append_digest(std::string& out, const sha256_digest& digest) {
  for (std::size_t i = 0; i < digest.size(); i += 4) {
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 4; ++k) word = word << 8U | digest[i + k];
    detail::append_hex(out, word, 8);
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
