#pragma once

#include <dataflux/http/detail/url.hpp>
#include <dataflux/result.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// Where the service is: the origin to connect to and the paths below which its APIs answer
/// (protocol.md 0, 4.10). All of JSON, upload, download and XML are at one origin; the path style
/// is used throughout, since bucket names with dots do not fit a wildcard certificate.
///
/// A value; copies are independent and share the origin. Thread-safe once made.
///
///     auto where = gcs::endpoint::for_universe();                       // the real service
///     auto local = gcs::endpoint::emulator("localhost:4443");           // a fake one
class endpoint {
 public:
  /// "https://storage.{domain}", or "https://storage.mtls.{domain}", which asks for a client
  /// certificate. Errors: invalid_argument unless `domain` is a host name, and for a certificate
  /// outside googleapis.com, where no endpoint asks for one.
  static result<endpoint> for_universe(std::string_view domain = "googleapis.com",
                                       bool mutual_tls = false);

  /// A front of the real service: a private address, mutual TLS, a proxy that speaks for it.
  /// `url` = "https://host[:port][/base]"; a trailing '/' and "/storage/v1" are dropped. Tokens go
  /// there, hence plain HTTP is refused. Errors: invalid_argument with what is wrong.
  static result<endpoint> custom(std::string_view url);

  /// The value of STORAGE_EMULATOR_HOST: as custom(), but the scheme may be missing (then http) and
  /// may be http. No credentials are ever sent to it: is_emulator() says so to the client.
  static result<endpoint> emulator(std::string_view host);

  const std::shared_ptr<const http::origin>& origin() const noexcept { return origin_; }
  bool is_emulator() const noexcept { return emulator_; }

  /// Paths up to where a bucket's name goes, the last '/' included: "{base}/storage/v1/b/", also
  /// for downloads (alt=media); "{base}/upload/storage/v1/b/"; "{base}/".
  std::string_view json_buckets() const noexcept { return json_; }
  std::string_view upload_buckets() const noexcept { return upload_; }
  std::string_view xml_buckets() const noexcept { return xml_; }

  /// "https://host:port/base", for messages.
  std::string to_string() const;

 private:
  endpoint(http::origin origin, std::string_view base, bool is_emulator);
  static result<endpoint> make(std::string_view url, bool is_emulator);

  std::shared_ptr<const http::origin> origin_;
  std::string json_;
  std::string upload_;
  std::string xml_;
  bool emulator_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/endpoint.ipp>
#endif
