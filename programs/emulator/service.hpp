#pragma once

#include <emulator/access_api.hpp>
#include <emulator/ais/face.hpp>
#include <emulator/bucket_api.hpp>
#include <emulator/bucket_store.hpp>
#include <emulator/control_api.hpp>
#include <emulator/faults.hpp>
#include <emulator/federation.hpp>
#include <emulator/hmac_keys.hpp>
#include <emulator/inflict.hpp>
#include <emulator/json_api.hpp>
#include <emulator/limits.hpp>
#include <emulator/message.hpp>
#include <emulator/notification_api.hpp>
#include <emulator/oauth.hpp>
#include <emulator/object_edits.hpp>
#include <emulator/operations.hpp>
#include <emulator/post_form.hpp>
#include <emulator/resumable_api.hpp>
#include <emulator/retry_tests.hpp>
#include <emulator/s3/face.hpp>
#include <emulator/session_store.hpp>
#include <emulator/signatures.hpp>
#include <emulator/traffic.hpp>
#include <emulator/upload_store.hpp>
#include <emulator/xml_api.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace emulator {

struct service_options {
  bool require_token{false};
  std::chrono::seconds token_lifetime{3600};
  std::uint64_t least_part_size{std::uint64_t{5} << 20U};
  std::size_t log_limit{10'000};
  /// A rewrite call takes so many bytes, then gives a token; 0: all in one call.
  std::uint64_t rewrite_bytes_per_call{0};
  identity known{};
  rate_options rates{};
  network_options network{};
  /// Set: it speaks S3, and nothing of Google's but what a control needs.
  std::optional<s3::options> s3{};
  /// With `s3`: it is an AIStore, of whose forms S3's is one.
  bool aistore{false};
  /// Its native calls need this as their Bearer token; empty: none.
  std::string ais_token{};
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

  /// The peer left in the middle of a request's body, of which `part` had come.
  void broken(const http_request& head, const content& part);

  /// Only where it speaks S3.
  s3::access_keys& keys() noexcept { return s3_->keys(); }
  bucket_store& store() noexcept { return store_; }
  upload_store& uploads() noexcept { return uploads_; }
  session_store& sessions() noexcept { return sessions_; }
  token_authority& tokens() noexcept { return tokens_; }
  emulator::federation& federation() noexcept { return federation_; }
  fault_script& faults() noexcept { return faults_; }
  traffic& seen() noexcept { return traffic_; }
  const network_options& network() const noexcept { return options_.network; }
  /// What all connections share of the network.
  pacer& shared_pace() noexcept { return pace_; }

 private:
  call routed(const http_request& request) const;
  exchange answer(call& asked, const http_request& request);
  http_reply execute(const call& asked, const http_request& request);
  http_reply batch(const http_request& request);
  http_reply dispatch(const call& asked, const http_request& request);
  http_reply dispatch_object(const call& asked, const http_request& request);
  http_reply dispatch_bucket(const call& asked, const http_request& request);
  http_reply dispatch_upload(const call& asked, const http_request& request);
  http_reply dispatch_access(const call& asked, const http_request& request, access_of kind);
  http_reply dispatch_notification(const call& asked, const http_request& request);
  http_reply dispatch_project(const call& asked, const http_request& request);
  void authorize(const call& asked, const http_request& request) const;
  void require_token(const http_request& request) const;
  std::optional<exchange> retried(call& asked, const http_request& request);
  std::optional<exchange> upload_broken(call& asked, const http_request& request,
                                        const retry_instruction& what);

  const service_options options_;
  bucket_store store_;
  upload_store uploads_{};
  session_store sessions_{};
  token_authority tokens_;
  emulator::federation federation_;
  hmac_keys keys_{};
  signers signers_{tokens_, keys_};
  retry_tests retry_tests_{};
  fault_script faults_{};
  traffic traffic_;
  rate_limits rates_;
  pacer pace_;
  json_api json_;
  bucket_api buckets_;
  access_api access_;
  notification_api notifications_;
  object_edits edits_;
  operations operations_;
  resumable_api resumable_;
  xml_api xml_;
  form_api form_;
  std::optional<s3::face> s3_{};
  std::optional<ais::face> ais_{};
  control_api control_;
  std::atomic<std::uint64_t> next_id_{1};
};

}  // namespace emulator
