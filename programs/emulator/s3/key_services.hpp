#pragma once

#include <emulator/message.hpp>
#include <emulator/route.hpp>
#include <emulator/s3/access_keys.hpp>
#include <emulator/s3/options.hpp>
#include <emulator/s3/signature.hpp>

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace emulator::s3 {

/// The verb of a call to one of the services that give keys, by method, path and form; empty for
/// any other. No bucket can have the names of their paths: "latest", "federation", "token", "v1"
/// and "v2".
std::string_view key_service_verb(const http_request& request);

/// Where AWS's clients get their keys: STS (`POST /`), the metadata service of an instance
/// (`/latest/...`), the endpoint of a container (`/v2/credentials`) and of a pod
/// (`/v1/credentials`), and a login (`/federation/credentials`, `/token`). What they give has a
/// session token and an end, and S3 here takes it (s3-protocol.md 6.4 to 6.10). Thread safe.
class key_services {
 public:
  key_services(access_keys& keys, const options& how);

  /// Whether it is one of their verbs.
  static bool gives(std::string_view verb) noexcept;
  http_reply answer(const call& asked, const http_request& request);
  /// The sessions of the metadata service end: 401 until a client has begun another one.
  void end_sessions();

 private:
  http_reply sts(const call& asked, const http_request& request);
  http_reply role(const call& asked, const query_parameters& form, bool web_identity);
  http_reply identity(const signed_request& who) const;
  http_reply instance(std::string_view verb, const http_request& request);
  http_reply session(const http_request& request);
  http_reply container(const http_request& request, bool pod);
  http_reply login(const http_request& request, const query_parameters& query);
  http_reply renewal(const http_request& request);
  /// Keys in JSON, as the metadata service and containers write them.
  http_reply fresh_keys();

  access_keys& keys_;
  const options& how_;
  std::mutex mutex_{};
  std::map<std::string, std::chrono::steady_clock::time_point, std::less<>> sessions_{};
  std::uint64_t next_{1};
  std::string login_token_;
  std::string refresh_token_;
};

}  // namespace emulator::s3
