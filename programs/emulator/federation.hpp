#pragma once

#include <emulator/json_value.hpp>
#include <emulator/message.hpp>
#include <emulator/oauth.hpp>
#include <emulator/route.hpp>
#include <emulator/s3/access_keys.hpp>
#include <emulator/s3/key_services.hpp>
#include <emulator/s3/options.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace emulator {

/// The verb of a call to one of the services that federation answers for, by method and path; empty
/// for any other. `item` is the service account of a call to IAM.
std::string_view identity_verb(const http_request& request, std::string& item);

/// What lets those in who are known elsewhere: the Security Token Service (`POST /v1/token`,
/// `/v1/oauthtoken`), IAM (`/v1/projects/-/serviceAccounts/EMAIL:generateAccessToken` and
/// `:signBlob`), and whom it trusts: an issuer of tokens as Azure's machines have it
/// (`/metadata/identity/oauth2/token`), AWS's accounts with the metadata service of an instance and
/// the endpoints of containers (s3-protocol.md 6.9, 6.10). Protocol.md 4.4 to 4.6. Thread safe.
class federation {
 public:
  explicit federation(token_authority& tokens);

  static bool answers(std::string_view verb) noexcept;
  http_reply answer(const call& asked, const http_request& request);

  /// A subject token that is good for one exchange, within `life`.
  std::string issue_subject(std::chrono::seconds life = std::chrono::hours{1});
  /// The keys of AWS whose identity counts here; beside `options{}`'s own.
  s3::access_keys& keys() noexcept { return keys_; }
  /// The sessions of the metadata service end, and keys with a session token.
  void end_sessions();

 private:
  http_reply exchange(const http_request& request);
  http_reply downscope(const query_parameters& form);
  http_reply refresh(const http_request& request);
  http_reply subject_token(const call& asked, const http_request& request);
  http_reply iam(const call& asked, const http_request& request);
  http_reply generate(const json_value& body);
  http_reply sign_blob(const json_value& body) const;

  /// Empty when the token is good, else what is wrong with it.
  std::string refusal_of(const query_parameters& form, const http_request& request);
  std::string refusal_of_subject(std::string_view token);
  std::string refusal_of_identity(std::string_view token, std::string_view audience) const;
  bool may_act(std::string_view email, const json_value& asked) const;

  token_authority& tokens_;
  const s3::options aws_{};
  s3::access_keys keys_{};
  s3::key_services key_services_{keys_, aws_};
  std::mutex mutex_{};
  std::map<std::string, std::chrono::steady_clock::time_point, std::less<>> subjects_{};
  std::string refresh_token_;
  std::uint64_t next_{1};
};

}  // namespace emulator
