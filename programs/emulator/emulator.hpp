#pragma once

#include <emulator/certificate.hpp>
#include <emulator/service.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A Google Cloud Storage of one's own: the judge of the client in tests, the default of the demo,
/// and, as the program dataflux-emulator, a local GCS. It shares no code with the library, so that
/// a mistake in one is not made again in the other; what it knows is protocol.md.
///
/// In layers, each usable alone: `content`, `stored_object`, `bucket_store`, `upload_store` hold
/// bytes; `json_api`, `xml_api`, `token_authority` are the verbs; `fault_script` and `traffic` say
/// what is to go wrong and what happened; `service` joins them without a socket; `server` puts a
/// `service` on HTTP/1.1 (Boost.Beast parses, Boost.Asio moves the bytes).
///
/// With service_options::s3 it is an Amazon S3 on the same stores: s3::face and what it joins, each
/// a noun of s3/.
///
/// `control_api` scripts faults and tells counters over HTTP, for tests in any language.
///
/// Knowing deviations: no folders, caches and subresources over XML (such calls answer 400
/// notImplemented, as does a listing's filter); lifecycle rules, CORS, autoclass and their like,
/// access control lists and IAM policies are kept and shown and change nothing; notifications
/// publish nothing; soft delete is off unless a bucket asks for it, a part's ETag is not its MD5,
/// customer-supplied keys are asked for but encrypt nothing, and buckets are called neither
/// "storage", "upload", "resumable", "download", "batch", "token", "retry_test", "retry_tests" nor
/// "computeMetadata".
namespace emulator {

struct server_options {
  std::string address{"127.0.0.1"};
  std::uint16_t port{0};  ///< 0: any free one, see server::port
  int threads{1};         ///< each serves its own connections
  tls_mode tls{tls_mode::off};
  bool demands_certificate{false};  ///< of clients, with tls: server::client_pem()
  service_options service{};
  std::string data{};  ///< folder that keeps buckets and objects, see data_folder; empty: none
};

/// A running emulator. It listens when the constructor returns and has ended all connections and
/// joined its threads when the destructor returns. Thread safe.
class server {
 public:
  /// Throws std::runtime_error (boost::system::system_error among them) when it cannot listen.
  explicit server(const server_options& options = {});
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  std::uint16_t port() const noexcept;
  /// "http://127.0.0.1:PORT" or "https://...", without a slash at the end.
  const std::string& endpoint() const noexcept;
  /// The authority that signed the certificate, PEM; empty without TLS.
  const std::string& authority_pem() const noexcept;
  /// A certificate that the same authority has signed for a client, and its key; empty without TLS.
  const std::string& client_pem() const noexcept;
  const std::string& client_key_pem() const noexcept;

  fault_script& faults() noexcept;
  token_authority& tokens() noexcept;
  emulator::service& service() noexcept;
  traffic_counters counters() const;
  std::vector<logged_request> log() const;

  void create_bucket(std::string_view bucket);
  /// Stores an object without HTTP (the bucket is created when missing); gives its generation.
  std::int64_t put(std::string_view bucket, std::string_view name, std::string bytes,
                   object_metadata metadata = {});
  /// The live object's bytes; empty optional when there is none.
  std::optional<std::string> get(std::string_view bucket, std::string_view name) const;
  /// See seed_folder.
  std::size_t seed(std::string_view bucket, const std::string& directory);
  /// A key file of type service_account whose token_uri is this server.
  std::string service_account_json() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace emulator
