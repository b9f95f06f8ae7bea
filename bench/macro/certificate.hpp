#pragma once
// A certificate authority and a server certificate of its own for "localhost" and 127.0.0.1, made
// in memory at start: the macro benchmarks' clients verify the server as they would the service.

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <string>

#include "measure.hpp"

namespace bench {

struct key_and_certificate {
  EVP_PKEY* key;
  X509* certificate;
};

/// Signs with `issuer`, or itself when that is null. Kept until the process ends.
inline key_and_certificate make_certificate(const char* name, const key_and_certificate* issuer) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* made = X509_new();
  if (key == nullptr || made == nullptr) fail("cannot make a key");
  X509_set_version(made, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made), issuer == nullptr ? 1 : 2);
  X509_gmtime_adj(X509_getm_notBefore(made), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made), 24L * 3600);
  X509_set_pubkey(made, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509* authority = issuer == nullptr ? made : issuer->certificate;
  X509_set_issuer_name(made, X509_get_subject_name(authority));

  X509V3_CTX context{};
  X509V3_set_ctx(&context, authority, made, nullptr, nullptr, 0);
  const auto extend = [&](int nid, const char* value) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
    if (extension == nullptr || X509_add_ext(made, extension, -1) != 1)
      fail("bad extension", value);
    X509_EXTENSION_free(extension);
  };
  extend(NID_subject_key_identifier, "hash");
  extend(NID_authority_key_identifier, "keyid");
  if (issuer == nullptr) {
    extend(NID_basic_constraints, "critical,CA:TRUE");
    extend(NID_key_usage, "critical,keyCertSign,cRLSign");
  } else {
    extend(NID_basic_constraints, "critical,CA:FALSE");
    extend(NID_key_usage, "critical,digitalSignature");
    extend(NID_ext_key_usage, "serverAuth");
    extend(NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  }
  if (X509_sign(made, issuer == nullptr ? key : issuer->key, EVP_sha256()) == 0)
    fail("cannot sign the certificate");
  return {key, made};
}

/// A TLS 1.3 server context; the authority that clients are to trust is written to `ca_file`. One
/// cipher suite, the one that OpenSSL's clients agree on with the service, so that peers with other
/// preferences pay for the same one.
inline SSL_CTX* make_server_context(const std::string& ca_file) {
  const key_and_certificate authority = make_certificate("dataflux bench authority", nullptr);
  const key_and_certificate server = make_certificate("localhost", &authority);
  std::FILE* file = std::fopen(ca_file.c_str(), "w");
  if (file == nullptr || PEM_write_X509(file, authority.certificate) != 1 || std::fclose(file) != 0)
    fail("cannot write", ca_file);

  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  if (context == nullptr || SSL_CTX_use_certificate(context, server.certificate) != 1 ||
      SSL_CTX_use_PrivateKey(context, server.key) != 1 ||
      SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(context, "TLS_AES_256_GCM_SHA384") != 1)
    fail("cannot set up TLS");
  return context;
}

}  // namespace bench
