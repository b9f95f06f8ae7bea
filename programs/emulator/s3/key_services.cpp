#include <emulator/digest.hpp>
#include <emulator/json_value.hpp>
#include <emulator/json_writer.hpp>
#include <emulator/s3/error.hpp>
#include <emulator/s3/key_services.hpp>
#include <emulator/stored_object.hpp>
#include <emulator/uri.hpp>

#include <algorithm>
#include <utility>

namespace emulator::s3 {
namespace {

constexpr std::string_view roles_path = "/latest/meta-data/iam/security-credentials/";
constexpr std::string_view sts_namespace = "https://sts.amazonaws.com/doc/2011-06-15/";
constexpr std::int64_t longest_session = 21'600;

std::string_view path_of(const http_request& request) {
  return request.target.substr(0, request.target.find('?'));
}

http_reply plain(int status, std::string text) {
  http_reply reply;
  reply.status = status;
  reply.set("Content-Type", "text/plain");
  reply.body = content{std::move(text)};
  return reply;
}

http_reply json(int status, json_writer& out) {
  http_reply reply;
  reply.status = status;
  reply.set("Content-Type", "application/json");
  reply.body = content{out.take()};
  return reply;
}

http_reply json_error(int status, std::string_view name, std::string_view text) {
  json_writer out{false};
  out.begin_object();
  out.member("error", name);
  out.member("message", text);
  out.end_object();
  return json(status, out);
}

std::string second_text(std::chrono::system_clock::time_point time) {
  return rfc3339(time).substr(0, 19) + "Z";
}

http_reply xml(int status, const std::string& inside, std::string_view root) {
  http_reply reply;
  reply.status = status;
  reply.set("Content-Type", "text/xml");
  const std::string name{root};
  reply.body = content{"<" + name + " xmlns=\"" + std::string{sts_namespace} + "\">" + inside +
                       "</" + name + ">"};
  return reply;
}

std::string leaf(std::string_view name, std::string_view text) {
  return "<" + std::string{name} + ">" + xml_escape(text) + "</" + std::string{name} + ">";
}

http_reply sts_error(const service_error& refused) {
  const bool ours = refused.status >= 500;
  // STS has no code of its own for a wrong clock.
  const bool skewed = refused.xml_code == "RequestTimeTooSkewed";
  const std::string code = skewed ? "SignatureDoesNotMatch" : refused.xml_code;
  return xml(refused.status,
             "<Error>" + leaf("Type", ours ? "Receiver" : "Sender") + leaf("Code", code) +
                 leaf("Message", refused.what()) + "</Error>" + leaf("RequestId", "emulator"),
             "ErrorResponse");
}

bool is_session_name(std::string_view text) {
  return text.size() >= 2 && text.size() <= 64 &&
         text.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
             "_+=,.@-") == std::string_view::npos;
}

}  // namespace

std::string_view key_service_verb(const http_request& request) {
  const std::string_view path = path_of(request);
  const bool get = request.method == "GET";
  if (request.method == "PUT" && path == "/latest/api/token") return "imds.token";
  // With the slash at its end or, as google-auth asks, without.
  const std::string_view roles = roles_path.substr(0, roles_path.size() - 1);
  if (get && (path == roles_path || path == roles)) return "imds.role";
  if (get && path.starts_with(roles_path)) return "imds.keys";
  if (get && path == "/latest/meta-data/placement/region") return "imds.region";
  if (get && path == "/latest/meta-data/placement/availability-zone") return "imds.region";
  if (get && path == "/v2/credentials") return "container.keys";
  if (get && path == "/v1/credentials") return "pod.keys";
  if (get && path == "/federation/credentials") return "sso.keys";
  if (request.method != "POST") return {};
  if (path == "/token") return "sso.renew";
  const bool form = request.header("Content-Type").starts_with("application/x-www-form-urlencoded");
  if (path != "/" || !form || request.target.find('?') != std::string_view::npos) return {};
  return "sts.call";
}

bool key_services::gives(std::string_view verb) noexcept {
  return verb == "sts.call" || verb == "container.keys" || verb == "pod.keys" ||
         verb.starts_with("imds.") || verb.starts_with("sso.");
}

key_services::key_services(access_keys& keys, const options& how)
    : keys_(keys), how_(how), login_token_(how.login_token), refresh_token_(how.refresh_token) {}

http_reply key_services::answer(const call& asked, const http_request& request) {
  const std::string_view verb = asked.verb;
  if (verb == "sts.call") {
    try {
      return sts(asked, request);
    } catch (const service_error& refused) {
      return sts_error(refused);
    }
  }
  if (verb == "imds.token") return session(request);
  if (verb.starts_with("imds.")) return instance(verb, request);
  if (verb == "sso.keys") return login(request, asked.query);
  if (verb == "sso.renew") return renewal(request);
  return container(request, verb == "pod.keys");
}

void key_services::end_sessions() {
  const std::lock_guard lock{mutex_};
  sessions_.clear();
}

http_reply key_services::sts(const call& asked, const http_request& request) {
  const query_parameters form{request.body.to_string()};
  const std::string_view action = form.get("Action");
  if (form.get("Version") != "2011-06-15") {
    throw error(400, "InvalidAction", "Could not find operation for this version");
  }
  if (action == "AssumeRoleWithWebIdentity") return role(asked, form, true);
  const auto now = std::chrono::system_clock::now() + asked.skew;
  const signed_request who = check_signature(asked, request, keys_, how_, now, "sts");
  if (who.anonymous) {
    throw error(403, "MissingAuthenticationToken", "Request is missing Authentication Token");
  }
  http_request same = request;
  std::vector<header_line> trailer;
  static_cast<void>(body_of(who, same, trailer, how_));
  if (action == "AssumeRole") return role(asked, form, false);
  if (action == "GetCallerIdentity") return identity(who);
  throw error(400, "InvalidAction", "Could not find operation " + std::string{action});
}

http_reply key_services::role(const call& asked, const query_parameters& form, bool web_identity) {
  const std::string_view arn = form.get("RoleArn");
  if (!arn.starts_with("arn:aws:iam::") || arn.find(":role/") == std::string_view::npos) {
    throw error(400, "ValidationError", "roleArn is invalid");
  }
  if (!is_session_name(form.get("RoleSessionName"))) {
    throw error(400, "ValidationError", "roleSessionName is invalid");
  }
  const auto life = form.has("DurationSeconds")
                        ? parse_integer(form.get("DurationSeconds")).value_or(0)
                        : std::int64_t{3600};
  if (life < 900 || life > 43200) throw error(400, "ValidationError", "durationSeconds is invalid");
  if (web_identity && form.get("WebIdentityToken") != how_.web_identity_token) {
    throw error(400, "InvalidIdentityToken", "The token is not one of this provider");
  }
  if (!web_identity && !how_.external_id.empty() && form.get("ExternalId") != how_.external_id) {
    throw error(403, "AccessDenied",
                "User is not authorized to perform sts:AssumeRole on " + std::string{arn});
  }
  const std::string id = keys_.issue(std::min(std::chrono::seconds(life), how_.key_lifetime));
  const auto key = keys_.find(id);
  const std::string action = web_identity ? "AssumeRoleWithWebIdentity" : "AssumeRole";
  return xml(200,
             "<" + action + "Result><Credentials>" + leaf("AccessKeyId", id) +
                 leaf("SecretAccessKey", key->secret) + leaf("SessionToken", key->session_token) +
                 leaf("Expiration", second_text(*key->expires + asked.skew)) + "</Credentials></" +
                 action + "Result>",
             action + "Response");
}

http_reply key_services::identity(const signed_request& who) const {
  return xml(200,
             "<GetCallerIdentityResult>" +
                 leaf("Arn", "arn:aws:iam::" + how_.account + ":user/" + who.access_key) +
                 leaf("UserId", who.access_key) + leaf("Account", how_.account) +
                 "</GetCallerIdentityResult>",
             "GetCallerIdentityResponse");
}

http_reply key_services::session(const http_request& request) {
  const auto life = parse_integer(request.header("x-aws-ec2-metadata-token-ttl-seconds"));
  if (!life || *life < 1 || *life > longest_session) return plain(400, "Bad Request");
  const std::lock_guard lock{mutex_};
  std::string token = base64_encode("session " + std::to_string(next_++) + how_.secret_key);
  sessions_[token] = std::chrono::steady_clock::now() + std::chrono::seconds(*life);
  http_reply reply = plain(200, std::move(token));
  reply.set("x-aws-ec2-metadata-token-ttl-seconds", std::to_string(*life));
  return reply;
}

http_reply key_services::fresh_keys() {
  const std::string id = keys_.issue(how_.key_lifetime);
  const auto key = keys_.find(id);
  json_writer out{true};
  out.begin_object();
  out.member("Code", "Success");
  out.member("LastUpdated", second_text(std::chrono::system_clock::now()));
  out.member("Type", "AWS-HMAC");
  out.member("AccessKeyId", id);
  out.member("SecretAccessKey", key->secret);
  out.member("Token", key->session_token);
  out.member("Expiration", second_text(*key->expires));
  out.end_object();
  return json(200, out);
}

http_reply key_services::instance(std::string_view verb, const http_request& request) {
  const std::string_view token = request.header("x-aws-ec2-metadata-token");
  {
    const std::lock_guard lock{mutex_};
    const auto at = sessions_.find(token);
    const bool known = at != sessions_.end() && at->second > std::chrono::steady_clock::now();
    if (!known && (!token.empty() || !how_.metadata_v1)) return plain(401, "Unauthorized");
  }
  if (verb == "imds.role") return plain(200, how_.instance_role);
  if (verb == "imds.region") {
    const bool zone = path_of(request).ends_with("availability-zone");
    return plain(200, how_.region + (zone ? "a" : ""));
  }
  if (path_of(request).substr(roles_path.size()) != how_.instance_role) {
    return plain(404, "Not Found");
  }
  return fresh_keys();
}

http_reply key_services::container(const http_request& request, bool pod) {
  if (pod && request.header("Authorization") != how_.pod_token) {
    return json_error(401, "AccessDenied", "the token is missing or none of this cluster");
  }
  return fresh_keys();
}

http_reply key_services::login(const http_request& request, const query_parameters& query) {
  {
    const std::lock_guard lock{mutex_};
    if (request.header("x-amz-sso_bearer_token") != login_token_) {
      return json_error(401, "UnauthorizedException", "Session token not found or invalid");
    }
  }
  if (query.get("account_id") != how_.account || query.get("role_name").empty()) {
    return json_error(403, "ForbiddenException", "No access");
  }
  const std::string id = keys_.issue(how_.key_lifetime);
  const auto key = keys_.find(id);
  const auto end =
      std::chrono::duration_cast<std::chrono::milliseconds>(key->expires->time_since_epoch());
  json_writer out{false};
  out.begin_object();
  out.key("roleCredentials");
  out.begin_object();
  out.member("accessKeyId", id);
  out.member("secretAccessKey", key->secret);
  out.member("sessionToken", key->session_token);
  out.key("expiration");
  out.number(end.count());
  out.end_object();
  out.end_object();
  return json(200, out);
}

http_reply key_services::renewal(const http_request& request) {
  const auto asked = parse_json(request.body.to_string());
  if (!asked) return json_error(400, "invalid_request", "not JSON");
  if (asked->text("grantType") != "refresh_token") {
    return json_error(400, "unsupported_grant_type", "refresh_token alone");
  }
  const std::lock_guard lock{mutex_};
  if (asked->text("clientId") != how_.login_client || !asked->text("clientSecret") ||
      asked->text("refreshToken") != refresh_token_) {
    return json_error(400, "invalid_grant", "the refresh token is none, or was used");
  }
  const std::string number = std::to_string(next_++);
  login_token_ = how_.login_token + number;
  refresh_token_ = how_.refresh_token + number;
  json_writer out{false};
  out.begin_object();
  out.member("accessToken", login_token_);
  out.member("tokenType", "Bearer");
  out.key("expiresIn");
  out.number(28'800);
  out.member("refreshToken", refresh_token_);
  out.end_object();
  return json(200, out);
}

}  // namespace emulator::s3
