#pragma once

#include <dataflux/auth/impl/token_cache.ipp>

/// What users of a token_cache call, on the refresher.
namespace dataflux::inline DATAFLUX_ABI::detail::auth {

DATAFLUX_INLINE token_cache::token_cache(credentials_ptr creds, http::transport& transport,
                                         token_cache_options options)
    : refresher_(
          ref<refresher>::adopt(new refresher(std::move(creds), transport, std::move(options)))) {}

DATAFLUX_INLINE token_cache::~token_cache() { refresher_->close(); }

DATAFLUX_INLINE std::optional<std::string_view> token_cache::try_get(time_point now) {
  const authorization_value* const value = refresher_->look();
  if (value == nullptr || now >= value->gone) return std::nullopt;
  refresher_->refresh_if_due(now);
  return value->text;
}

DATAFLUX_INLINE const access_keys* token_cache::try_keys(time_point now) {
  const authorization_value* const value = refresher_->look();
  if (value == nullptr || now >= value->gone) return nullptr;
  refresher_->refresh_if_due(now);
  return &value->keys;
}

DATAFLUX_INLINE authorization_wait token_cache::await(scheduler& executor,
                                                      authorization_handler handler) {
  return refresher_->await(executor, std::move(handler));
}

DATAFLUX_INLINE bool token_cache::cancel(authorization_wait wait) noexcept {
  return refresher_->cancel(wait);
}

DATAFLUX_INLINE void token_cache::invalidate(std::string_view authorization) {
  refresher_->invalidate(authorization);
}

DATAFLUX_INLINE void token_cache::correct_clock(std::string_view date, duration age) {
  refresher_->correct_clock(date, age);
}

DATAFLUX_INLINE bool token_cache::renewable(std::string_view authorization) const {
  return refresher_->renewable(authorization);
}

DATAFLUX_INLINE bool token_cache::is_current(std::string_view authorization) const {
  const authorization_value* const value = refresher_->look();
  return value != nullptr && value->text == authorization;
}

DATAFLUX_INLINE std::optional<access_token> token_cache::current(time_point now) {
  const authorization_value* const value = refresher_->look();
  if (value == nullptr || now >= value->gone) {
    refresher_->refresh_if_gone(now);
    return std::nullopt;
  }
  refresher_->refresh_if_due(now);
  if (value->text.empty()) return std::nullopt;
  return refresher_->token_of(*value, now);
}

DATAFLUX_INLINE result<void> token_cache::set_token(const access_token& token) {
  return refresher_->set_token(token);
}

DATAFLUX_INLINE result<void> token_cache::fail_token(const error& why) {
  return refresher_->fail_token(why);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
