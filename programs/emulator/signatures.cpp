#include <emulator/digest.hpp>
#include <emulator/service_error.hpp>
#include <emulator/signatures.hpp>

#include <algorithm>
#include <array>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace emulator {

void signers::trust(std::string_view email, const std::string& pem) {
  std::unique_ptr<signing_key> key;
  try {
    key = std::make_unique<signing_key>(pem);
  } catch (const std::runtime_error& failed) {
    throw invalid_argument(failed.what());
  }
  const std::unique_lock lock{mutex_};
  told_.insert_or_assign(std::string{email}, std::move(key));
}

std::optional<bool> signers::rsa(std::string_view account, std::string_view text,
                                 std::string_view signed_text) const {
  {
    const std::shared_lock lock{mutex_};
    const auto at = told_.find(account);
    if (at != told_.end()) return at->second->verifies(text, signed_text);
  }
  if (!own_.owns(account)) return std::nullopt;
  return own_.key().verifies(text, signed_text);
}

std::optional<bool> signers::hmac(std::string_view access_id, std::string_view scope,
                                  std::string_view text, std::string_view signed_text) const {
  const auto secret = keys_.secret_of(access_id);
  if (!secret) return std::nullopt;
  return hmac_sha256(v4_signing_key("GOOG4", *secret, scope), text) == signed_text;
}

namespace {

service_error with_message(service_error error, std::string xml_message) {
  error.xml_message = std::move(xml_message);
  return error;
}

}  // namespace

service_error expired_signature(const std::string& details) {
  return with_message({400, "badRequest", "ExpiredToken", details},
                      "The provided token has expired.");
}

service_error wrong_signature(const std::string& string_to_sign) {
  return with_message(
      {403, "forbidden", "SignatureDoesNotMatch", "The string to sign is: " + string_to_sign},
      "The request signature we calculated does not match the signature you provided. Check your "
      "Google secret key and signing method.");
}

service_error malformed_signature(std::string_view parameter, std::string_view details) {
  return with_message({400, "badRequest", "MalformedSecurityHeader",
                       std::string{parameter} + ": " + std::string{details}},
                      "Your request has a malformed header.");
}

void check_begun(stored_object::time_point date, stored_object::time_point now) {
  if (date <= now + std::chrono::minutes(15)) return;
  throw with_message({403, "forbidden", "RequestTimeTooSkewed",
                      "The signature's date " + rfc3339(date) + " is in the future."},
                     "The difference between the request time and the current time is too large.");
}

namespace {

/// A parameter by its name in any case, as the service takes it.
std::optional<std::string> parameter(const query_parameters& query, std::string_view name) {
  for (const auto& [key, value] : query.values()) {
    if (same_name(key, name)) return value;
  }
  return std::nullopt;
}

signature outcome(std::optional<bool> verified, const std::string& string_to_sign) {
  if (!verified) return signature::unknown_signer;
  if (!*verified) throw wrong_signature(string_to_sign);
  return signature::good;
}

struct v4_parameters {
  std::string algorithm{};
  std::string date_text{};
  std::string signed_headers{};
  std::string raw{};  ///< the signature
  v4_credential credential{};
  stored_object::time_point date{};
  std::int64_t lifetime{0};
};

/// Judges form and dates of the parameters.
v4_parameters read_v4(const query_parameters& query, stored_object::time_point now) {
  const auto get = [&query](std::string_view name) {
    const auto value = parameter(query, name);
    if (!value || value->empty()) throw malformed_signature(name, "it is missing");
    return *value;
  };
  v4_parameters out;
  out.algorithm = get("X-Goog-Algorithm");
  if (out.algorithm != "GOOG4-RSA-SHA256" && out.algorithm != "GOOG4-HMAC-SHA256") {
    throw malformed_signature("X-Goog-Algorithm", "unknown algorithm");
  }
  const auto credential = v4_credential::parse_google(get("X-Goog-Credential"));
  if (!credential)
    throw malformed_signature("X-Goog-Credential", "not of the form of a credential");
  out.credential = *credential;
  out.date_text = get("X-Goog-Date");
  const auto date = parse_v4_time(out.date_text);
  if (!date) throw malformed_signature("X-Goog-Date", "not of the form 20260301T120000Z");
  out.date = *date;
  if (credential->date != out.date_text.substr(0, 8)) {
    throw malformed_signature("X-Goog-Credential", "its date is not that of X-Goog-Date");
  }
  out.lifetime = parse_integer(get("X-Goog-Expires")).value_or(-1);
  if (out.lifetime < 1 || out.lifetime > 604'800) {
    throw malformed_signature("X-Goog-Expires", "it must be 1 to 604800");
  }
  out.signed_headers = lower_case(get("X-Goog-SignedHeaders"));
  const auto names = split(out.signed_headers, ';');
  if (std::ranges::find(names, "host") == names.end()) {
    throw malformed_signature("X-Goog-SignedHeaders", "host must be among them");
  }
  const auto raw = hex_decode(get("X-Goog-Signature"));
  if (!raw) throw malformed_signature("X-Goog-Signature", "not hexadecimal");
  out.raw = *raw;
  check_begun(out.date, now);
  const auto end = out.date + std::chrono::seconds(out.lifetime);
  if (now > end) throw expired_signature("Request signature expired at: " + rfc3339(end));
  return out;
}

signature check_v4(const call& asked, const http_request& request, const signers& known,
                   stored_object::time_point now) {
  const v4_parameters said = read_v4(asked.query, now);
  const std::string_view payload = request.header("x-goog-content-sha256");
  std::string told;
  const auto verify = [&](bool without_port) {
    const std::string canonical =
        v4_canonical_request(request, asked.query,
                             {.path = asked.path,
                              .signature_name = "X-Goog-Signature",
                              .signed_headers = said.signed_headers,
                              .payload = payload.empty() ? "UNSIGNED-PAYLOAD" : payload,
                              .without_port = without_port});
    const std::string text = said.algorithm + "\n" + said.date_text + "\n" +
                             said.credential.scope() + "\n" + hex_encode(sha256(canonical));
    if (told.empty()) told = text + "; the canonical request is: " + canonical;
    return said.algorithm == "GOOG4-RSA-SHA256"
               ? known.rsa(said.credential.id, text, said.raw)
               : known.hmac(said.credential.id, said.credential.scope(), text, said.raw);
  };
  auto verified = verify(false);
  // The service's host has no port, and so Google's client for Node signs none.
  if (verified && !*verified) verified = verify(true);
  return outcome(verified, told);
}

/// The extension headers as V2 signs them: x-goog-* but those of encryption keys, sorted.
std::string extension_headers(const http_request& request) {
  std::vector<std::string> names;
  for (const header_view& h : request.headers) {
    std::string name = lower_case(h.name);
    const bool secret = name == "x-goog-encryption-key" || name == "x-goog-encryption-key-sha256";
    if (name.starts_with("x-goog-") && !secret) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string out;
  for (const std::string& name : names) out += name + ":" + v4_header_value(request, name) + "\n";
  return out;
}

/// The query as V2 may sign it: clients differ in what of it they sign.
std::string v2_query(const query_parameters& query) {
  static constexpr std::array<std::string_view, 6> unsigned_ones{"GoogleAccessId",
                                                                 "Expires",
                                                                 "Signature",
                                                                 "response-content-type",
                                                                 "response-content-disposition",
                                                                 "generation"};
  std::vector<std::string> lines;
  for (const auto& [key, value] : query.values()) {
    if (std::ranges::find(unsigned_ones, key) != unsigned_ones.end()) continue;
    lines.push_back(value.empty() ? key : key + "=" + value);
  }
  std::ranges::sort(lines);
  std::string out;
  for (const std::string& line : lines) out += (out.empty() ? "?" : "&") + line;
  return out;
}

signature check_v2(const call& asked, const http_request& request, const signers& known,
                   stored_object::time_point now) {
  const std::string_view who = asked.query.get("GoogleAccessId");
  const auto expires = parse_integer(asked.query.get("Expires"));
  const auto raw = base64_decode(asked.query.get("Signature"));
  if (who.empty()) throw malformed_signature("GoogleAccessId", "it is missing");
  if (!expires) throw malformed_signature("Expires", "it must be seconds since 1970");
  if (!raw) throw malformed_signature("Signature", "not base64");
  if (std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count() > *expires) {
    throw expired_signature("Request has expired: " + std::to_string(*expires));
  }
  std::string text{request.method};
  text.append("\n").append(request.header("Content-MD5")).append("\n");
  text.append(request.header("Content-Type")).append("\n").append(std::to_string(*expires));
  text.append("\n").append(extension_headers(request)).append(asked.path);
  const std::string query = v2_query(asked.query);
  auto verified = known.rsa(who, text, *raw);
  if (verified && !*verified && !query.empty()) verified = known.rsa(who, text + query, *raw);
  return outcome(verified, text);
}

}  // namespace

signature check_signed_url(const call& asked, const http_request& request, const signers& known,
                           stored_object::time_point now) {
  if (parameter(asked.query, "X-Amz-Algorithm")) {
    throw not_modelled("URLs that are signed as for S3");
  }
  if (parameter(asked.query, "X-Goog-Algorithm") || parameter(asked.query, "X-Goog-Signature")) {
    return check_v4(asked, request, known, now);
  }
  if (asked.query.has("Signature") && asked.query.has("GoogleAccessId")) {
    return check_v2(asked, request, known, now);
  }
  return signature::none;
}

}  // namespace emulator
