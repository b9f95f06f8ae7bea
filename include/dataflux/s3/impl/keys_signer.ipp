#pragma once

#include <dataflux/auth/detail/presign.hpp>
#include <dataflux/s3/detail/keys_signer.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// "ID TOKEN": the id tells keys apart, and what is behind the blank is what no error shows, as of
/// a bearer token. The view is valid until this thread asks again.
inline std::string_view credential_of(const access_keys& keys) {
  static thread_local std::string text;
  text.assign(keys.id).append(" ").append(keys.session_token);
  return text;
}

inline std::string_view id_of(const service::credential& with) noexcept {
  return std::string_view{with.secret}.substr(0, with.secret.find(' '));
}

/// What new keys may mend.
inline bool means_other_keys(std::string_view reason) noexcept {
  return reason == "ExpiredToken" || reason == "ExpiredTokenException" ||
         reason == "InvalidToken" || reason == "InvalidAccessKeyId";
}

DATAFLUX_INLINE std::optional<service::credential_view> keys_signer::try_get(time_point now) {
  const access_keys* const keys = keys_.try_keys(now);
  if (keys == nullptr) return std::nullopt;
  return service::credential_view{credential_of(*keys)};
}

DATAFLUX_INLINE service::signer_wait keys_signer::await(scheduler& executor,
                                                        service::credential_handler handler) {
  const auto wait = keys_.await(executor, [this, &executor, handler = std::move(handler)](
                                              const result<std::string_view>& id) mutable {
    if (!id) return handler(id.error());
    const auto ready = try_get(executor.now());
    ready ? handler(*ready) : handler(error(errc::unauthenticated, "the keys have ended at once"));
  });
  return service::signer_wait{static_cast<std::uint64_t>(wait)};
}

DATAFLUX_INLINE bool keys_signer::cancel(service::signer_wait wait) noexcept {
  return keys_.cancel(auth::authorization_wait{static_cast<std::uint64_t>(wait)});
}

/// The payload's digest, or the word for none. `made` has one that is made here.
inline result<std::string_view> payload_of(const service::outgoing& out, std::string& made) {
  if (!out.body_digest.empty()) return out.body_digest;
  if (out.request.body.size() == 0) return auth::empty_payload;
  if (out.request.origin->tls) return auth::unsigned_payload;
  auto digest = auth::payload_digest(out.request.body);
  if (!digest) return std::move(digest).error();
  made = *std::move(digest);
  return std::string_view{made};
}

/// Keys that were renewed while the call waited for its turn are as good.
DATAFLUX_INLINE result<void> keys_signer::sign(const service::outgoing& out,
                                               const service::credential& with) {
  if (id_of(with).empty()) return {};
  const access_keys* const keys = keys_.try_keys(out.now);
  if (keys == nullptr) {
    return std::move(
        error{errc::unauthenticated, "the keys have ended while the call waited for its turn"}
            .with_retryable(true));
  }
  std::string digest;
  const auto payload = payload_of(out, digest);
  if (!payload) return payload.error();
  return auth::sign_sigv4(out.request, *keys, {.region = out.region},
                          clock_.now(std::chrono::system_clock::now()), *payload, cache_);
}

DATAFLUX_INLINE result<signed_url> keys_signer::presign(const http::request& request,
                                                        std::string_view region,
                                                        std::chrono::seconds life, time_point now) {
  const access_keys* const keys = keys_.try_keys(now);
  if (keys == nullptr) return error{errc::unauthenticated, "the keys have ended at once"};
  const system_time local = std::chrono::system_clock::now();
  auto target =
      auth::presign_sigv4(request, *keys, {.region = region}, clock_.now(local), life, cache_);
  if (!target) return std::move(target).error();
  std::string url{request.origin->tls ? "https://" : "http://"};
  request.origin->append_authority(url);
  const system_time end = std::chrono::floor<std::chrono::seconds>(local) + life;
  return signed_url{url + *target, std::min(end, keys->expires)};
}

DATAFLUX_INLINE bool keys_signer::refused(const service::credential& with,
                                          const service::refusal& why) {
  const std::string_view id = id_of(with);
  if (id.empty()) return false;
  if (means_other_keys(why.reason) && keys_.renewable(id)) {
    keys_.invalidate(id);
    return true;
  }
  // A HEAD's says no reason: what others have renewed meanwhile is one.
  if (why.reason.empty() && !keys_.is_current(id)) return true;
  return clock_.learn({.status = why.status,
                       .reason = why.reason,
                       .date = why.date,
                       .now = std::chrono::system_clock::now(),
                       .age = why.age});
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
