#include "test_key.hpp"

#include <dataflux/codec/detail/base64.hpp>
#include <dataflux/codec/detail/json_writer.hpp>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace test {

namespace {

using key_ptr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

key_ptr make_rsa(unsigned bits) { return {EVP_RSA_gen(bits), EVP_PKEY_free}; }

const key_ptr& shared_key() {
  static const key_ptr key = make_rsa(2048);
  return key;
}

std::string to_pem(EVP_PKEY* key, const EVP_CIPHER* cipher, std::string password) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
  auto* const secret = reinterpret_cast<unsigned char*>(password.data());
  const int length = static_cast<int>(password.size());
  if (PEM_write_bio_PrivateKey(out.get(), key, cipher, secret, length, nullptr, nullptr) != 1) {
    throw std::runtime_error("no PEM");
  }
  BUF_MEM* memory = nullptr;
  BIO_get_mem_ptr(out.get(), &memory);
  return {memory->data, memory->length};
}

const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// Of a text in the URL's alphabet, without padding.
std::optional<std::string> bytes_of_url_text(std::string_view text) {
  std::string standard(text);
  std::replace(standard.begin(), standard.end(), '-', '+');
  std::replace(standard.begin(), standard.end(), '_', '/');
  standard.append((4 - standard.size() % 4) % 4, '=');
  return dataflux::detail::codec::decode_base64(standard);
}

}  // namespace

const std::string& private_pem() {
  static const std::string pem = to_pem(shared_key().get(), nullptr, {});
  return pem;
}
std::string encrypted_pem() { return to_pem(shared_key().get(), EVP_aes_256_cbc(), "password"); }
std::string short_rsa_pem() { return to_pem(make_rsa(1024).get(), nullptr, {}); }
std::string elliptic_pem() {
  return to_pem(key_ptr(EVP_EC_gen("P-256"), EVP_PKEY_free).get(), nullptr, {});
}

std::optional<verified_jwt> verify_jwt(std::string_view token) {
  const std::size_t first = token.find('.');
  const std::size_t last = token.rfind('.');
  if (first == std::string_view::npos || first == last) return std::nullopt;
  const auto header = bytes_of_url_text(token.substr(0, first));
  const auto claims = bytes_of_url_text(token.substr(first + 1, last - first - 1));
  const auto signature = bytes_of_url_text(token.substr(last + 1));
  if (!header || !claims || !signature) return std::nullopt;
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(),
                                                                       EVP_MD_CTX_free);
  const bool right =
      EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, shared_key().get()) == 1 &&
      EVP_DigestVerify(digest.get(), bytes(*signature), signature->size(), bytes(token), last) == 1;
  if (!right) return std::nullopt;
  return verified_jwt{*header, *claims};
}

std::string json_quoted(std::string_view text) {
  std::string out;
  dataflux::detail::codec::append_json_string(out, text);
  return out;
}

std::string to_json(const fields& members) {
  std::string out = "{";
  for (const auto& [name, value] : members) {
    if (out.size() > 1) out += ',';
    out += json_quoted(name) + ':' + value;
  }
  return out + "}";
}

fields service_account_file() {
  return {{"type", json_quoted("service_account")},
          {"project_id", json_quoted("my-project")},
          {"private_key_id", json_quoted("key-1")},
          {"private_key", json_quoted(private_pem())},
          {"client_email", json_quoted("robot@my-project.iam.gserviceaccount.com")},
          {"client_id", json_quoted("1234")},
          {"token_uri", json_quoted("https://oauth2.googleapis.com/token")},
          {"universe_domain", json_quoted("googleapis.com")}};
}

fields authorized_user_file() {
  return {{"type", json_quoted("authorized_user")},
          {"account", json_quoted("")},
          {"client_id", json_quoted("client.apps")},
          {"client_secret", json_quoted("SECRET/client+1")},
          {"refresh_token", json_quoted("1//SECRET-refresh")},
          {"quota_project_id", json_quoted("billed-project")},
          {"universe_domain", json_quoted("googleapis.com")}};
}

fields external_account_file() {
  return {{"type", json_quoted("external_account")},
          {"audience", json_quoted("//iam.googleapis.com/projects/1/locations/global/"
                                   "workloadIdentityPools/p/providers/q")},
          {"subject_token_type", json_quoted("urn:ietf:params:oauth:token-type:jwt")},
          {"token_url", json_quoted("https://sts.googleapis.com/v1/token")},
          {"credential_source", R"({"file":"/token"})"}};
}

fields external_user_file() {
  return {{"type", json_quoted("external_account_authorized_user")},
          {"audience",
           json_quoted("//iam.googleapis.com/locations/global/workforcePools/p/providers/q")},
          {"client_id", json_quoted("client.apps")},
          {"client_secret", json_quoted("SECRET/client+1")},
          {"refresh_token", json_quoted("1//SECRET-refresh")},
          {"token_url", json_quoted("https://sts.googleapis.com/v1/oauthtoken")}};
}

fields impersonated_file(const fields& source) {
  return {{"type", json_quoted("impersonated_service_account")},
          {"delegates", "[]"},
          {"service_account_impersonation_url",
           json_quoted("https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/"
                       "target@p.iam.gserviceaccount.com:generateAccessToken")},
          {"source_credentials", to_json(source)}};
}

std::string with(fields members, std::string_view name, std::string_view value) {
  std::erase_if(members, [&](const auto& member) { return member.first == name; });
  if (!value.empty()) members.emplace_back(name, value);
  return to_json(members);
}

dataflux::system_time some_time() {
  return dataflux::system_time{std::chrono::seconds(1767323045)};
}

dataflux::detail::auth::flow_event reply(int status, std::string body, bool metadata) {
  dataflux::detail::auth::http_reply r;
  r.status = status;
  r.body = std::move(body);
  if (metadata) r.headers.add("Metadata-Flavor", "Google");
  return dataflux::result<dataflux::detail::auth::http_reply>{std::move(r)};
}

}  // namespace test
