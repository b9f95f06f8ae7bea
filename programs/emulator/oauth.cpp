#include <emulator/digest.hpp>
#include <emulator/json_value.hpp>
#include <emulator/json_writer.hpp>
#include <emulator/oauth.hpp>
#include <emulator/uri.hpp>

#include <algorithm>

namespace emulator {
namespace {

constexpr std::string_view google_token_uri = "https://oauth2.googleapis.com/token";
constexpr std::string_view storage_audience = "https://storage.googleapis.com/";
/// How far clocks may differ.
constexpr std::int64_t skew_s = 300;

std::int64_t now_s() {
  return std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
}

http_reply plain(int status, std::string text) {
  http_reply reply;
  reply.status = status;
  reply.set("Content-Type", "text/html; charset=UTF-8");
  reply.body = content{std::move(text)};
  return reply;
}

}  // namespace

http_reply oauth_document(int status, json_writer& out) {
  http_reply reply;
  reply.status = status;
  reply.set("Content-Type", "application/json; charset=utf-8");
  reply.body = content{out.take()};
  return reply;
}

http_reply oauth_error(int status, std::string_view error, std::string_view description) {
  json_writer out{true};
  out.begin_object();
  out.member("error", error);
  out.member("error_description", description);
  out.end_object();
  return oauth_document(status, out);
}

const signing_key& token_authority::key() const {
  const std::lock_guard lock{mutex_};
  if (key_ == nullptr) key_ = std::make_unique<signing_key>();
  return *key_;
}

std::string token_authority::refusal_of(std::string_view jwt, bool for_exchange,
                                        std::string_view base) const {
  const std::size_t first = jwt.find('.');
  const std::size_t second = first == std::string_view::npos ? first : jwt.find('.', first + 1);
  if (second == std::string_view::npos) return "Not a JWT";
  const auto header = base64url_decode(jwt.substr(0, first));
  const auto claims = base64url_decode(jwt.substr(first + 1, second - first - 1));
  const auto signature = base64url_decode(jwt.substr(second + 1));
  if (!header || !claims || !signature) return "Not base64url";
  const auto head = parse_json(*header);
  const auto body = parse_json(*claims);
  if (!head || !body) return "Not JSON";
  if (head->text("alg") != "RS256") return "Invalid JWT: alg must be RS256";
  if (head->text("kid").value_or(known_.private_key_id) != known_.private_key_id) {
    return "Invalid JWT: unknown kid";
  }
  if (!key().verifies(jwt.substr(0, second), *signature)) return "Invalid JWT Signature.";
  if (body->text("iss") != known_.client_email) return "Invalid JWT: unknown iss";
  const auto issued = body->integer("iat");
  const auto expires = body->integer("exp");
  if (!issued || !expires) return "Invalid JWT: iat and exp are required";
  if (*expires <= now_s()) return "Invalid JWT: Token must be a short-lived token; it has expired";
  if (*issued > now_s() + skew_s) return "Invalid JWT: iat is in the future";
  if (*expires - *issued > 3600 + skew_s) return "Invalid JWT: lifetime is over one hour";
  const std::string audience = body->text("aud").value_or("");
  const std::string scope = body->text("scope").value_or("");
  if (for_exchange) {
    if (audience != google_token_uri && audience != std::string{base} + "/token") {
      return "Invalid JWT: aud is not this token endpoint";
    }
    return scope.empty() ? "Invalid JWT: scope is required" : "";
  }
  if (body->text("sub") != known_.client_email) return "Invalid JWT: sub must equal iss";
  const bool by_scope = !scope.empty() && audience.empty();
  const bool by_audience = scope.empty() && audience == storage_audience;
  return by_scope || by_audience ? "" : "Invalid JWT: needs either scope or the storage audience";
}

std::string token_authority::issue(std::chrono::seconds life) {
  const std::lock_guard lock{mutex_};
  const std::string number = std::to_string(next_++);
  std::string token = "ya29.emulator-" + number + "-" + hex_encode(md5("token " + number));
  issued_.emplace(token, std::chrono::system_clock::now() + std::min(life, lifetime_));
  return token;
}

http_reply token_authority::grant(std::string_view scope) {
  const std::string token = issue();
  json_writer out{false};
  out.begin_object();
  out.member("access_token", token);
  out.key("expires_in");
  out.number(lifetime_.count());
  out.member("token_type", "Bearer");
  if (!scope.empty()) out.member("scope", scope);
  out.end_object();
  return oauth_document(200, out);
}

http_reply token_authority::token(const http_request& request) {
  if (!request.header("Content-Type").starts_with("application/x-www-form-urlencoded")) {
    return oauth_error(400, "invalid_request", "Content-Type must be a form");
  }
  const query_parameters form{request.body.to_string()};
  const std::string_view type = form.get("grant_type");
  if (type == "urn:ietf:params:oauth:grant-type:jwt-bearer") {
    const std::string refusal = refusal_of(form.get("assertion"), true, request.base());
    return refusal.empty() ? grant({}) : oauth_error(400, "invalid_grant", refusal);
  }
  if (type == "refresh_token") {
    if (form.get("client_id") != known_.client_id ||
        form.get("client_secret") != known_.client_secret) {
      return oauth_error(401, "invalid_client", "Unauthorized");
    }
    if (form.get("refresh_token") != known_.refresh_token) {
      return oauth_error(400, "invalid_grant", "Token has been expired or revoked.");
    }
    return grant(form.get("scope"));
  }
  return oauth_error(400, "unsupported_grant_type", "Invalid grant_type: " + std::string{type});
}

http_reply token_authority::metadata(const http_request& request) {
  http_reply reply;
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  static constexpr std::string_view account =
      "/computeMetadata/v1/instance/service-accounts/default/";
  const auto text = [](std::string_view value) {
    http_reply out;
    out.set("Content-Type", "application/text");
    out.body = content{std::string{value}};
    return out;
  };
  if (request.header("Metadata-Flavor") != "Google") {
    reply = plain(403, "Missing Metadata-Flavor:Google header.");
  } else if (path == "/" || path == "/computeMetadata/v1/") {
    reply = text("instance/\nproject/\n");
  } else if (path == std::string{account} + "token") {
    reply = grant({});
  } else if (path == std::string{account} + "email") {
    reply = text(known_.client_email);
  } else if (path == std::string{account} + "scopes") {
    reply = text("https://www.googleapis.com/auth/cloud-platform\n");
  } else if (path == account) {
    json_writer out{false};
    out.begin_object();
    out.key("aliases");
    out.begin_array();
    out.string("default");
    out.end_array();
    out.member("email", known_.client_email);
    out.key("scopes");
    out.begin_array();
    out.string("https://www.googleapis.com/auth/cloud-platform");
    out.end_array();
    out.end_object();
    reply = oauth_document(200, out);
  } else if (path == "/computeMetadata/v1/universe/universe-domain") {
    reply = text("googleapis.com");
  } else if (path == "/computeMetadata/v1/project/project-id") {
    reply = text("emulator-project");
  } else {
    reply = plain(404, "Not found");
  }
  reply.set("Metadata-Flavor", "Google");
  reply.set("Server", "Metadata Server for VM");
  return reply;
}

bool token_authority::issued(std::string_view bearer) const {
  const std::lock_guard lock{mutex_};
  const auto at = issued_.find(bearer);
  return at != issued_.end() && at->second > std::chrono::system_clock::now();
}

bool token_authority::accepts(std::string_view bearer) const {
  return issued(bearer) || refusal_of(bearer, false, {}).empty();
}

void token_authority::revoke_all() {
  const std::lock_guard lock{mutex_};
  issued_.clear();
}

std::string token_authority::service_account_json(const std::string& token_uri) const {
  json_writer out{true};
  out.begin_object();
  out.member("type", "service_account");
  out.member("project_id", "emulator-project");
  out.member("private_key_id", known_.private_key_id);
  out.member("private_key", key().private_pem());
  out.member("client_email", known_.client_email);
  out.member("client_id", "100000000000000000001");
  out.member("token_uri", token_uri);
  out.member("universe_domain", "googleapis.com");
  out.end_object();
  return out.take();
}

std::string token_authority::authorized_user_json() const {
  json_writer out{true};
  out.begin_object();
  out.member("type", "authorized_user");
  out.member("client_id", known_.client_id);
  out.member("client_secret", known_.client_secret);
  out.member("refresh_token", known_.refresh_token);
  out.end_object();
  return out.take();
}

}  // namespace emulator
