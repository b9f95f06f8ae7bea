#include <emulator/signing_key.hpp>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <stdexcept>

namespace emulator {
namespace {

EVP_PKEY* raw(const std::shared_ptr<void>& key) { return static_cast<EVP_PKEY*>(key.get()); }
const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

using digest_context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;
using memory_bio = std::unique_ptr<BIO, decltype(&BIO_free_all)>;

std::string text_of_bio(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace

signing_key::signing_key() {
  EVP_PKEY* made = EVP_RSA_gen(2048);
  if (made == nullptr) throw std::runtime_error("OpenSSL cannot make an RSA key");
  key_ = {made, [](void* p) { EVP_PKEY_free(static_cast<EVP_PKEY*>(p)); }};
}

signing_key::signing_key(const std::string& pem) {
  const auto read = [&pem](auto* function) {
    const memory_bio bio{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free_all};
    return function(bio.get(), nullptr, nullptr, nullptr);
  };
  EVP_PKEY* held = read(PEM_read_bio_PrivateKey);
  if (held == nullptr) held = read(PEM_read_bio_PUBKEY);
  if (held == nullptr) throw std::runtime_error("Not a PEM of an RSA key");
  key_ = {held, [](void* p) { EVP_PKEY_free(static_cast<EVP_PKEY*>(p)); }};
}

std::string signing_key::private_pem() const {
  const memory_bio bio{BIO_new(BIO_s_mem()), BIO_free_all};
  PEM_write_bio_PKCS8PrivateKey(bio.get(), raw(key_), nullptr, nullptr, 0, nullptr, nullptr);
  return text_of_bio(bio.get());
}

std::string signing_key::public_pem() const {
  const memory_bio bio{BIO_new(BIO_s_mem()), BIO_free_all};
  PEM_write_bio_PUBKEY(bio.get(), raw(key_));
  return text_of_bio(bio.get());
}

bool signing_key::verifies(std::string_view text, std::string_view signature) const {
  const digest_context context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
  return EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, raw(key_)) == 1 &&
         EVP_DigestVerify(context.get(), bytes(signature), signature.size(), bytes(text),
                          text.size()) == 1;
}

std::string signing_key::sign(std::string_view text) const {
  const digest_context context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
  std::size_t size = 0;
  if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, raw(key_)) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, bytes(text), text.size()) != 1) {
    throw std::runtime_error("OpenSSL cannot sign");
  }
  std::string out(size, '\0');
  EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size, bytes(text),
                 text.size());
  out.resize(size);
  return out;
}

}  // namespace emulator
