#pragma once

#include <dataflux/auth/detail/keys_reply.hpp>
#include <dataflux/codec/detail/xml.hpp>
#include <dataflux/http/detail/http_date.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

inline constexpr std::size_t longest_key = std::size_t{4} << 10;

DATAFLUX_INLINE bool is_region(std::string_view text) noexcept {
  constexpr std::size_t longest = 63;
  return !text.empty() && text.size() <= longest && text.front() != '-' && text.back() != '-' &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

DATAFLUX_INLINE answer_time answer_time::of(const http_reply& reply, system_time now) {
  return {now, http::parse_http_date(reply.headers.find("Date").value_or(""))};
}

DATAFLUX_INLINE system_time answer_time::end(timestamp expires) const noexcept {
  const auto cut = [](auto time) { return std::chrono::floor<std::chrono::seconds>(time); };
  // Beyond these no clock is far enough off, and sums might overflow.
  constexpr std::chrono::years far{20};
  constexpr std::chrono::days farthest_clock{366};
  if (cut(expires) > cut(now) + far) return system_time::max();
  if (cut(expires) < cut(now) - far) return system_time{};
  auto local = served ? cut(now) - cut(*served) : std::chrono::seconds(0);
  if (local > farthest_clock || local < -farthest_clock) local = std::chrono::seconds(0);
  return system_time{cut(expires).time_since_epoch() + local};
}

inline error bad_keys(std::string_view what) { return {errc::internal, std::string{what}}; }

DATAFLUX_INLINE bool is_key_text(std::string_view text, std::size_t longest) noexcept {
  return text.size() <= longest &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

/// "WHAT has blanks, ...", or "WHAT is empty".
inline error bad_key(std::string_view what, std::string_view text) {
  std::string_view why{" has blanks, line breaks or other characters that none has: copy it again"};
  if (text.empty()) why = " is empty";
  if (text.ends_with('\n'))
    why = " ends with a line break, as a file's text does: copy it again without";
  return bad_keys(std::string{what}.append(why));
}

DATAFLUX_INLINE result<access_keys> make_keys(std::string_view id, std::string_view secret,
                                              std::string_view session_token) {
  if (id.empty() || !is_key_text(id, longest_key) ||
      id.find_first_of("/,=") != std::string_view::npos) {
    return bad_key("the access key's id", id);
  }
  if (secret.empty() || !is_key_text(secret, longest_key)) {
    return bad_key("the secret access key", secret);
  }
  if (!is_key_text(session_token, longest_session_token)) {
    return bad_key("the session token", session_token);
  }
  return access_keys{.id = std::string{id},
                     .secret = std::string{secret},
                     .session_token = std::string{session_token}};
}

/// A text, empty when it is absent or null; nullopt for any other kind.
inline std::optional<std::string_view> text_or_none(codec::json_value value) noexcept {
  if (!value || value.kind() == codec::json_kind::null) return std::string_view{};
  return value.text();
}

/// nullopt when it is none; system_time::max() when it is absent.
inline std::optional<system_time> read_end(codec::json_value value, const answer_time& when) {
  if (!value || value.kind() == codec::json_kind::null) return system_time::max();
  if (value.kind() == codec::json_kind::number) {
    const auto milliseconds = value.int64();
    constexpr std::int64_t most = 9'000'000'000'000;  // in the year 2255
    if (!milliseconds || *milliseconds <= 0 || *milliseconds > most) return std::nullopt;
    return when.end(timestamp{std::chrono::milliseconds(*milliseconds)});
  }
  const auto text = value.text();
  const auto time = text ? parse_timestamp(*text) : std::nullopt;
  if (!time) return std::nullopt;
  return when.end(*time);
}

DATAFLUX_INLINE result<access_keys> read_keys(codec::json_value from, const keys_names& names,
                                              const answer_time& when) {
  const auto id = text_or_none(from.find(names.id));
  const auto secret = text_or_none(from.find(names.secret));
  const auto session = text_or_none(from.find(names.session_token));
  if (!id || !secret || !session) return bad_keys("a member with a key is no string");
  auto keys = make_keys(*id, *secret, *session);
  if (!keys) return keys;
  const auto end = read_end(from.find(names.expires), when);
  if (!end) return bad_keys("the time at which the keys end is none");
  keys->expires = *end;
  return keys;
}

DATAFLUX_INLINE result<access_keys> read_process_keys(std::string_view json, system_time now) {
  if (json.size() > longest_keys_reply) return bad_keys("it is longer than 64 KiB");
  auto document = codec::json_document::parse(as_bytes(json));
  if (!document) return bad_keys("it is not valid JSON");
  if (document->root().find("Version").int64() != 1) return bad_keys("its \"Version\" is not 1");
  return read_keys(document->root(), {.session_token = "SessionToken"}, {now, std::nullopt});
}

DATAFLUX_INLINE result<access_keys> read_role_keys(std::string_view xml, std::string_view action,
                                                   const answer_time& when) {
  if (xml.size() > longest_keys_reply) return bad_keys("it is longer than 64 KiB");
  auto document = codec::xml_document::parse(as_bytes(xml));
  if (!document) return bad_keys("it is not valid XML");
  const auto found =
      document->root().child(std::string{action}.append("Result")).child("Credentials");
  auto keys = make_keys(found.child_text("AccessKeyId").value_or(""),
                        found.child_text("SecretAccessKey").value_or(""),
                        found.child_text("SessionToken").value_or(""));
  if (!keys) return keys;
  const auto end = parse_timestamp(found.child_text("Expiration").value_or(""));
  if (keys->session_token.empty() || !end)
    return bad_keys("keys of a role have a token and an end");
  keys->expires = when.end(*end);
  return keys;
}

DATAFLUX_INLINE sts_refusal read_sts_refusal(std::string_view xml) {
  if (xml.size() > longest_keys_reply) return {};
  const auto document = codec::xml_document::parse(as_bytes(xml));
  if (!document) return {};
  const auto reported = document->root().child("Error");
  return {reported.child_text("Code").value_or(""), reported.child_text("Message").value_or("")};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
