#pragma once

#include <dataflux/http/detail/client_certificate.hpp>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

namespace client_certificate_detail {

using bio = std::unique_ptr<::BIO, decltype(&::BIO_free_all)>;

/// The file, or the text where there is none.
inline bio open(const std::string& file, const std::string& text) {
  return {file.empty() ? ::BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))
                       : ::BIO_new_file(file.c_str(), "rb"),
          &::BIO_free_all};
}

/// OpenSSL asks a person at the terminal where there is no such function.
inline int tell_password(char* into, int size, int, void* password) noexcept {
  const auto& told = *static_cast<const std::string*>(password);
  const int count = std::min(size, static_cast<int>(told.size()));
  std::memcpy(into, told.data(), static_cast<std::size_t>(count));
  return count;
}

inline error refused(const char* what, const std::string& file, std::string_view why) {
  std::string text(what);
  if (!file.empty()) text.append(" \"").append(file).append("\"");
  return {errc::invalid_argument, text.append(": ").append(why)};
}

inline constexpr const char* whole = "client certificate";
inline constexpr const char* its_key = "key of the client certificate";

inline result<void> check(const client_certificate& shown) {
  const bio certificate = open(shown.certificate_file, shown.certificate);
  if (certificate == nullptr) return refused(whole, shown.certificate_file, "it cannot be read");
  const std::unique_ptr<::X509, decltype(&::X509_free)> first(
      ::PEM_read_bio_X509(certificate.get(), nullptr, nullptr, nullptr), &::X509_free);
  if (first == nullptr) return refused(whole, shown.certificate_file, "there is none in it (PEM)");
  const bio key = open(shown.key_file, shown.key);
  if (key == nullptr) return refused(its_key, shown.key_file, "it cannot be read");
  auto* const password = const_cast<std::string*>(&shown.key_password);
  const std::unique_ptr<::EVP_PKEY, decltype(&::EVP_PKEY_free)> opened(
      ::PEM_read_bio_PrivateKey(key.get(), nullptr, &tell_password, password), &::EVP_PKEY_free);
  if (opened == nullptr) {
    return refused(its_key, shown.key_file,
                   shown.key_password.empty()
                       ? "there is none in it (PEM), or it is encrypted and has no password"
                       : "there is none in it (PEM), or its password is another one");
  }
  if (::X509_check_private_key(first.get(), opened.get()) == 1) return {};
  return refused(its_key, shown.key_file, "it is of another certificate");
}

}  // namespace client_certificate_detail

DATAFLUX_INLINE result<void> check_certificate(const client_certificate& shown) {
  namespace d = client_certificate_detail;
  const bool files = !shown.certificate_file.empty() || !shown.key_file.empty();
  const bool texts = !shown.certificate.empty() || !shown.key.empty();
  if (!files && !texts && shown.key_password.empty()) return {};
  if (files && texts) {
    return error{errc::invalid_argument, "a client certificate is given as files or as texts"};
  }
  if (shown.certificate_file.empty() != shown.key_file.empty() ||
      shown.certificate.empty() != shown.key.empty() || shown.empty()) {
    return error{errc::invalid_argument, "a client certificate needs its key, and vice versa"};
  }
  ::ERR_clear_error();
  auto good = d::check(shown);
  ::ERR_clear_error();
  return good;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
