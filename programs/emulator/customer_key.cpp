#include <emulator/customer_key.hpp>
#include <emulator/digest.hpp>
#include <emulator/service_error.hpp>

namespace emulator {

std::string customer_key_of(const http_request& request, key_role role) {
  const std::string prefix =
      role == key_role::own ? "x-goog-encryption-" : "x-goog-copy-source-encryption-";
  const std::string_view algorithm = request.header(prefix + "algorithm");
  const std::string_view key = request.header(prefix + "key");
  const std::string_view digest = request.header(prefix + "key-sha256");
  if (algorithm.empty() && key.empty() && digest.empty()) return {};
  if (algorithm != "AES256") {
    throw service_error{400, "customerEncryptionAlgorithmIsInvalid",
                        "CustomerEncryptionAlgorithmIsInvalid",
                        "The encryption algorithm is not AES256."};
  }
  const auto raw = base64_decode(key);
  if (!raw || raw->size() != 32) {
    throw service_error{400, "customerEncryptionKeyFormatIsInvalid",
                        "CustomerEncryptionKeyFormatIsInvalid",
                        "The encryption key is not 32 bytes in base64."};
  }
  if (base64_encode(sha256(*raw)) != digest) {
    throw service_error{400, "customerEncryptionKeySha256IsInvalid",
                        "CustomerEncryptionKeySha256IsInvalid",
                        "The SHA-256 of the encryption key is another one."};
  }
  return std::string{digest};
}

void require_key(const std::string& needed, const std::string& given) {
  if (needed == given) return;
  if (needed.empty()) {
    throw service_error{400, "resourceNotEncryptedWithCustomerEncryptionKey",
                        "ResourceNotEncryptedWithCustomerEncryptionKey",
                        "The target object is not encrypted by a customer-supplied encryption "
                        "key."};
  }
  if (given.empty()) {
    throw service_error{400, "resourceIsEncryptedWithCustomerEncryptionKey",
                        "ResourceIsEncryptedWithCustomerEncryptionKey",
                        "The target object is encrypted by a customer-supplied encryption key."};
  }
  throw service_error{400, "customerEncryptionKeyIsIncorrect", "CustomerEncryptionKeyIsIncorrect",
                      "The provided encryption key is incorrect."};
}

}  // namespace emulator
