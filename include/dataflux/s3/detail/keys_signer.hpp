#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/auth/detail/signing_clock.hpp>
#include <dataflux/auth/detail/sigv4.hpp>
#include <dataflux/service/detail/signer.hpp>

#include <optional>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// Signs each request by Signature Version 4 with keys that stay the same, or not at all where
/// there are none. Over TLS a body goes unsigned, since its checksum is signed; over plain HTTP its
/// SHA-256 is. A clock that a refusal shows to be wrong is corrected, and the attempt is worth
/// another one.
///
/// Threads: any may call. Cost: as auth::sign_sigv4() says.
class keys_signer final : public service::signer {
 public:
  explicit keys_signer(std::optional<access_keys> keys) noexcept : keys_(std::move(keys)) {}

  DATAFLUX_INLINE std::optional<service::credential_view> try_get(time_point now) override;
  DATAFLUX_INLINE service::signer_wait await(scheduler& executor,
                                             service::credential_handler handler) override;
  DATAFLUX_INLINE bool cancel(service::signer_wait wait) noexcept override;
  DATAFLUX_INLINE result<void> sign(const service::outgoing& out,
                                    const service::credential& with) override;
  DATAFLUX_INLINE bool refused(const service::credential& with,
                               const service::refusal& why) override;

 private:
  const std::optional<access_keys> keys_;
  auth::signing_keys cache_{};
  auth::signing_clock clock_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/keys_signer.ipp>
#endif
