#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace emulator {

/// An RSA key pair for service accounts: makes the key file, checks what is signed with it.
/// Threads: const members may be called at the same time.
class signing_key {
 public:
  /// Generates 2048 bits; tens of milliseconds.
  signing_key();
  /// Of a PEM with a private key, or a public one that can verify only. Throws std::runtime_error.
  explicit signing_key(const std::string& pem);

  std::string private_pem() const;  ///< PKCS#8
  std::string public_pem() const;
  /// True when `signature` is RS256 over `text` by this key.
  bool verifies(std::string_view text, std::string_view signature) const;
  /// RS256 over `text`, for tests of the emulator itself.
  std::string sign(std::string_view text) const;

 private:
  std::shared_ptr<void> key_;
};

}  // namespace emulator
