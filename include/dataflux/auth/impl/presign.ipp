#pragma once

#include <dataflux/auth/detail/presign.hpp>
#include <dataflux/codec/detail/base64.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/codec/timestamp.hpp>
#include <dataflux/detail/hexadecimal.hpp>
#include <dataflux/detail/text.hpp>
#include <dataflux/http/detail/characters.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

inline result<void> check_life(std::chrono::seconds life) {
  if (life >= shortest_signed && life <= longest_signed) return {};
  return error{errc::invalid_argument, "what is signed is good for 1 s to 7 days"};
}

inline std::string credential_of(const signing_terms& by, const sigv4_time& time) {
  std::string out{by.id};
  out += '/';
  append_scope(out, time, by.scope);
  return out;
}

inline std::string in_hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) detail::append_hex(out, static_cast<unsigned char>(c), 2);
  return out;
}

DATAFLUX_INLINE result<signing_draft> draft_url(const presigned_request& request,
                                                const signing_terms& by) {
  if (auto good = check_life(by.life); !good) return std::move(good).error();
  const sigv4_time time(by.now);
  canonical_request canonical;
  make_canonical_request(canonical, request.method, request.host, "/", request.fields, {});
  const std::string_view before = by.scope.words.parameters;
  std::string target{request.target};
  target += target.find('?') == std::string::npos ? '?' : '&';
  http::append_all(target,
                   {before, "Algorithm=", by.scope.words.algorithm, "&", before, "Credential="});
  codec::append_percent(target, credential_of(by, time));
  http::append_all(target, {"&", before, "Date=", time.text(), "&", before, "Expires=",
                            std::to_string(by.life.count()), "&", before, "SignedHeaders="});
  codec::append_percent(target, canonical.names);
  if (!by.session_token.empty()) {
    http::append_all(target, {"&", before, "Security-Token="});
    codec::append_percent(target, by.session_token);
  }
  make_canonical_request(canonical, request.method, request.host, target, request.fields,
                         request.payload);
  signing_draft draft;
  // The second and third line of what is signed are path and query, in order.
  std::string_view lines{canonical.text};
  lines.remove_prefix(lines.find('\n') + 1);
  const std::size_t path = lines.find('\n');
  http::append_all(draft.made, {lines.substr(0, path), "?"});
  lines.remove_prefix(path + 1);
  draft.made.append(lines.substr(0, lines.find('\n')));
  auto good = append_text_to_sign(draft.to_sign, by.scope, time, canonical.text);
  if (!good) return std::move(good).error();
  return draft;
}

DATAFLUX_INLINE std::string signed_target(const signing_draft& draft, const sigv4_scope& scope,
                                          std::string_view signature) {
  std::string target = draft.made;
  http::append_all(target, {"&", scope.words.parameters, "Signature=", in_hex(signature)});
  return target;
}

using form_fields = std::vector<std::pair<std::string, std::string>>;

/// The name of a field of the signature's own: "x-goog-date".
inline std::string own_field(const signing_terms& by, std::string_view name) {
  std::string out;
  for (const char c : by.scope.words.parameters) out += to_lower(c);
  return out.append(name);
}

/// Those that the policy covers beside the caller's.
inline form_fields own_fields(const signing_terms& by) {
  const sigv4_time time(by.now);
  form_fields own{{own_field(by, "date"), std::string{time.text()}},
                  {own_field(by, "credential"), credential_of(by, time)},
                  {own_field(by, "algorithm"), std::string{by.scope.words.algorithm}}};
  if (!by.session_token.empty()) {
    own.emplace_back(own_field(by, "security-token"), std::string{by.session_token});
  }
  return own;
}

/// The last piece of a name that is the file's own.
inline constexpr std::string_view file_name_mark{"${filename}"};

/// What the field must be, in the words of a policy.
inline void append_condition(std::string& out, std::string_view name, std::string_view value) {
  if (name == "key" && value.ends_with(file_name_mark)) {
    out += R"(["starts-with","$key",)";
    codec::append_json_string(out, value.substr(0, value.size() - file_name_mark.size()));
    out += ']';
    return;
  }
  out += '{';
  codec::append_json_string(out, name);
  out += ':';
  codec::append_json_string(out, value);
  out += '}';
}

/// Needs no condition (protocol.md 2.1).
inline bool is_free_field(std::string_view name) noexcept { return name.starts_with("x-ignore-"); }

DATAFLUX_INLINE result<signing_draft> draft_policy(const policy_parts& parts,
                                                   const signing_terms& by) {
  if (auto good = check_life(by.life); !good) return std::move(good).error();
  std::string json{R"({"conditions":[)"};
  for (const std::string& each : parts.conditions) json.append(each).append(",");
  const auto add = [&json](std::string_view name, std::string_view value) {
    append_condition(json, name, value);
    json += ',';
  };
  for (const auto& [name, value] : parts.fields) {
    if (name != "key" && !is_free_field(name)) add(name, value);
  }
  add("bucket", parts.bucket);
  for (const auto& [name, value] : parts.fields) {
    if (name == "key") add(name, value);
  }
  for (const auto& [name, value] : own_fields(by)) add(name, value);
  json.back() = ']';
  const auto end = std::chrono::floor<std::chrono::seconds>(by.now) + by.life;
  json.append(R"(,"expiration":")").append(to_string(timestamp{end.time_since_epoch()}));
  json.append(R"("})");
  signing_draft draft{.made = codec::encode_base64(as_bytes(codec::to_ascii_json(json)))};
  draft.to_sign = draft.made;
  return draft;
}

DATAFLUX_INLINE form_fields signed_fields(const policy_parts& parts, const signing_draft& draft,
                                          const signing_terms& by, std::string_view signature) {
  form_fields all = parts.fields;
  for (auto& own : own_fields(by)) all.push_back(std::move(own));
  all.emplace_back("policy", draft.made);
  all.emplace_back(own_field(by, "signature"), in_hex(signature));
  return all;
}

DATAFLUX_INLINE result<std::string> sign_by_hmac(const signing_draft& draft,
                                                 std::string_view secret, const signing_terms& by) {
  const auto key = signing_key_of(secret, sigv4_time(by.now).day(), by.scope);
  if (!key) return key.error();
  const auto signature = hmac_sha256(raw_text(*key), draft.to_sign);
  if (!signature) return signature.error();
  return std::string{raw_text(*signature)};
}

DATAFLUX_INLINE result<std::string> presign_sigv4(const http::request& request,
                                                  const access_keys& keys, const sigv4_scope& scope,
                                                  system_time now, std::chrono::seconds life,
                                                  signing_keys& cache) {
  if (auto good = check_signable(keys, scope); !good) return std::move(good).error();
  const signing_terms by{keys.id, keys.session_token, scope, now, life};
  const std::string host = request.origin->authority();
  const auto payload = request.headers.find("x-amz-content-sha256").value_or(unsigned_payload);
  const auto draft =
      draft_url({request.method, host, request.target, request.headers.wire(), payload}, by);
  if (!draft) return draft.error();
  const auto key = cache.get(keys, sigv4_time(now).day(), scope);
  if (!key) return key.error();
  const auto signature = hmac_sha256(raw_text(*key), draft->to_sign);
  if (!signature) return signature.error();
  return signed_target(*draft, scope, raw_text(*signature));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
