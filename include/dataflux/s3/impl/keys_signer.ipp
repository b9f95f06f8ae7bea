#pragma once

#include <dataflux/s3/detail/keys_signer.hpp>

#include <chrono>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

DATAFLUX_INLINE std::optional<service::credential_view> keys_signer::try_get(time_point) {
  return service::credential_view{keys_ ? std::string_view{keys_->session_token}
                                        : std::string_view{}};
}

DATAFLUX_INLINE service::signer_wait keys_signer::await(scheduler& executor,
                                                        service::credential_handler handler) {
  executor.post([this, handler = std::move(handler)]() mutable { handler(*try_get({})); });
  return service::signer_wait::none;
}

DATAFLUX_INLINE bool keys_signer::cancel(service::signer_wait) noexcept { return false; }

DATAFLUX_INLINE result<void> keys_signer::sign(const service::outgoing& out,
                                               const service::credential&) {
  if (!keys_) return {};
  std::string digest{out.body_digest};
  if (digest.empty()) {
    const bool covered = out.request.origin->tls && out.request.body.size() != 0;
    if (covered) {
      digest = auth::unsigned_payload;
    } else {
      auto made = auth::payload_digest(out.request.body);
      if (!made) return std::move(made).error();
      digest = *std::move(made);
    }
  }
  return auth::sign_sigv4(out.request, *keys_, {.region = out.region},
                          clock_.now(std::chrono::system_clock::now()), digest, cache_);
}

DATAFLUX_INLINE bool keys_signer::refused(const service::credential&, const service::refusal& why) {
  return keys_ && clock_.learn({.status = why.status,
                                .reason = why.reason,
                                .date = why.date,
                                .now = std::chrono::system_clock::now(),
                                .age = why.age});
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
