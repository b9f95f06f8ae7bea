#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/auth/detail/sha256.hpp>
#include <dataflux/http/detail/message.hpp>
#include <dataflux/result.hpp>

#include <array>
#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Signature Version 4, by which AWS and what imitates it know who sends a request (s3-protocol.md
/// 2.1), and Google who has signed a URL (protocol.md 1.15). Pure: no clock, no socket. The rules
/// are those of service s3: the path is signed as it is sent, neither normalised nor encoded a
/// second time. A request to the path "/" is signed alike for all services.
namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// What differs between the services that sign so.
struct v4_words {
  std::string_view algorithm{};
  std::string_view before_secret{};  ///< of a key of HMAC
  std::string_view terminator{};     ///< of the scope
  std::string_view parameters{};     ///< begins the names of those that are of the signature
};
inline constexpr v4_words aws_words{"AWS4-HMAC-SHA256", "AWS4", "aws4_request", "X-Amz-"};
inline constexpr v4_words google_hmac_words{"GOOG4-HMAC-SHA256", "GOOG4", "goog4_request",
                                            "X-Goog-"};
/// By the private key of a service account.
inline constexpr v4_words google_rsa_words{"GOOG4-RSA-SHA256", {}, "goog4_request", "X-Goog-"};

/// Where a signature is good, and by whose words.
struct sigv4_scope {
  std::string_view region{};
  std::string_view service{"s3"};
  const v4_words& words{aws_words};
};
/// Of Google's: any location will do.
inline constexpr sigv4_scope google_scope{"auto", "storage", google_rsa_words};
inline constexpr sigv4_scope google_hmac_scope{"auto", "storage", google_hmac_words};

/// The time of a signature: "20130524T000000Z", to the second.
class sigv4_time {
 public:
  explicit sigv4_time(system_time when) noexcept;
  std::string_view text() const noexcept { return {text_.data(), text_.size()}; }
  std::string_view day() const noexcept { return text().substr(0, 8); }

 private:
  std::array<char, 16> text_{};
};

/// In place of a body's digest (s3-protocol.md 2.2): the service takes any body. For TLS alone,
/// which protects it.
inline constexpr std::string_view unsigned_payload = "UNSIGNED-PAYLOAD";

/// payload_digest() of a request without a body.
inline constexpr std::string_view empty_payload =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// The SHA-256 of a body in hexadecimal, as it is signed. Errors: internal, from OpenSSL.
/// Cost: a pass over the body, at some 0.7 s a GiB.
result<std::string> payload_digest(const http::request_body& body);

/// What is signed: method, path, query, header fields and payload, each in its canonical form. One
/// that is made again uses its memory again.
struct canonical_request {
  std::string text{};
  /// The names of the signed fields, with ';' between: in lower case, in order.
  std::string names{};
  /// Fields or parts of the query, while they are put in order. Borrowed.
  std::vector<std::pair<std::string_view, std::string_view>> pairs{};
};

/// All header fields are signed, `Host` too, but those that a proxy may change or that are of the
/// connection: authorization, connection, expect, keep-alive, te, trailer, transfer-encoding,
/// upgrade, user-agent, x-amzn-trace-id and all of proxy-*.
///
/// `host` is the Host field's value, `target` the path and query as they are sent: both encoded by
/// codec::append_percent, with '/' raw in the path. `fields` are as header_list::wire() has them.
void make_canonical_request(canonical_request& made, http::method method, std::string_view host,
                            std::string_view target, std::string_view fields,
                            std::string_view payload);

/// Whether make_canonical_request() signs a field of that name.
bool is_signed_field(std::string_view name) noexcept;

/// DATE/region/service/terminator
void append_scope(std::string& out, const sigv4_time& time, const sigv4_scope& scope);

/// What is signed of a canonical request: algorithm, time, scope and digest, in lines. Errors:
/// internal, from OpenSSL.
result<void> append_text_to_sign(std::string& out, const sigv4_scope& scope, const sigv4_time& time,
                                 std::string_view canonical);

/// The key that signs for a day, by the secret one (s3-protocol.md 2.4, protocol.md 1.15). Errors:
/// internal, from OpenSSL.
result<sha256_digest> signing_key_of(std::string_view secret, std::string_view day,
                                     const sigv4_scope& scope);

/// Errors: invalid_argument for keys and scopes that no field can hold; none shows a secret.
result<void> check_signable(const access_keys& keys, const sigv4_scope& scope);

/// The keys that sign, made of the secret ones (s3-protocol.md 2.4). One is good for a day, a
/// region and a service; the last eight are kept. Dropped with what holds the credentials.
///
/// Threads: any may call. Cost: a lock; four HMACs for a key that is not there.
class signing_keys {
 public:
  /// Errors: internal, from OpenSSL.
  result<sha256_digest> get(const access_keys& keys, std::string_view day,
                            const sigv4_scope& scope);

 private:
  /// All that the key is made of, and the key.
  struct entry {
    std::string day{};
    std::string region{};
    std::string service{};
    std::string id{};
    std::string secret{};
    sha256_digest key{};

    bool is_of(const access_keys& keys, std::string_view of_day,
               const sigv4_scope& scope) const noexcept {
      return id == keys.id && day == of_day && region == scope.region && service == scope.service &&
             secret == keys.secret;
    }
  };
  std::mutex mutex_{};
  std::array<entry, 8> entries_{};
  std::size_t next_{0};
};

/// Signs in the header fields: adds x-amz-date, x-amz-content-sha256, x-amz-security-token where
/// the keys have a session, and Authorization. All other fields are there; nothing may change
/// behind this call. `payload`: payload_digest() or unsigned_payload.
///
/// Errors: invalid_argument for keys, a region or a payload that no field can hold; internal, from
/// OpenSSL. They show no secret. Threads: any. Cost: one SHA-256, one HMAC and the canonical
/// request: some 2 microseconds. It allocates nothing once this thread has signed a larger one.
result<void> sign_sigv4(http::request& request, const access_keys& keys, const sigv4_scope& scope,
                        system_time now, std::string_view payload, signing_keys& cache);

/// The same without x-amz-content-sha256, which S3 alone asks for: for whoever passes the request
/// on, and takes few fields.
result<void> sign_sigv4_sparsely(http::request& request, const access_keys& keys,
                                 const sigv4_scope& scope, system_time now,
                                 std::string_view payload, signing_keys& cache);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/sigv4.ipp>
#include <dataflux/auth/impl/sigv4_canonical.ipp>
#endif
