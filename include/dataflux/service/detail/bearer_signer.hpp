#pragma once

#include <dataflux/auth/detail/token_cache.hpp>
#include <dataflux/service/detail/signer.hpp>

#include <optional>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// Sends an access token along: `Authorization: Bearer ...`, or nothing for anonymous credentials.
/// A token that the service refuses (401) is forgotten, and the attempt is worth another one where
/// a fresh token is to be had. The Date of that reply shows when this machine's clock is wrong, by
/// which tokens are signed. Threads, lifetime, cost: as auth::token_cache says.
class bearer_signer final : public signer {
 public:
  bearer_signer(credentials_ptr credentials, http::transport& transport,
                auth::token_cache_options options = {})
      : tokens_(std::move(credentials), transport, std::move(options)) {}

  auth::token_cache& tokens() noexcept { return tokens_; }

  DATAFLUX_INLINE std::optional<credential_view> try_get(time_point now) override;
  DATAFLUX_INLINE signer_wait await(scheduler& executor, credential_handler handler) override;
  DATAFLUX_INLINE bool cancel(signer_wait wait) noexcept override;
  DATAFLUX_INLINE result<void> sign(const outgoing& out, const credential& with) override;
  DATAFLUX_INLINE bool refused(const credential& with, const refusal& why) override;

 private:
  auth::token_cache tokens_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/service/impl/bearer_signer.ipp>
#endif
