#pragma once

#include <dataflux/auth/detail/presign.hpp>
#include <dataflux/gcs/detail/endpoint.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/sign_requests.hpp>

#include <string>
#include <string_view>

/// Signed URLs and forms of Google Cloud Storage, but for the signature itself (protocol.md 1.15,
/// 2.1). Pure: no clock, no socket.
namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// Who signs: the account of a private key or of IAM, or the id of an HMAC key.
struct signer_of {
  std::string_view id{};
  bool hmac{false};

  const auth::sigv4_scope& scope() const noexcept {
    return hmac ? auth::google_hmac_scope : auth::google_scope;
  }
};

/// A request that has passed validate(), ready to be signed. Borrows the request and the signer.
template <class Request>
class signing_work;

template <>
class signing_work<sign_url_request> {
 public:
  static result<signing_work> make(const gcs::endpoint& where, const sign_url_request& r,
                                   const signer_of& who, system_time now);
  const auth::signing_draft& draft() const noexcept { return draft_; }
  const auth::signing_terms& terms() const noexcept { return by_; }
  /// `signature`: the bytes.
  signed_url finish(std::string_view signature) const;

 private:
  explicit signing_work(const auth::signing_terms& by) noexcept : by_(by) {}
  auth::signing_terms by_;
  std::string base_{};  ///< scheme and host
  auth::signing_draft draft_{};
};

template <>
class signing_work<sign_form_request> {
 public:
  static result<signing_work> make(const gcs::endpoint& where, const sign_form_request& r,
                                   const signer_of& who, system_time now);
  const auth::signing_draft& draft() const noexcept { return draft_; }
  const auth::signing_terms& terms() const noexcept { return by_; }
  signed_form finish(std::string_view signature) const;

 private:
  explicit signing_work(const auth::signing_terms& by) noexcept : by_(by) {}
  auth::signing_terms by_;
  std::string url_{};
  auth::policy_parts parts_{};
  auth::signing_draft draft_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/url_signing.ipp>
#endif
