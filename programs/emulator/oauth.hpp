#pragma once

#include <emulator/message.hpp>
#include <emulator/signing_key.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace emulator {

class json_writer;

/// Replies of an endpoint that gives tokens: a document, and a refusal as RFC 6749 has it.
http_reply oauth_document(int status, json_writer& out);
http_reply oauth_error(int status, std::string_view error, std::string_view description);

/// Whom the emulator knows and what it trusts.
struct identity {
  std::string client_email{"emulator@example.iam.gserviceaccount.com"};
  std::string private_key_id{"emulator-key"};
  std::string client_id{"emulator-client"};
  std::string client_secret{"emulator-secret"};
  std::string refresh_token{"emulator-refresh-token"};

  // Of federation.
  std::string audience{
      "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/emulator/providers/"
      "own"};
  std::string workforce_audience{
      "//iam.googleapis.com/locations/global/workforcePools/emulator/providers/own"};
  std::string subject_token{"emulator.subject.token"};
  std::string workforce_refresh_token{"emulator-workforce-refresh-token"};
  /// Whom the others may act for; and whom they may act for through `delegate_email` alone.
  std::string target_email{"target@example.iam.gserviceaccount.com"};
  std::string far_email{"far@example.iam.gserviceaccount.com"};
  std::string delegate_email{"delegate@example.iam.gserviceaccount.com"};
};

/// The token endpoint (`POST /token`), the metadata server (`/computeMetadata/v1/...`), and the
/// judgement of Bearer tokens (protocol.md 4.2, 4.3, 4.8). Thread safe.
class token_authority {
 public:
  token_authority(identity known, std::chrono::seconds lifetime)
      : known_(std::move(known)), lifetime_(lifetime) {}

  /// Grants jwt-bearer and refresh_token; refusals are 400 with {"error": "invalid_grant", ...}.
  http_reply token(const http_request& request);
  /// 403 without `Metadata-Flavor: Google`; else token, email, scopes, project, universe.
  http_reply metadata(const http_request& request);

  /// True for a live token issued here and for a valid self-signed JWT of the known account.
  bool accepts(std::string_view bearer) const;
  /// True for a live token issued here.
  bool issued(std::string_view bearer) const;
  /// A token that is good for so long, at most as long as all are.
  std::string issue(std::chrono::seconds life = std::chrono::hours{24});
  std::chrono::seconds lifetime() const noexcept { return lifetime_; }
  const identity& known() const noexcept { return known_; }
  /// Whether its key is that of this authority.
  bool owns(std::string_view email) const noexcept {
    return email == known_.client_email || email == known_.target_email ||
           email == known_.far_email;
  }
  /// Forgets all tokens issued, so that the next calls answer 401.
  void revoke_all();

  /// A key file of type service_account whose signatures are trusted here.
  std::string service_account_json(const std::string& token_uri) const;
  /// A key file of type authorized_user that is known here.
  std::string authorized_user_json() const;
  const signing_key& key() const;
  const std::string& client_email() const noexcept { return known_.client_email; }

 private:
  http_reply grant(std::string_view scope);
  /// Empty when the JWT is good, else what is wrong with it.
  std::string refusal_of(std::string_view jwt, bool for_exchange, std::string_view base) const;

  const identity known_;
  const std::chrono::seconds lifetime_;
  mutable std::mutex mutex_{};
  mutable std::unique_ptr<signing_key> key_{};  ///< made on first need
  std::map<std::string, std::chrono::system_clock::time_point, std::less<>> issued_{};
  std::uint64_t next_{1};
};

}  // namespace emulator
