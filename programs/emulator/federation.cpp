#include <emulator/digest.hpp>
#include <emulator/federation.hpp>
#include <emulator/json_value.hpp>
#include <emulator/json_writer.hpp>
#include <emulator/s3/signature.hpp>
#include <emulator/service_error.hpp>
#include <emulator/stored_object.hpp>
#include <emulator/uri.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace emulator {
namespace {

constexpr std::string_view exchange_grant = "urn:ietf:params:oauth:grant-type:token-exchange";
constexpr std::string_view access_token_type = "urn:ietf:params:oauth:token-type:access_token";
constexpr std::string_view aws_type = "urn:ietf:params:aws:token-type:aws4_request";
constexpr std::string_view mtls_type = "urn:ietf:params:oauth:token-type:mtls";
constexpr std::array<std::string_view, 4> subject_types{
    "urn:ietf:params:oauth:token-type:jwt", "urn:ietf:params:oauth:token-type:id_token",
    "urn:ietf:params:oauth:token-type:id-token", "urn:ietf:params:oauth:token-type:saml2"};
constexpr std::string_view accounts_path = "/v1/projects/-/serviceAccounts/";
constexpr std::int64_t longest_life_s = 43'200;

http_reply iam_error(int code, std::string_view status, std::string_view message) {
  json_writer out{true};
  out.begin_object();
  out.key("error");
  out.begin_object();
  out.key("code");
  out.number(code);
  out.member("message", message);
  out.member("status", status);
  out.end_object();
  out.end_object();
  return oauth_document(code, out);
}

/// What the form's `options` say: JSON, encoded once more than the form (protocol.md 4.4).
std::optional<json_value> options_of(const query_parameters& form) {
  return parse_json(percent_decode(form.get("options")));
}

bool is_json_array_of_text(std::string_view text, std::vector<std::string>& into) {
  const auto parsed = parse_json(text);
  const auto* const lines = parsed ? std::get_if<json_value::array>(&parsed->value) : nullptr;
  if (lines == nullptr || lines->empty()) return false;
  for (const json_value& line : *lines) {
    const auto* const each = std::get_if<std::string>(&line.value);
    if (each == nullptr) return false;
    into.push_back(*each);
  }
  return true;
}

}  // namespace

std::string_view identity_verb(const http_request& request, std::string& item) {
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  if (request.method == "POST" && path == "/v1/token") return "sts.exchange";
  if (request.method == "POST" && path == "/v1/oauthtoken") return "sts.refresh";
  if (request.method == "GET" && path == "/metadata/identity/oauth2/token") return "idp.token";
  if (request.method == "POST" && path.starts_with(accounts_path)) {
    const std::string_view behind = path.substr(accounts_path.size());
    const std::size_t colon = behind.rfind(':');
    item = percent_decode(behind.substr(0, colon));
    const std::string_view what = colon == std::string_view::npos ? "" : behind.substr(colon + 1);
    if (what == "generateAccessToken") return "iam.generateAccessToken";
    if (what == "signBlob") return "iam.signBlob";
    item.clear();
  }
  const std::string_view verb = s3::key_service_verb(request);
  const bool of_machine =
      verb.starts_with("imds.") || verb == "container.keys" || verb == "pod.keys";
  return of_machine ? verb : std::string_view{};
}

bool federation::answers(std::string_view verb) noexcept {
  return verb.starts_with("sts.") || verb.starts_with("iam.") || verb.starts_with("idp.") ||
         s3::key_services::gives(verb);
}

federation::federation(token_authority& tokens)
    : tokens_(tokens), refresh_token_(tokens.known().workforce_refresh_token) {
  keys_.add(aws_.access_key, {.secret = aws_.secret_key});
}

void federation::end_sessions() {
  keys_.revoke_sessions();
  key_services_.end_sessions();
}

std::string federation::issue_subject(std::chrono::seconds life) {
  const std::lock_guard lock{mutex_};
  const std::string number = std::to_string(next_++);
  std::string token = "subject." + number + "." + hex_encode(md5("subject " + number));
  subjects_.emplace(token, std::chrono::steady_clock::now() + life);
  return token;
}

http_reply federation::answer(const call& asked, const http_request& request) {
  const std::string_view verb = asked.verb;
  if (verb == "sts.exchange") return exchange(request);
  if (verb == "sts.refresh") return refresh(request);
  if (verb == "idp.token") return subject_token(asked, request);
  if (verb.starts_with("iam.")) return iam(asked, request);
  return key_services_.answer(asked, request);
}

/// A token of this issuer is good once.
std::string federation::refusal_of_subject(std::string_view token) {
  if (token == tokens_.known().subject_token) return {};
  const std::lock_guard lock{mutex_};
  const auto at = subjects_.find(token);
  if (at == subjects_.end()) return "The subject token is not one of this provider";
  const bool late = at->second <= std::chrono::steady_clock::now();
  subjects_.erase(at);
  return late ? "The subject token has expired" : "";
}

/// Asks AWS's own service, so to say, by the request that the token holds.
std::string federation::refusal_of_identity(std::string_view token,
                                            std::string_view audience) const {
  const auto parsed = parse_json(percent_decode(token));
  const auto* const fields = parsed ? parsed->find("headers") : nullptr;
  const auto* const lines =
      fields == nullptr ? nullptr : std::get_if<json_value::array>(&fields->value);
  if (lines == nullptr) return "The subject token is no signed request";
  const std::string url = parsed->text("url").value_or("");
  constexpr std::string_view begin = "https://sts.";
  constexpr std::string_view end = ".amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15";
  if (parsed->text("method") != "POST" || !url.starts_with(begin) || !url.ends_with(end)) {
    return "The signed request is none of GetCallerIdentity";
  }
  const std::string region = url.substr(begin.size(), url.size() - begin.size() - end.size());
  std::vector<header_line> kept;
  for (const json_value& line : *lines) {
    kept.push_back({line.text("key").value_or(""), line.text("value").value_or("")});
  }
  http_request same;
  same.method = "POST";
  const std::string target = "/" + url.substr(url.find('?'));
  same.target = target;
  for (const header_line& line : kept) same.headers.push_back({line.name, line.value});
  if (same.header("x-goog-cloud-target-resource") != audience) {
    return "The signed request is for another audience";
  }
  if (same.header("host") != "sts." + region + ".amazonaws.com") return "Another host was signed";
  call asked;
  asked.path = "/";
  asked.query = query_parameters{std::string_view{target}.substr(2)};
  try {
    const auto who =
        s3::check_signature(asked, same, keys_, aws_, std::chrono::system_clock::now(), "sts");
    if (who.anonymous) return "The request is not signed";
    return who.credential.location == region ? "" : "The request is signed for another region";
  } catch (const service_error& refused) {
    return "AWS refuses the signed request: " + refused.xml_code;
  }
}

std::string federation::refusal_of(const query_parameters& form, const http_request& request) {
  const std::string_view token = form.get("subject_token");
  const std::string_view type = form.get("subject_token_type");
  if (type == aws_type) return refusal_of_identity(token, form.get("audience"));
  if (type == mtls_type) {
    std::vector<std::string> chain;
    if (!is_json_array_of_text(token, chain)) return "The chain is no array of certificates";
    const bool same =
        !request.client_certificate.empty() && chain.front() == request.client_certificate;
    return same ? "" : "The connection has another certificate, or none";
  }
  if (std::ranges::find(subject_types, type) == subject_types.end()) {
    return "subject_token_type is not known";
  }
  return refusal_of_subject(token);
}

http_reply federation::downscope(const query_parameters& form) {
  const auto options = options_of(form);
  const auto* const boundary = options ? options->find("accessBoundary") : nullptr;
  const auto* const rules = boundary == nullptr ? nullptr : boundary->find("accessBoundaryRules");
  const auto* const lines =
      rules == nullptr ? nullptr : std::get_if<json_value::array>(&rules->value);
  if (lines == nullptr || lines->empty() || lines->size() > 10) {
    return oauth_error(400, "invalid_request", "accessBoundary has 1 to 10 rules");
  }
  for (const json_value& rule : *lines) {
    const auto* const may = rule.find("availablePermissions");
    if (!rule.text("availableResource") || may == nullptr) {
      return oauth_error(400, "invalid_request",
                         "A rule has availableResource and availablePermissions");
    }
  }
  if (!tokens_.issued(form.get("subject_token"))) {
    return oauth_error(400, "invalid_grant", "The subject token has expired or was revoked");
  }
  json_writer out{false};
  out.begin_object();
  out.member("access_token", tokens_.issue());
  out.member("issued_token_type", access_token_type);
  out.member("token_type", "Bearer");
  out.end_object();  // without expires_in: it ends as the other one does
  return oauth_document(200, out);
}

http_reply federation::exchange(const http_request& request) {
  if (!request.header("Content-Type").starts_with("application/x-www-form-urlencoded")) {
    return oauth_error(400, "invalid_request", "Content-Type must be a form");
  }
  const query_parameters form{request.body.to_string()};
  if (form.get("grant_type") != exchange_grant) {
    return oauth_error(400, "unsupported_grant_type", "Invalid grant_type");
  }
  if (form.get("requested_token_type") != access_token_type) {
    return oauth_error(400, "invalid_request", "Invalid requested_token_type");
  }
  if (form.get("subject_token_type") == access_token_type) return downscope(form);
  const identity& known = tokens_.known();
  const std::string_view audience = form.get("audience");
  const bool workforce = audience == known.workforce_audience;
  if (audience != known.audience && !workforce) {
    return oauth_error(400, "invalid_target", "The audience names no provider");
  }
  if (form.get("scope").empty()) return oauth_error(400, "invalid_scope", "scope is required");
  const std::string_view client = request.header("Authorization");
  const bool by_client = !client.empty();
  if (by_client &&
      client != "Basic " + base64_encode(known.client_id + ":" + known.client_secret)) {
    return oauth_error(401, "invalid_client", "The OAuth client was not found.");
  }
  if (workforce && !by_client) {
    const auto options = options_of(form);
    if (!options || options->text("userProject").value_or("").empty()) {
      return oauth_error(400, "invalid_request", "A workforce needs options with userProject");
    }
  } else if (form.has("options")) {
    return oauth_error(400, "invalid_request", "options are not expected here");
  }
  const std::string refusal = refusal_of(form, request);
  if (!refusal.empty()) return oauth_error(400, "invalid_grant", refusal);
  json_writer out{false};
  out.begin_object();
  out.member("access_token", tokens_.issue());
  out.member("issued_token_type", access_token_type);
  out.member("token_type", "Bearer");
  out.key("expires_in");
  out.number(tokens_.lifetime().count());
  out.end_object();
  return oauth_document(200, out);
}

/// Each refresh token is good once: the reply has the next one.
http_reply federation::refresh(const http_request& request) {
  const query_parameters form{request.body.to_string()};
  const identity& known = tokens_.known();
  if (request.header("Authorization") !=
      "Basic " + base64_encode(known.client_id + ":" + known.client_secret)) {
    return oauth_error(401, "invalid_client", "The OAuth client was not found.");
  }
  if (form.get("grant_type") != "refresh_token") {
    return oauth_error(400, "unsupported_grant_type", "Invalid grant_type");
  }
  std::string next;
  {
    const std::lock_guard lock{mutex_};
    if (form.get("refresh_token") != refresh_token_) {
      return oauth_error(400, "invalid_grant", "The refresh token is none, or was used");
    }
    next = refresh_token_ = known.workforce_refresh_token + "-" + std::to_string(next_++);
  }
  json_writer out{false};
  out.begin_object();
  out.member("access_token", tokens_.issue());
  out.key("expires_in");
  out.number(tokens_.lifetime().count());
  out.member("token_type", "Bearer");
  out.member("refresh_token", next);
  out.end_object();
  return oauth_document(200, out);
}

http_reply federation::subject_token(const call& asked, const http_request& request) {
  if (request.header("Metadata") != "true") {
    return oauth_error(400, "invalid_request", "Required metadata header not specified");
  }
  if (asked.query.get("resource").empty()) {
    return oauth_error(400, "invalid_request", "resource is missing");
  }
  json_writer out{false};
  out.begin_object();
  out.member("access_token", issue_subject());
  out.member("expires_in", "3599");
  out.member("token_type", "Bearer");
  out.end_object();
  return oauth_document(200, out);
}

bool federation::may_act(std::string_view email, const json_value& asked) const {
  const identity& known = tokens_.known();
  const auto* const delegates = asked.find("delegates");
  const auto* const lines =
      delegates == nullptr ? nullptr : std::get_if<json_value::array>(&delegates->value);
  bool through = false;
  for (std::size_t i = 0; lines != nullptr && i < lines->size(); ++i) {
    const auto* const each = std::get_if<std::string>(&(*lines)[i].value);
    if (each == nullptr || *each != "projects/-/serviceAccounts/" + known.delegate_email) {
      return false;
    }
    through = true;
  }
  if (email == known.far_email) return through;
  return email == known.target_email || email == known.client_email;
}

http_reply federation::iam(const call& asked, const http_request& request) {
  const std::string_view header = request.header("Authorization");
  if (!header.starts_with("Bearer ") || !tokens_.accepts(header.substr(7))) {
    return iam_error(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.");
  }
  const auto body = parse_json(request.body.to_string());
  if (!body) return iam_error(400, "INVALID_ARGUMENT", "Invalid JSON payload received.");
  const bool signs = asked.verb == "iam.signBlob";
  if (!may_act(asked.item, *body)) {
    return iam_error(403, "PERMISSION_DENIED",
                     "Permission 'iam.serviceAccounts." +
                         std::string{signs ? "signBlob" : "getAccessToken"} +
                         "' denied on resource (or it may not exist).");
  }
  return signs ? sign_blob(*body) : generate(*body);
}

http_reply federation::generate(const json_value& body) {
  const auto* const scope = body.find("scope");
  const auto* const scopes =
      scope == nullptr ? nullptr : std::get_if<json_value::array>(&scope->value);
  if (scopes == nullptr || scopes->empty()) {
    return iam_error(400, "INVALID_ARGUMENT", "The scope is missing.");
  }
  std::string life = body.text("lifetime").value_or("3600s");
  if (life.ends_with('s')) life.pop_back();
  const auto seconds = parse_integer(life);
  if (!seconds || *seconds < 1 || *seconds > longest_life_s) {
    return iam_error(400, "INVALID_ARGUMENT", "The lifetime is invalid.");
  }
  const std::chrono::seconds given = std::min(std::chrono::seconds(*seconds), tokens_.lifetime());
  json_writer out{true};
  out.begin_object();
  out.member("accessToken", tokens_.issue(given));
  const auto end = std::chrono::system_clock::now() + given;
  out.member("expireTime", rfc3339(end).substr(0, 19) + "Z");
  out.end_object();
  return oauth_document(200, out);
}

http_reply federation::sign_blob(const json_value& body) const {
  const auto payload = base64_decode(body.text("payload").value_or(""));
  if (!payload || payload->empty()) {
    return iam_error(400, "INVALID_ARGUMENT", "The payload is missing or no base64.");
  }
  json_writer out{true};
  out.begin_object();
  out.member("keyId", tokens_.known().private_key_id);
  out.member("signedBlob", base64_encode(tokens_.key().sign(*payload)));
  out.end_object();
  return oauth_document(200, out);
}

}  // namespace emulator
