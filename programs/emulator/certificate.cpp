#include <emulator/certificate.hpp>

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <memory>
#include <stdexcept>

namespace emulator {
namespace {

using key_ptr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using x509_ptr = std::unique_ptr<X509, decltype(&X509_free)>;
using bio_ptr = std::unique_ptr<BIO, decltype(&BIO_free_all)>;

void require(bool good) {
  if (!good) throw std::runtime_error("OpenSSL cannot make a certificate");
}

key_ptr make_key() {
  key_ptr key{EVP_EC_gen("P-256"), EVP_PKEY_free};
  require(key != nullptr);
  return key;
}

void add_extension(X509* subject, X509* issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, subject, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value);
  require(extension != nullptr);
  X509_add_ext(subject, extension, -1);
  X509_EXTENSION_free(extension);
}

/// A certificate of `key`, valid from `from_s` to `to_s` seconds from now, not yet signed.
x509_ptr make_unsigned(EVP_PKEY* key, const char* name, long from_s, long to_s) {
  x509_ptr out{X509_new(), X509_free};
  require(out != nullptr);
  X509_set_version(out.get(), X509_VERSION_3);
  std::array<unsigned char, 15> serial{};
  RAND_bytes(serial.data(), static_cast<int>(serial.size()));
  BIGNUM* number = BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(out.get()));
  BN_free(number);
  X509_gmtime_adj(X509_getm_notBefore(out.get()), from_s);
  X509_gmtime_adj(X509_getm_notAfter(out.get()), to_s);
  X509_set_pubkey(out.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(out.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  return out;
}

std::string pem_of(X509* subject) {
  const bio_ptr bio{BIO_new(BIO_s_mem()), BIO_free_all};
  PEM_write_bio_X509(bio.get(), subject);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string pem_of(EVP_PKEY* key) {
  const bio_ptr bio{BIO_new(BIO_s_mem()), BIO_free_all};
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace

certificate make_certificate(tls_mode mode) {
  constexpr long day = 24L * 3600;
  const key_ptr authority_key = make_key();
  const x509_ptr authority =
      make_unsigned(authority_key.get(), "dataflux emulator CA", -30 * day, 365 * day);
  X509_set_issuer_name(authority.get(), X509_get_subject_name(authority.get()));
  add_extension(authority.get(), authority.get(), NID_basic_constraints, "critical,CA:TRUE");
  add_extension(authority.get(), authority.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(authority.get(), authority.get(), NID_subject_key_identifier, "hash");
  require(X509_sign(authority.get(), authority_key.get(), EVP_sha256()) > 0);

  const key_ptr key = make_key();
  const bool expired = mode == tls_mode::expired;
  const x509_ptr leaf = make_unsigned(key.get(), "dataflux emulator", expired ? -2 * day : -day,
                                      expired ? -day : 90 * day);
  X509_set_issuer_name(leaf.get(), X509_get_subject_name(authority.get()));
  add_extension(leaf.get(), authority.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(leaf.get(), authority.get(), NID_key_usage, "critical,digitalSignature");
  add_extension(leaf.get(), authority.get(), NID_ext_key_usage, "serverAuth");
  add_extension(leaf.get(), authority.get(), NID_authority_key_identifier, "keyid");
  add_extension(
      leaf.get(), authority.get(), NID_subject_alt_name,
      mode == tls_mode::wrong_host ? "DNS:elsewhere.invalid" : "DNS:localhost,IP:127.0.0.1,IP:::1");
  require(X509_sign(leaf.get(), authority_key.get(), EVP_sha256()) > 0);

  const key_ptr client_key = make_key();
  const x509_ptr client =
      make_unsigned(client_key.get(), "dataflux emulator client", -day, 90 * day);
  X509_set_issuer_name(client.get(), X509_get_subject_name(authority.get()));
  add_extension(client.get(), authority.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(client.get(), authority.get(), NID_ext_key_usage, "clientAuth");
  require(X509_sign(client.get(), authority_key.get(), EVP_sha256()) > 0);
  return {.authority_pem = pem_of(authority.get()),
          .certificate_pem = pem_of(leaf.get()),
          .key_pem = pem_of(key.get()),
          .client_pem = pem_of(client.get()),
          .client_key_pem = pem_of(client_key.get())};
}

}  // namespace emulator
