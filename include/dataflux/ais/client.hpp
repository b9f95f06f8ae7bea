#pragma once

#include <dataflux/ais/detail/endpoint.hpp>
#include <dataflux/ais/detail/verbs.hpp>
#include <dataflux/auth/access_token.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/detail/ref.hpp>
#include <dataflux/http/curl_transport.hpp>
#include <dataflux/http/detail/transport.hpp>
#include <dataflux/http/retry_policy.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/result.hpp>
#include <dataflux/service/client_snapshot.hpp>
#include <dataflux/store/detail/verb_list.hpp>
#include <dataflux/store/object_store.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::service {
class client_core;
}

namespace dataflux::inline DATAFLUX_ABI::detail::ais {
template <class Requests>
struct compiled_verbs;
}

namespace dataflux::inline DATAFLUX_ABI::ais {

/// How a client finds, authenticates to and treats a cluster. 0 = the default of each time and
/// number.
struct client_options {
  /// "http[s]://host[:port][/base]" of a gateway; empty = AIS_ENDPOINT.
  std::string endpoint{};
  /// Whose buckets are meant: "ais", the cluster's own, which is the default; of those behind it
  /// "aws" or "s3", "gcp" or "gs", "azure", "oci", which are read and written, and not listed.
  std::string provider{};
  /// Their tokens go along as `Authorization: Bearer`. Null = AIS_AUTHN_TOKEN, or "token" of the
  /// JSON file that AIS_AUTHN_TOKEN_FILE names; both are read again when the cluster refuses a
  /// token. Neither is set: requests have none.
  credentials_ptr credentials{};
  /// Put before the library's own User-Agent, such as "trainer/2.1".
  std::string user_agent{};
  retry_policy retry{};
  /// A transfer without a byte for this long is broken off and resumed.
  duration stall_timeout{std::chrono::seconds(30)};
  /// The same for a transfer below this many bytes per second over `throughput_window`. 1 = nearly
  /// no limit.
  std::uint64_t least_throughput{1024};
  duration throughput_window{std::chrono::seconds(60)};
  /// From a request's last byte to its reply's first.
  duration first_byte_timeout{std::chrono::seconds(60)};
  duration connect_timeout{std::chrono::seconds(10)};
  curl_transport_options transport{};
  /// Used instead of a curl_transport: for tests, or shared by several clients. The client holds
  /// it.
  std::shared_ptr<detail::http::transport> shared_transport{};
  /// Receives every request, retry and log line; null = none. Outlives the client.
  dataflux::observer* observer{nullptr};
};

/// AIStore as an object_store, by its own API: it reads, lists, writes whole objects and removes.
///
///     auto client = ais::client::create({.endpoint = "http://gateway:8080"}).value();
///     auto page = client->list_page({.bucket = "data", .prefix = "train/"}).value();
///
/// The gateway redirects each call about an object to the machine that has it. Each attempt follows
/// one redirect as it is, and remembers none. A token goes along over TLS; in the clear it stays on
/// this machine: create() refuses a gateway elsewhere without TLS, and a redirect elsewhere is
/// followed without the token.
///
/// A generation is made of the object's version and checksum: it names one state, and of two none
/// is the later. The cluster pins no read, so each reply is compared before its bytes are given.
/// Whole objects are compared by xxhash2 or crc32c, whichever their bucket has; with checksums of
/// another kind read_summary::verified is false.
///
/// Buckets behind it are not listed: that answers unimplemented, and their service lists them.
///
/// What AIStore lacks answers unimplemented before any request: conditions of writes and removals,
/// so that checkpoints go to gs:// or s3://; uploads in parts, compose, move, copies; metadata of
/// objects. An insert replaces what is there. Names with "//" or control characters, which the
/// cluster would change, are invalid_argument. `etl_name` behind a name is unimplemented.
///
/// Errors, lifetime, threads, cost: as gcs::client says.
class client final : public detail::begins<client, detail::ais::store_verbs> {
 public:
  /// Starts the I/O threads; sends nothing. Errors: invalid_argument for a bad or missing endpoint
  /// or option; resource_exhausted without threads or descriptors.
  static result<std::shared_ptr<client>> create(client_options options = {});
  DATAFLUX_INLINE ~client() override;

  /// "https://host:port/base".
  std::string endpoint() const;
  /// Counters so far; may be read while calls are under way.
  const counters& totals() const noexcept;
  /// The same with latencies, connections and pacing: see observer.hpp.
  client_snapshot snapshot() const;
  /// As of gcs::client.
  result<void> limit_rate(std::string_view bucket, std::string_view kind, double rate);
  /// As gcs::client has them, for tokens that the application acquires.
  result<void> set_token(const access_token& token);
  result<std::optional<access_token>> token();
  result<void> fail_token(const error& why);

  DATAFLUX_INLINE store_traits traits() const noexcept override;
  DATAFLUX_INLINE scheduler& executor() noexcept override;

  DATAFLUX_INLINE void start(const read_request& request, byte_sink& sink,
                             completion<read_summary> done) override;
  using detail::begins<client, detail::ais::store_verbs>::start;

 private:
  template <class Store, class Requests>
  friend class detail::begins;
  template <class Requests>
  friend struct detail::ais::compiled_verbs;
  explicit client(detail::ref<detail::service::client_core> core) noexcept;
  template <class Request>
  void begin(const Request& request, completion<typename Request::value> done);

  detail::ref<detail::service::client_core> core_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::ais

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/ais/impl/client.ipp>
#endif
