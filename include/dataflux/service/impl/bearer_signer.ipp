#pragma once

#include <dataflux/service/detail/bearer_signer.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

DATAFLUX_INLINE std::optional<credential_view> bearer_signer::try_get(time_point now) {
  const auto value = tokens_.try_get(now);
  return value ? std::optional{credential_view{*value}} : std::nullopt;
}

DATAFLUX_INLINE signer_wait bearer_signer::await(scheduler& executor, credential_handler handler) {
  const auto wait = tokens_.await(
      executor, [handler = std::move(handler)](result<std::string_view> value) mutable {
        if (!value) return handler(std::move(value).error());
        handler(credential_view{*value});
      });
  return signer_wait{static_cast<std::uint64_t>(wait)};
}

DATAFLUX_INLINE bool bearer_signer::cancel(signer_wait wait) noexcept {
  return tokens_.cancel(auth::authorization_wait{static_cast<std::uint64_t>(wait)});
}

DATAFLUX_INLINE result<void> bearer_signer::sign(const outgoing& out, const credential& with) {
  if (!with.secret.empty()) out.request.headers.add("Authorization", with.secret);
  return {};
}

DATAFLUX_INLINE bool bearer_signer::refused(const credential& with, const refusal& why) {
  if (why.status != 401 || with.secret.empty() || !tokens_.renewable(with.secret)) return false;
  tokens_.correct_clock(why.date, why.age);  // before another one is signed
  tokens_.invalidate(with.secret);
  return true;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
