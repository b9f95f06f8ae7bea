#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/http/curl_transport_options.hpp>
#include <dataflux/http/retry.hpp>
#include <dataflux/http/transport.hpp>
#include <dataflux/observer.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::gcs {

/// How a client finds, authenticates to and treats the service. Every default suits a job on a
/// cloud machine with Application Default Credentials.
struct client_options {
  /// Null = Application Default Credentials (auth/adc.hpp).
  auth::credentials_ptr credentials{};
  /// "https://host[:port][/base]"; empty = the emulator named by STORAGE_EMULATOR_HOST when that is
  /// set, else the universe's endpoint.
  std::string endpoint{};
  /// `endpoint` names an emulator: plain HTTP is allowed, and no credentials are sent or looked
  /// for, nor taken by client::set_token().
  bool emulator{false};
  /// An emulator gets tokens, too: those of `credentials` and of set_token(). For tests of what is
  /// done with tokens. create() refuses it where they would go over plain HTTP to another address
  /// than a loopback one (127.x.y.z, ::1, localhost).
  bool tokens_to_emulator{false};
  /// Of the endpoint. Credentials of another universe are refused, those in `credentials` like
  /// those that are found; empty = any, which needs an `endpoint`.
  std::string universe_domain{auth::default_universe};
  /// Who pays for requests to a requester-pays bucket; empty = the bucket's owner.
  std::string user_project{};
  /// Whose quota is used; empty = as the credentials say.
  std::string quota_project{};
  /// Put before the library's own User-Agent, such as "trainer/2.1".
  std::string user_agent{};
  http::retry_policy retry{};
  /// Without any byte moving for this long, a transfer is broken off and resumed.
  duration stall_timeout{std::chrono::seconds(30)};
  /// The same for a transfer that brings less than so many bytes a second over `throughput_window`:
  /// one byte now and then would hold a caller for ever. What broke off slower than that is no
  /// progress, so that it counts among retry_policy::max_attempts. 0 = any byte will do.
  std::uint64_t least_throughput{1024};
  duration throughput_window{std::chrono::seconds(60)};
  /// From a request's last byte to its reply's first.
  duration first_byte_timeout{std::chrono::seconds(60)};
  /// The same for completing an upload, over which the service may think for minutes.
  duration complete_timeout{std::chrono::minutes(10)};
  duration connect_timeout{std::chrono::seconds(10)};
  http::curl_transport_options transport{};
  /// Used instead of a curl_transport: for tests, or shared by several clients. Outlives no one:
  /// the client holds it.
  std::shared_ptr<http::transport> shared_transport{};
  /// Told of every request, retry and log line; null = nobody. Outlives the client.
  dataflux::observer* observer{nullptr};
};

}  // namespace dataflux::inline DATAFLUX_ABI::gcs
