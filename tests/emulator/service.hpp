#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/faults.hpp>
#include <emulator/json_api.hpp>
#include <emulator/message.hpp>
#include <emulator/oauth.hpp>
#include <emulator/traffic.hpp>
#include <emulator/upload_store.hpp>
#include <emulator/xml_api.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace emulator {

/// How a connection is to send a reply: the part of a fault that only a socket can act out.
struct wire_script {
  enum class ending { keep, close, reset };
  static constexpr auto no_limit = std::numeric_limits<std::uint64_t>::max();

  std::chrono::milliseconds delay{0};  ///< before the first byte
  std::uint64_t head_limit{no_limit};  ///< bytes of status line and headers
  std::uint64_t body_limit{no_limit};  ///< bytes of the body
  /// At the first limit reached: send nothing for so long, then go on without limits; 0: until the
  /// peer leaves. Absent: `at_limit` applies.
  std::optional<std::chrono::milliseconds> stall{};
  ending at_limit{ending::keep};  ///< at the limit, also when the reply is shorter than it
  std::size_t drip_bytes{0};      ///< 0: as fast as it goes
  std::chrono::milliseconds drip_interval{0};
};

struct exchange {
  http_reply reply{};
  wire_script wire{};
};

struct service_options {
  bool require_token{false};
  std::chrono::seconds token_lifetime{3600};
  std::uint64_t least_part_size{std::uint64_t{5} << 20U};
  std::size_t log_limit{10'000};
  identity known{};
};

/// The whole emulator without a socket: one request in, one exchange out. Thread safe.
class service {
 public:
  explicit service(const service_options& options);

  /// Before the body is read: a fault that acts at once, or after so many bytes of the body.
  struct early_exchange {
    std::uint64_t request_bytes{0};
    exchange what{};
  };
  std::optional<early_exchange> early(const http_request& head);

  exchange handle(const http_request& request);

  bucket_store& store() noexcept { return store_; }
  upload_store& uploads() noexcept { return uploads_; }
  token_authority& tokens() noexcept { return tokens_; }
  fault_script& faults() noexcept { return faults_; }
  traffic& seen() noexcept { return traffic_; }

 private:
  http_reply execute(const call& asked, const http_request& request);
  http_reply dispatch(const call& asked, const http_request& request);
  void require_token(const http_request& request) const;

  const service_options options_;
  bucket_store store_{};
  upload_store uploads_{};
  token_authority tokens_;
  fault_script faults_{};
  traffic traffic_;
  json_api json_;
  xml_api xml_;
  std::atomic<std::uint64_t> next_id_{1};
};

}  // namespace emulator
