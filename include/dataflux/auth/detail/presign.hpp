#pragma once

#include <dataflux/auth/detail/sigv4.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What is signed for somebody else, who has no keys: a URL (s3-protocol.md 2.5, protocol.md 1.15)
/// or the policy of a form (protocol.md 2.1). Each is made in two steps, since the signature may
/// come from another machine in between. Pure: no clock, no socket. All of it is as secret as what
/// it gives access to.
namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// For so long a signature is good at most.
inline constexpr std::chrono::seconds longest_signed{std::chrono::hours(7 * 24)};
inline constexpr std::chrono::seconds shortest_signed{1};

/// Who signs, and when.
struct signing_terms {
  std::string_view id{};  ///< of an access key; or the account's e-mail address
  std::string_view session_token{};
  const sigv4_scope& scope;
  system_time now{};
  std::chrono::seconds life{};  ///< shortest_signed to longest_signed
};

/// A request that a URL is signed for.
struct presigned_request {
  http::method method{http::method::get};
  std::string_view host{};    ///< the Host field's value
  std::string_view target{};  ///< path and query, encoded as they are sent
  /// As header_list::wire() has them. All are signed: who uses the URL must send the same.
  std::string_view fields{};
  std::string_view payload{unsigned_payload};
};

/// Without its signature.
struct signing_draft {
  /// Path and query of a URL; the policy of a form.
  std::string made{};
  std::string to_sign{};
};

/// The query is in order of its names, as Google's own clients write it. Errors: invalid_argument
/// for a life out of bounds; internal, from OpenSSL.
result<signing_draft> draft_url(const presigned_request& request, const signing_terms& by);
/// The target. `signature`: the bytes.
std::string signed_target(const signing_draft& draft, const sigv4_scope& scope,
                          std::string_view signature);

/// A condition of a policy, in the words of JSON; see store/sign_requests.hpp.
struct policy_parts {
  std::string_view bucket{};
  /// With the object's name, under "key".
  std::vector<std::pair<std::string, std::string>> fields{};
  /// Those besides that of each field: JSON each.
  std::vector<std::string> conditions{};
};

/// `made` is the policy in base64, which is also what is signed. Errors: as above.
result<signing_draft> draft_policy(const policy_parts& parts, const signing_terms& by);
/// All fields of the form but the file, in their order.
std::vector<std::pair<std::string, std::string>> signed_fields(const policy_parts& parts,
                                                               const signing_draft& draft,
                                                               const signing_terms& by,
                                                               std::string_view signature);

/// Of a draft, by a key of HMAC; the bytes. Errors: internal, from OpenSSL.
result<std::string> sign_by_hmac(const signing_draft& draft, std::string_view secret,
                                 const signing_terms& by);

/// In the query, by keys of AWS: the new target, good for `life` from `now` on, or until the keys
/// end. The fields of `request` are signed; x-amz-content-sha256 says what the body is to be.
/// Errors: those of sign_sigv4() and draft_url().
result<std::string> presign_sigv4(const http::request& request, const access_keys& keys,
                                  const sigv4_scope& scope, system_time now,
                                  std::chrono::seconds life, signing_keys& cache);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/presign.ipp>
#endif
