#pragma once

#include <dataflux/auth/detail/sigv4.hpp>
#include <dataflux/http/detail/characters.hpp>
#include <dataflux/http/detail/url.hpp>

#include <openssl/crypto.h>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// Decimal digits at the end of `to`, zeros in front.
inline void put_digits(std::span<char> to, unsigned value) noexcept {
  for (std::size_t i = to.size(); i-- > 0; value /= 10) {
    to[i] = static_cast<char>('0' + value % 10);
  }
}

DATAFLUX_INLINE sigv4_time::sigv4_time(system_time when) noexcept {
  const auto second = std::chrono::floor<std::chrono::seconds>(when);
  const auto midnight = std::chrono::floor<std::chrono::days>(second);
  const std::chrono::year_month_day date{midnight};
  const auto of_day = static_cast<unsigned>((second - midnight).count());
  const std::span<char> text{text_};
  put_digits(text.subspan(0, 4), static_cast<unsigned>(static_cast<int>(date.year())));
  put_digits(text.subspan(4, 2), static_cast<unsigned>(date.month()));
  put_digits(text.subspan(6, 2), static_cast<unsigned>(date.day()));
  text[8] = 'T';
  put_digits(text.subspan(9, 2), of_day / 3600);
  put_digits(text.subspan(11, 2), of_day / 60 % 60);
  put_digits(text.subspan(13, 2), of_day % 60);
  text[15] = 'Z';
}

DATAFLUX_INLINE result<std::string> payload_digest(const http::request_body& body) {
  if (body.size() == 0) return std::string{empty_payload};
  auto digest = sha256_of(body.parts());
  if (!digest) return std::move(digest).error();
  std::string text;
  append_digest(text, *digest);
  return text;
}

DATAFLUX_INLINE result<sha256_digest> signing_key_of(std::string_view secret, std::string_view day,
                                                     const sigv4_scope& scope) {
  std::string first{scope.words.before_secret};
  auto key = hmac_sha256(first.append(secret), day);
  OPENSSL_cleanse(first.data(), first.size());
  for (const std::string_view step : {scope.region, scope.service, scope.words.terminator}) {
    if (key) key = hmac_sha256(raw_text(*key), step);
  }
  return key;
}

DATAFLUX_INLINE result<sha256_digest> signing_keys::get(const access_keys& keys,
                                                        std::string_view day,
                                                        const sigv4_scope& scope) {
  {
    const std::scoped_lock lock(mutex_);
    for (const entry& known : entries_) {
      if (known.is_of(keys, day, scope)) return known.key;
    }
  }
  auto key = signing_key_of(keys.secret, day, scope);
  if (!key) return key;
  entry made{std::string{day},
             std::string{scope.region},
             std::string{scope.service},
             keys.id,
             keys.secret,
             *key};
  const std::scoped_lock lock(mutex_);
  entries_[next_] = std::move(made);
  next_ = (next_ + 1) % entries_.size();
  return key;
}

/// What a thread's signatures are made in, one after the other.
struct signing_memory {
  canonical_request canonical{};
  std::string host{};
  std::string text{};

  static signing_memory& of_this_thread() noexcept {
    thread_local signing_memory memory;
    return memory;
  }
  const std::string& host_of(const http::origin& origin) {
    host.clear();
    origin.append_authority(host);
    return host;
  }
};

DATAFLUX_INLINE void append_scope(std::string& out, const sigv4_time& time,
                                  const sigv4_scope& scope) {
  http::append_all(
      out, {time.day(), "/", scope.region, "/", scope.service, "/", scope.words.terminator});
}

DATAFLUX_INLINE result<void> append_text_to_sign(std::string& out, const sigv4_scope& scope,
                                                 const sigv4_time& time,
                                                 std::string_view canonical) {
  const auto digest = sha256_of(canonical);
  if (!digest) return digest.error();
  http::append_all(out, {scope.words.algorithm, "\n", time.text(), "\n"});
  append_scope(out, time, scope);
  out += '\n';
  append_digest(out, *digest);
  return {};
}

/// Of the canonical request in `memory`, whose text it uses.
inline result<sha256_digest> signature_of(signing_memory& memory, const access_keys& keys,
                                          const sigv4_scope& scope, const sigv4_time& time,
                                          signing_keys& cache) {
  auto key = cache.get(keys, time.day(), scope);
  if (!key) return key;
  memory.text.clear();
  auto good = append_text_to_sign(memory.text, scope, time, memory.canonical.text);
  if (!good) return std::move(good).error();
  return hmac_sha256(raw_text(*key), memory.text);
}

/// What is written into a comma-separated field and a path of scopes.
inline bool is_scope_text(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > 0x20 && c < 0x7f && c != '/' && c != ',' && c != '=';
  });
}

DATAFLUX_INLINE result<void> check_signable(const access_keys& keys, const sigv4_scope& scope) {
  if (!is_scope_text(keys.id) || keys.secret.empty()) {
    return error{errc::invalid_argument,
                 "the access key's id is empty or has characters that none has, or its secret is "
                 "empty"};
  }
  if (!is_scope_text(scope.region) || !is_scope_text(scope.service)) {
    return error{errc::invalid_argument,
                 "requests are signed for a region: name one, such as us-east-1"};
  }
  return {};
}

/// Behind the fields of the date and of the payload.
inline result<void> sign_fields(http::request& request, const access_keys& keys,
                                const sigv4_scope& scope, const sigv4_time& time,
                                std::string_view payload, signing_keys& cache) {
  if (auto good = check_signable(keys, scope); !good) return good;
  http::header_list& headers = request.headers;
  if (!keys.session_token.empty()) headers.add("x-amz-security-token", keys.session_token);
  if (!headers.valid()) {
    return error{errc::invalid_argument,
                 "a field of the request or the session token has control characters"};
  }
  signing_memory& memory = signing_memory::of_this_thread();
  make_canonical_request(memory.canonical, request.method, memory.host_of(*request.origin),
                         request.target, headers.wire(), payload);
  auto signature = signature_of(memory, keys, scope, time, cache);
  if (!signature) return std::move(signature).error();
  std::string& value = memory.text;
  value.clear();
  http::append_all(value, {scope.words.algorithm, " Credential=", keys.id, "/"});
  append_scope(value, time, scope);
  http::append_all(value, {", SignedHeaders=", memory.canonical.names, ", Signature="});
  append_digest(value, *signature);
  headers.add("Authorization", value);
  return {};
}

DATAFLUX_INLINE result<void> sign_sigv4(http::request& request, const access_keys& keys,
                                        const sigv4_scope& scope, system_time now,
                                        std::string_view payload, signing_keys& cache) {
  const sigv4_time time(now);
  request.headers.add("x-amz-date", time.text());
  request.headers.add("x-amz-content-sha256", payload);
  return sign_fields(request, keys, scope, time, payload, cache);
}

DATAFLUX_INLINE result<void> sign_sigv4_sparsely(http::request& request, const access_keys& keys,
                                                 const sigv4_scope& scope, system_time now,
                                                 std::string_view payload, signing_keys& cache) {
  const sigv4_time time(now);
  request.headers.add("x-amz-date", time.text());
  return sign_fields(request, keys, scope, time, payload, cache);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
