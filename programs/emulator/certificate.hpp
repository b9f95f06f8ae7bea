#pragma once

#include <string>

namespace emulator {

/// Whether the server speaks TLS, and with what certificate.
enum class tls_mode {
  off,
  valid,       ///< for localhost, 127.0.0.1 and ::1
  wrong_host,  ///< for another name
  expired,
};

/// A certificate made now, and the authority that signed it, all PEM.
struct certificate {
  std::string authority_pem{};
  std::string certificate_pem{};
  std::string key_pem{};
  /// What the same authority has signed for a client.
  std::string client_pem{};
  std::string client_key_pem{};
};

/// `mode` must not be off. A few milliseconds (P-256 keys). Throws std::runtime_error.
certificate make_certificate(tls_mode mode);

}  // namespace emulator
