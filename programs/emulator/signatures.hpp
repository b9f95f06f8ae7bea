#pragma once

#include <emulator/hmac_keys.hpp>
#include <emulator/oauth.hpp>
#include <emulator/signing_key.hpp>
#include <emulator/stored_object.hpp>
#include <emulator/v4.hpp>

#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>

namespace emulator {

/// Whose signatures the emulator can check: its own service account's, those of accounts that it
/// was told of, and those by HMAC keys that it made. Thread safe.
class signers {
 public:
  signers(const token_authority& own, const hmac_keys& keys) : own_(own), keys_(keys) {}

  /// `pem` is a private or public RSA key. Throws service_error 400 when it is none.
  void trust(std::string_view email, const std::string& pem);

  /// Whether `signature` is that of `account` over `text`; empty optional: the account is not
  /// known.
  std::optional<bool> rsa(std::string_view account, std::string_view text,
                          std::string_view signature) const;
  /// Likewise by the key of HMAC that V4 derives for `scope`
  /// ("DATE/LOCATION/storage/goog4_request").
  std::optional<bool> hmac(std::string_view access_id, std::string_view scope,
                           std::string_view text, std::string_view signature) const;

 private:
  const token_authority& own_;
  const hmac_keys& keys_;
  mutable std::shared_mutex mutex_{};
  std::map<std::string, std::unique_ptr<signing_key>, std::less<>> told_{};
};

service_error expired_signature(const std::string& details);
service_error wrong_signature(const std::string& string_to_sign);
/// 400 MalformedSecurityHeader.
service_error malformed_signature(std::string_view parameter, std::string_view details);
/// Throws unless `date` is not in the future, beyond what clocks may differ.
void check_begun(stored_object::time_point date, stored_object::time_point now);

/// What has been found out of a request's signature.
enum class signature { none, unknown_signer, good };

/// Judges the signature in a URL (protocol.md 1.15), V4 or V2. Of a signer who is not known date,
/// lifetime, scope and form are judged, and the signature itself is not. Throws service_error.
signature check_signed_url(const call& asked, const http_request& request, const signers& known,
                           stored_object::time_point now);

}  // namespace emulator
