#pragma once

#include <dataflux/auth/detail/signing_clock.hpp>
#include <dataflux/auth/detail/sigv4.hpp>
#include <dataflux/auth/detail/token_cache.hpp>
#include <dataflux/service/detail/signer.hpp>
#include <dataflux/store/sign_requests.hpp>

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// Signs each request by Signature Version 4 with the keys that credentials end in; not at all for
/// anonymous ones. Over TLS a body goes unsigned, since its checksum is signed; over plain HTTP its
/// SHA-256 is. Another attempt is worth it where a refusal shows that the clock is wrong, which
/// corrects it, or that keys have ended, which are renewed then.
///
/// Threads, lifetime: as auth::token_cache says. Cost: as auth::sign_sigv4() says.
class keys_signer final : public service::signer {
 public:
  keys_signer(credentials_ptr credentials, http::transport& transport, dataflux::observer* observer)
      : keys_(std::move(credentials), transport, {.keys = true, .observer = observer}) {}

  DATAFLUX_INLINE std::optional<service::credential_view> try_get(time_point now) override;
  DATAFLUX_INLINE service::signer_wait await(scheduler& executor,
                                             service::credential_handler handler) override;
  DATAFLUX_INLINE bool cancel(service::signer_wait wait) noexcept override;
  DATAFLUX_INLINE result<void> sign(const service::outgoing& out,
                                    const service::credential& with) override;
  /// A URL that stands for the request (auth/detail/presign.hpp), by the keys that are there. Ends
  /// with them. Errors: unauthenticated when there are none; those of auth::presign_sigv4().
  result<signed_url> presign(const http::request& request, std::string_view region,
                             std::chrono::seconds life, time_point now);
  DATAFLUX_INLINE bool refused(const service::credential& with,
                               const service::refusal& why) override;

 private:
  auth::token_cache keys_;
  auth::signing_keys cache_{};
  auth::signing_clock clock_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/keys_signer.ipp>
#endif
