#pragma once

#include <dataflux/http/detail/url.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// Where a request says which bucket it is about. s3::addressing.
enum class addressing : std::uint8_t {
  /// In the host's name on AWS, unless the bucket's name has dots, which no certificate covers; in
  /// the path on servers of others.
  automatic,
  virtual_hosted,  ///< BUCKET.HOST
  path,            ///< HOST/BUCKET
};

/// A region's name goes into names of hosts, and servers tell it: one label of DNS in lower case.
bool is_region(std::string_view text) noexcept;

/// What an access point's ARN says: "arn:aws:s3:REGION:ACCOUNT:accesspoint/NAME".
struct access_point {
  std::string region{};
  std::string account{};
  std::string name{};
};

/// Errors: unimplemented for an ARN of something else, such as an access point of several regions;
/// invalid_argument for one that is damaged.
result<access_point> parse_access_point(std::string_view arn);

/// What a client says of where the service is.
struct endpoint_rules {
  /// "http[s]://host[:port][/base]" of a server that speaks as S3 does; empty = AWS.
  std::string url{};
  addressing style{addressing::automatic};
  bool dual_stack{false};  ///< by IPv6, too
  bool fips{false};        ///< by hosts with validated cryptography
};

/// Where requests about one bucket go.
struct bucket_place {
  std::string region{};
  std::shared_ptr<const http::origin> origin{};
  /// The path up to where a key goes, the last '/' included: "/" or "/base/BUCKET/".
  std::string base{};
};

/// Where the service is, in each region (s3-protocol.md 1.1). A value; thread-safe once made.
class endpoint {
 public:
  /// Errors: invalid_argument for a URL that is none, has a query, or comes with dual_stack or
  /// fips, which are of AWS alone.
  static result<endpoint> make(const endpoint_rules& rules);

  bool is_aws() const noexcept { return !custom_; }
  /// Errors: unimplemented for a directory bucket, whose requests are signed otherwise, and for a
  /// region of a partition without public hosts; invalid_argument for a region that is no name, or
  /// a bucket that is no label of a host's name and must be one. Those of parse_access_point();
  /// invalid_argument for an ARN where the endpoint is not AWS, or buckets stand in the path. An
  /// ARN has a region of its own.
  result<bucket_place> place_of(std::string_view bucket, std::string_view region) const;
  /// For what is about no bucket: its base is the endpoint's own.
  result<bucket_place> place_of_all(std::string_view region) const;
  /// Whether a host is of this endpoint: none other may learn who asks.
  bool owns(const http::origin& origin) const noexcept;
  /// "https://host:port/base", for messages; of AWS the host of no region.
  std::string to_string() const;

 private:
  explicit endpoint(endpoint_rules rules) noexcept : rules_(std::move(rules)) {}
  result<http::origin> origin_in(std::string_view region) const;
  result<bucket_place> place_of_access_point(std::string_view arn) const;
  result<std::string> host_in(std::string_view service, std::string_view region) const;

  endpoint_rules rules_;
  http::origin server_{};  ///< where custom_
  std::string base_{"/"};
  bool custom_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/endpoint.ipp>
#endif
