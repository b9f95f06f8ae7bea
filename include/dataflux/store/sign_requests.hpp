#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// Signatures for others, who have no credentials of their own: URLs of version 4, and policies for
/// forms. As in store/requests.hpp; docs/signing.md says more.
namespace dataflux::inline DATAFLUX_ABI {

/// Where a URL says which bucket it is about.
enum class url_style : std::uint8_t {
  path,            ///< HOST/BUCKET/OBJECT
  virtual_hosted,  ///< BUCKET.HOST/OBJECT
  bucket_bound,    ///< HOST/OBJECT: `host` is a name of the caller's that leads to the bucket
};

/// A URL that stands in for credentials: keep it as one.
struct signed_url {
  std::string url{};
  /// By this machine's clock.
  system_time expires{};
};

/// Signs a URL, whose holder sends one kind of request until it expires. Needs no
/// network where a key is at hand. A verb of gcs::client and s3::client.
///
/// Who signs, at Google: `key`, if it is there. Else the service account of the client's
/// credentials, by its private key. For credentials without one, and for another `account`, the
/// IAM service signs: the credentials' principal needs iam.serviceAccounts.signBlob on the account,
/// and a token of scope cloud-platform or iam. On a machine of the cloud its metadata server tells
/// the account. At S3 the client's keys sign; a session's keys end before the URL may.
///
/// Errors: failed_precondition when nobody can sign; permission_denied and others of IAM. No error
/// shows a URL or a signature.
struct sign_url_request {
  using value = signed_url;

  std::string bucket{};
  /// Empty = the bucket itself: a listing.
  std::string object{};
  /// GET, HEAD, PUT, POST or DELETE.
  std::string method{"GET"};
  /// 1 s to 7 days, in whole seconds; 0 = 1 hour.
  duration life{};
  /// Fields that a request by the URL must have. x-goog-content-sha256 (at S3
  /// x-amz-content-sha256) says what the body must be. Host is signed always.
  std::vector<std::pair<std::string, std::string>> headers{};
  /// Parameters, such as response-content-disposition.
  std::vector<std::pair<std::string, std::string>> query{};
  /// Of Google: 0 = the live one.
  std::int64_t generation{0};
  /// Of Google. S3's client has an addressing of its own.
  url_style style{url_style::path};
  /// "name[:port]", in place of the endpoint's.
  std::string host{};
  /// "https" or "http"; empty = the endpoint's.
  std::string scheme{};
  /// E-mail address of a service account; empty = that of the credentials.
  std::string account{};
  /// An HMAC key of Google's. Its `id` and `secret` are used.
  access_keys key{};
  call_limits limits{};
};
/// Names; a method of those; a life in its bounds; headers and parameters that can be sent, are not
/// the signature's own, and not of the connection; `host` for bucket_bound.
result<void> validate(const sign_url_request& r);

enum class form_rule : std::uint8_t {
  equal,        ///< the field is `value`
  begins_with,  ///< it begins with `value`; with an empty one it may be anything
  size,         ///< the file has `least` to `most` bytes; no field
};

/// What a field of a form must be.
struct form_condition {
  form_rule rule{form_rule::equal};
  std::string field{};
  std::string value{};
  std::uint64_t least{0};
  std::uint64_t most{0};
};

/// What a form of HTML is made of (multipart/form-data): POST to `url` with all fields, and `file`
/// behind them.
struct signed_form {
  std::string url{};
  std::vector<std::pair<std::string, std::string>> fields{};
  system_time expires{};
};

/// Signs a policy: the holder of the form's fields uploads an object, any number of times until it
/// expires. Otherwise as sign_url_request. A verb of gcs::client.
struct sign_form_request {
  using value = signed_form;

  std::string bucket{};
  /// Name of the object; "${filename}" at its end stands for the name of the file.
  std::string object{};
  duration life{};
  /// Such as content-type, x-goog-meta-..., success_action_status. Each must be sent as it is here.
  std::vector<std::pair<std::string, std::string>> fields{};
  /// Of further fields, which the form's user fills in.
  std::vector<form_condition> conditions{};
  url_style style{url_style::path};
  std::string host{};
  std::string scheme{};
  std::string account{};
  access_keys key{};
  call_limits limits{};
};
/// As above; fields have names, and neither those of the signature nor key, file and policy;
/// conditions name a field, or a size that can be.
result<void> validate(const sign_form_request& r);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/sign_requests.ipp>
#endif
