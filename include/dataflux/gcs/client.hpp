#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/detail/ref.hpp>
#include <dataflux/gcs/detail/endpoint.hpp>
#include <dataflux/http/curl_transport.hpp>
#include <dataflux/http/detail/transport.hpp>
#include <dataflux/http/retry_policy.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/result.hpp>
#include <dataflux/service/client_snapshot.hpp>
#include <dataflux/store/bucket_requests.hpp>
#include <dataflux/store/detail/verb_list.hpp>
#include <dataflux/store/encryption_key.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/store/requests.hpp>
#include <dataflux/store/restore_request.hpp>
#include <dataflux/store/sign_requests.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::service {
class client_core;
}

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {
template <class Verbs>
struct compiled_verbs;
}

namespace dataflux::inline DATAFLUX_ABI::gcs {

/// How a client finds, authenticates to and treats the service. Every default suits a job on a
/// cloud machine with Application Default Credentials. 0 = the default of each time and number.
struct client_options {
  /// Null = Application Default Credentials (auth/credentials.hpp).
  credentials_ptr credentials{};
  /// "https://host[:port][/base]"; empty = the emulator named by STORAGE_EMULATOR_HOST when that is
  /// set, else the universe's endpoint.
  std::string endpoint{};
  /// "host[:port]": what requests, SNI and the certificate that is asked for name, while
  /// connections go to `endpoint`, an https address: of Private Service Connect, of a restricted
  /// VIP, of a tunnel. Empty: the host of `endpoint`. Not with `shared_transport`.
  std::string host{};
  /// `endpoint` names an emulator: plain HTTP is allowed, and no credentials are sent or
  /// searched for, nor taken by client::set_token().
  bool emulator{false};
  /// Sends tokens of `credentials` and of set_token() to an emulator, too: for tests. create()
  /// refuses it if they would go over plain HTTP to an address other than loopback (127.x.y.z, ::1,
  /// localhost).
  bool tokens_to_emulator{false};
  /// Of the IAM service, which signs for accounts without a key (sign_url_request):
  /// "https://host[:port][/base]"; empty = iamcredentials of the universe, or the emulator.
  std::string iam_endpoint{};
  /// The endpoint's universe. Credentials of another universe are refused, both given and found
  /// ones; empty = any, which needs an `endpoint`. The default one: that of the variable
  /// GOOGLE_CLOUD_UNIVERSE_DOMAIN, where it is set.
  std::string universe_domain{default_universe};
  /// Who pays for requests to a requester-pays bucket; empty = the bucket's owner.
  std::string user_project{};
  /// Whose quota is used; empty = as the credentials say.
  std::string quota_project{};
  /// The customer's key of all objects that this client reads and writes; empty = the service has
  /// the keys. Objects under no key, or another one, are refused by the service, but for the
  /// sources of a rewrite_request that says so. Listings and the cache on a disk are as
  /// store_traits::customer_key says. create() refuses one that would go over plain HTTP to an
  /// address other than loopback.
  dataflux::encryption_key encryption_key{};
  /// Put before the library's own User-Agent, such as "trainer/2.1".
  std::string user_agent{};
  retry_policy retry{};
  /// A transfer without a byte for this long is broken off and resumed.
  duration stall_timeout{std::chrono::seconds(30)};
  /// The same for a transfer below this many bytes per second over `throughput_window`: an
  /// occasional byte would hold a caller for ever. A slower attempt is no progress, so it counts
  /// for retry_policy::max_attempts. 1 = nearly no limit.
  std::uint64_t least_throughput{1024};
  duration throughput_window{std::chrono::seconds(60)};
  /// From a request's last byte to its reply's first.
  duration first_byte_timeout{std::chrono::seconds(60)};
  /// The same for completing an upload, which may take the service minutes.
  duration complete_timeout{std::chrono::minutes(10)};
  duration connect_timeout{std::chrono::seconds(10)};
  /// A folder of this machine by which its processes share tokens, so that one of them asks for all
  /// (auth/credentials.hpp). Empty: the one that DATAFLUX_TOKEN_CACHE names; none: not shared.
  std::string token_cache{};
  /// transport.client is shown to the service and to endpoints of tokens. Where it is empty, the
  /// environment may name a certificate, as in Google's own libraries (auth/detail/mutual_tls.hpp).
  /// With one and without `endpoint` the client goes to storage.mtls.googleapis.com.
  curl_transport_options transport{};
  /// Used instead of a curl_transport: for tests, or shared by several clients. The client holds
  /// it.
  std::shared_ptr<detail::http::transport> shared_transport{};
  /// Receives every request, retry and log line; null = none. Outlives the client.
  dataflux::observer* observer{nullptr};
};

/// Google Cloud Storage as an object_store: the JSON API, and the XML API for multipart uploads.
///
///     auto client = gcs::client::create().value();
///     auto page = client->list_page({.bucket = "data", .prefix = "train/"}).value();
///
/// Requests are retried as docs/retries.md says. Reads resume at the byte reached with the
/// generation pinned. Lost replies of writes are resolved by reading the object's metadata. A
/// refused token is refreshed once. Refused rates (429) slow the whole client down instead of using
/// up attempts. Whole objects read and everything written is compared by CRC32C.
///
/// Errors: they carry verb, bucket, object, HTTP status and attempts. failed_precondition for every
/// verb of an inherited client in the child of a fork, where start() calls the completion inside.
/// The child creates its own client.
///
/// Lifetime: destruction cancels what is under way and waits for the completions (milliseconds). If
/// a completion drops the last reference, destruction cannot wait: the end comes soon after, on
/// another thread. The observer is used until the end.
///
/// Threads: all members from any thread; one client serves a whole process. Completions run on I/O
/// threads.
///
/// Cost: curl_transport_options says how many threads and connections; idle ones cost a descriptor
/// each.
class client final : public detail::begins<client> {
 public:
  /// Starts the I/O threads; sends nothing. Errors: those of finding credentials
  /// (auth/credentials.hpp), a client certificate, and the folder of tokens; invalid_argument for a
  /// bad endpoint, file or option; resource_exhausted without threads or descriptors.
  static result<std::shared_ptr<client>> create(client_options options = {});
  DATAFLUX_INLINE ~client() override;

  const detail::gcs::endpoint& endpoint() const noexcept;
  /// Counters so far; may be read while calls are under way.
  const counters& totals() const noexcept;
  /// The same with latencies, connections and pacing: see observer.hpp. Empty in the child of a
  /// fork. Cost: some microseconds for each verb and bucket in use, and short locks.
  client_snapshot snapshot() const;
  /// Starts no more than `rate` requests of that kind (pacing_snapshot::kind) to that bucket a
  /// second from now on, whatever the service takes; 0 = any number. An empty bucket: of buckets
  /// that are used later. So processes share a bucket's rate (docs/job.md). Errors:
  /// invalid_argument for a kind that there is not; failed_precondition in the child of a fork.
  result<void> limit_rate(std::string_view bucket, std::string_view kind, double rate);
  /// An access token that the application acquired itself; replaces the current one. Errors:
  /// invalid_argument for a token that is empty, has control characters, has expired, or is a
  /// file's path or content. failed_precondition for an emulator without
  /// client_options::tokens_to_emulator, and in the child of a fork.
  result<void> set_token(const access_token& token);
  /// The token that requests are sent with now, a secret, for processes that share one. Empty where
  /// no token is there yet, or none is sent: it is asked for then. Errors: failed_precondition as
  /// above.
  result<std::optional<access_token>> token();
  /// With make_set_tokens(): the application could not acquire a token. Calls that wait for
  /// one end with this error at once, and so do those that need one within the next second. After
  /// that `needed` is called again. A valid token stays in use. `why` holds no secret; if it is
  /// retryable, calls try again. Errors: failed_precondition for other credentials, and as above.
  result<void> fail_token(const error& why);

  DATAFLUX_INLINE store_traits traits() const noexcept override;
  DATAFLUX_INLINE scheduler& executor() noexcept override;

  DATAFLUX_INLINE void start(const read_request& request, byte_sink& sink,
                             completion<read_summary> done) override;
  using detail::begins<client>::start;
  DATAFLUX_INLINE void start(const sign_url_request& request, completion<signed_url> done) override;
  void start(const sign_form_request& request, completion<signed_form> done);
  /// The verbs that other stores do not have: patch_request, bulk_restore_request,
  /// storage_layout_request, test_permissions_request, list_buckets_request and
  /// list_all_buckets_request.
  template <class Request>
  void start(const Request& request, completion<typename Request::value> done) {
    begin(request, std::move(done));
  }

  /// As of object_store, for all of the above.
  using object_store::run;
  using object_store::submit;
  template <class Request>
  operation<typename Request::value> submit(Request request) {
    return submit_to(*this, std::move(request));
  }
  template <class Request>
  result<typename Request::value> run(Request request) {
    return submit(std::move(request)).take();
  }

 private:
  template <class Store, class Requests>
  friend class detail::begins;
  template <class Verbs>
  friend struct detail::gcs::compiled_verbs;
  explicit client(detail::ref<detail::service::client_core> core) noexcept;
  /// One for each verb; the library has all of them (gcs/detail/verbs.hpp).
  template <class Request>
  void begin(const Request& request, completion<typename Request::value> done);

  detail::ref<detail::service::client_core> core_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/client.ipp>
#include <dataflux/gcs/impl/dialect.ipp>
#endif
