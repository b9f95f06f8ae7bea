#pragma once

#include <emulator/message.hpp>
#include <emulator/route.hpp>
#include <emulator/stored_object.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace emulator {

/// A project's HMAC keys and its service account (protocol.md 1.14), and the JSON API's verbs on
/// them. Keys are in memory only. Each verb throws service_error when it refuses. Thread safe.
class hmac_keys {
 public:
  http_reply create(const call& asked, const http_request& request);
  http_reply get(const call& asked, const http_request& request) const;
  http_reply list(const call& asked, const http_request& request) const;
  http_reply update(const call& asked, const http_request& request);
  http_reply remove(const call& asked);

  http_reply service_account(const call& asked) const;

  /// The secret of that key; empty optional where it is not known here. Throws service_error 403
  /// for one that is inactive or deleted.
  std::optional<std::string> secret_of(std::string_view access_id) const;

 private:
  struct entry {
    std::string secret{};
    std::string project{};
    std::string account{};
    std::string state{"ACTIVE"};
    stored_object::time_point created{};
    stored_object::time_point updated{};
    std::int64_t revision{1};
  };
  using keys = std::map<std::string, entry, std::less<>>;
  static void write(json_writer& out, const call& asked, std::string_view base,
                    std::string_view access_id, const entry& key, const field_mask& wanted);
  static std::string etag(const entry& key);
  const entry& find(const call& asked) const;

  mutable std::mutex mutex_{};
  keys keys_{};
};

}  // namespace emulator
