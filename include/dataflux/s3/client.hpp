#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/detail/ref.hpp>
#include <dataflux/http/curl_transport.hpp>
#include <dataflux/http/detail/transport.hpp>
#include <dataflux/http/retry_policy.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/result.hpp>
#include <dataflux/s3/detail/endpoint.hpp>
#include <dataflux/s3/detail/verb.hpp>
#include <dataflux/s3/detail/verbs.hpp>
#include <dataflux/service/client_snapshot.hpp>
#include <dataflux/store/detail/verb_list.hpp>
#include <dataflux/store/encryption_key.hpp>
#include <dataflux/store/object_store.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::service {
class client_core;
}

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {
template <class Verbs>
struct compiled_verbs;
}

namespace dataflux::inline DATAFLUX_ABI::s3 {

/// Where a request says which bucket it is about: automatic, virtual_hosted (BUCKET.HOST) or path
/// (HOST/BUCKET). Automatic is the first on AWS, unless the bucket's name has dots, and the other
/// on servers of others.
using addressing = detail::s3::addressing;

/// Which checksum of a multipart upload the server compares and keeps: full_object (CRC32C of all
/// bytes, as AWS and most others do), composite (of the parts' checksums, as Cloudflare's R2 does)
/// or none.
using upload_checksum = detail::s3::upload_checksum;

/// How a client finds, authenticates to and treats a server. 0 = the default of each time and
/// number.
struct client_options {
  /// Null = those that AWS's own tools would find: find_aws_credentials(). Keys that the
  /// application has: make_aws_keys(). make_anonymous_credentials(): requests are not signed.
  credentials_ptr credentials{};
  /// Where buckets are of which nothing else is known: another region is found by the first request
  /// to a bucket, and remembered. Empty = AWS_REGION, AWS_DEFAULT_REGION, that of a profile whose
  /// keys are found, "us-east-1".
  std::string region{};
  /// "http[s]://host[:port][/base]" of a server that speaks as S3 does. Empty =
  /// AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, that of a profile whose keys are found, else AWS.
  std::string endpoint{};
  s3::addressing addressing{s3::addressing::automatic};
  /// Of AWS's hosts: those with addresses of IPv6, and those with validated cryptography.
  bool dual_stack{false};
  bool fips{false};
  /// This account pays for requests to buckets whose requester pays; else they are refused.
  bool requester_pays{false};
  /// Bytes that one request copies: larger objects are copied in parts, several at a time. At least
  /// 10 MiB. 0 = 5 GiB, which is the most.
  std::uint64_t copy_at_once{0};
  s3::upload_checksum upload_checksum{s3::upload_checksum::full_object};
  /// The customer's key of all objects that this client reads and writes (SSE-C): as of
  /// gcs::client_options.
  dataflux::encryption_key encryption_key{};
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
  /// The same for copies and the end of an upload, which may take the service minutes.
  duration complete_timeout{std::chrono::minutes(10)};
  duration connect_timeout{std::chrono::seconds(10)};
  curl_transport_options transport{};
  /// Used instead of a curl_transport: for tests, or shared by several clients. The client holds
  /// it.
  std::shared_ptr<detail::http::transport> shared_transport{};
  /// Receives every request, retry and log line; null = none. Outlives the client.
  dataflux::observer* observer{nullptr};
};

/// S3 as an object_store, and what speaks like it.
///
///     auto client = s3::client::create({.region = "eu-west-1"}).value();
///     auto page = client->list_page({.bucket = "data", .prefix = "train/"}).value();
///
/// A generation is made of the object's ETag: it names one content, and of two none is the later.
/// A condition on one takes one more request. What S3 lacks is in traits(), and such a verb answers
/// unimplemented: move, resumable uploads, versions of a listing, metagenerations. A compose
/// is an upload whose parts the service copies; what is smaller than a part is read and sent. A
/// bucket with versions is used as one without.
///
/// Conditions: AWS keeps them. Of a bucket on another server the first call under a condition finds
/// out by some fifteen requests for a scratch object beside its own (".dataflux-conditions-..."),
/// and failed_precondition says where they are not kept. So no checkpoint begins that two writers
/// could win. Copies under a condition that CopyObject does not keep are made by an upload.
///
/// Objects are compared by CRC32C where the service tells one of all bytes; reads of whole objects
/// by CRC64NVME or CRC32 else. An object's `crc32c` is nothing where there was nothing to compare.
///
/// Errors, lifetime, threads, cost: as gcs::client says. No signature goes to a host that is not of
/// the endpoint; no redirect is followed but to where the service says that the bucket is.
class client final : public detail::begins<client, detail::s3::store_verbs> {
 public:
  /// Starts the I/O threads; sends nothing. Errors: those of finding credentials
  /// (auth/credentials.hpp); invalid_argument for a bad endpoint, region or option;
  /// resource_exhausted without threads or descriptors.
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

  DATAFLUX_INLINE store_traits traits() const noexcept override;
  DATAFLUX_INLINE scheduler& executor() noexcept override;

  DATAFLUX_INLINE void start(const read_request& request, byte_sink& sink,
                             completion<read_summary> done) override;
  DATAFLUX_INLINE void start(const compose_request& request,
                             completion<object_metadata> done) override;
  DATAFLUX_INLINE void start(const rewrite_request& request,
                             completion<object_metadata> done) override;
  DATAFLUX_INLINE void start(const sign_url_request& request, completion<signed_url> done) override;
  /// Unimplemented: see traits().
  DATAFLUX_INLINE void start(const move_request& request,
                             completion<object_metadata> done) override;
  using detail::begins<client, detail::s3::store_verbs>::start;

 private:
  template <class Store, class Requests>
  friend class detail::begins;
  template <class Verbs>
  friend struct detail::s3::compiled_verbs;
  explicit client(detail::ref<detail::service::client_core> core) noexcept;
  template <class Request>
  void begin(const Request& request, completion<typename Request::value> done);

  detail::ref<detail::service::client_core> core_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/client.ipp>
#endif
