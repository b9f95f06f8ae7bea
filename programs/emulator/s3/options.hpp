#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace emulator::s3 {

/// Whether a body may come with UNSIGNED-PAYLOAD, or in chunks that are not signed.
enum class unsigned_payload { allowed, over_tls, denied };

struct options {
  std::string region{"us-east-1"};
  /// Behind a bucket's name in a host, beside "localhost" and AWS's own: "s3.example".
  std::string domain{};
  std::string account{"123456789012"};
  std::string access_key{"AKIAEMULATOR00000000"};
  std::string secret_key{"emulator/secret+key/00000000000000000000"};
  bool anonymous{false};  ///< calls without a signature are carried out
  unsigned_payload payload{unsigned_payload::over_tls};
  /// ETags are opaque, as with SSE-KMS by default: no MD5 is computed.
  bool opaque_etags{false};
  /// What was completed is forgotten at once, as with MinIO and AIStore: the same again is 404.
  bool completes_once{false};
  std::uint64_t least_part_size{std::uint64_t{5} << 20U};

  // Of what gives keys (key_services).
  /// The longest life of what STS, an instance, a container and a login get.
  std::chrono::seconds key_lifetime{3600};
  bool metadata_v1{false};  ///< the metadata service answers without a session, too
  std::string instance_role{"emulator-role"};
  std::string pod_token{"emulator-pod-token"};
  std::string web_identity_token{"emulator.web.identity"};
  std::string external_id{};  ///< what AssumeRole must be given; empty: nothing
  std::string login_token{"emulator-login-token"};
  std::string login_client{"emulator-client"};
  std::string refresh_token{"emulator-refresh-token"};
};

}  // namespace emulator::s3
