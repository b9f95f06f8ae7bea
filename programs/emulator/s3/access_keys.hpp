#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace emulator::s3 {

/// What an access key id stands for.
struct access_key {
  std::string secret{};
  std::string session_token{};  ///< empty: a key for good
  std::optional<std::chrono::system_clock::time_point> expires{};
  bool revoked{false};
};

/// The keys by which requests may be signed. Thread safe.
class access_keys {
 public:
  void add(std::string id, access_key key);
  std::optional<access_key> find(std::string_view id) const;
  /// What requests of that scope are signed by; kept, since it costs more than a signature.
  std::string signing_key(std::string_view secret, const std::string& scope) const;
  /// A key with a session token, good for so long; gives its id.
  std::string issue(std::chrono::seconds lifetime);
  /// Ends all keys that have a session token.
  void revoke_sessions();

 private:
  mutable std::mutex mutex_{};
  std::map<std::string, access_key, std::less<>> keys_{};
  mutable std::map<std::string, std::string, std::less<>> derived_{};  ///< by secret and scope
  std::uint64_t issued_{0};
};

}  // namespace emulator::s3
