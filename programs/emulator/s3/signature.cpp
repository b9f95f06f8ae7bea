#include <emulator/digest.hpp>
#include <emulator/s3/error.hpp>
#include <emulator/s3/signature.hpp>
#include <emulator/uri.hpp>

#include <algorithm>
#include <array>
#include <chrono>

namespace emulator::s3 {
namespace {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";
constexpr std::chrono::minutes most_skew{15};

service_error malformed_header(const std::string& why) {
  return error(400, "AuthorizationHeaderMalformed",
               "The authorization header is malformed; " + why);
}
service_error malformed_query(const std::string& why) {
  return error(400, "AuthorizationQueryParametersError", why);
}

/// What the client says of its signature, in either form.
struct claim {
  bool in_query{false};
  v4_credential credential{};
  std::string signed_headers{};
  std::string signature{};
  std::string date{};
  std::string token{};
  std::string payload{};
  std::int64_t lifetime{0};
};

/// The value of "Name=value" among the parts of an Authorization header.
std::string field_of(std::string_view header, std::string_view name) {
  for (const std::string& each : split(header, ',')) {
    const std::string_view text = trim(each);
    if (text.starts_with(name) && text.substr(name.size()).starts_with('=')) {
      return std::string{text.substr(name.size() + 1)};
    }
  }
  throw malformed_header("it lacks " + std::string{name} + ".");
}

/// An HTTP date will do in place of x-amz-date.
std::string date_of(const http_request& request) {
  if (const std::string_view own = request.header("x-amz-date"); !own.empty()) {
    return std::string{own};
  }
  const auto date = parse_http_date(request.header("Date"));
  if (!date) return std::string{request.header("Date")};
  std::string text = rfc3339(*date).substr(0, 19) + "Z";
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

claim claim_of_header(const http_request& request, std::string_view service) {
  std::string_view header = request.header("Authorization");
  if (header.starts_with("AWS ")) {
    throw error(400, "InvalidRequest",
                "The authorization mechanism you have provided is not supported. Please use "
                "AWS4-HMAC-SHA256.");
  }
  if (!header.starts_with(algorithm)) {
    throw error(400, "InvalidArgument", "Unsupported Authorization Type");
  }
  header.remove_prefix(algorithm.size());
  claim out;
  const auto credential = v4_credential::parse(field_of(header, "Credential"));
  if (!credential) {
    throw malformed_header(
        "the Credential is mal-formed; expecting \"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/"
        "aws4_request\".");
  }
  out.credential = *credential;
  out.signed_headers = field_of(header, "SignedHeaders");
  out.signature = field_of(header, "Signature");
  out.date = date_of(request);
  out.token = request.header("x-amz-security-token");
  out.payload = request.header("x-amz-content-sha256");
  if (out.payload.empty() && service != "s3") {  // S3 alone needs it said
    out.payload = hex_encode(sha256(request.body.to_string()));
  }
  if (out.payload.empty()) {
    throw error(400, "InvalidRequest",
                "Missing required header for this request: x-amz-content-sha256");
  }
  return out;
}

claim claim_of_query(const query_parameters& query, const http_request& request) {
  const auto get = [&query](std::string_view name) {
    const std::string_view value = query.get(name);
    if (value.empty()) {
      throw malformed_query(
          "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, "
          "X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.");
    }
    return std::string{value};
  };
  if (get("X-Amz-Algorithm") != algorithm) {
    throw malformed_query("X-Amz-Algorithm only supports \"AWS4-HMAC-SHA256\"");
  }
  claim out;
  out.in_query = true;
  const auto credential = v4_credential::parse(get("X-Amz-Credential"));
  if (!credential) throw malformed_query("Error parsing the X-Amz-Credential parameter");
  out.credential = *credential;
  out.signed_headers = get("X-Amz-SignedHeaders");
  out.signature = get("X-Amz-Signature");
  out.date = get("X-Amz-Date");
  out.lifetime = parse_integer(get("X-Amz-Expires")).value_or(-1);
  if (out.lifetime < 1 || out.lifetime > 604'800) {
    throw malformed_query(
        "X-Amz-Expires must be a number of seconds from 1 to 604800, which is a week.");
  }
  out.token = query.get("X-Amz-Security-Token");
  const std::string_view payload = request.header("x-amz-content-sha256");
  out.payload = payload.empty() ? "UNSIGNED-PAYLOAD" : payload;
  return out;
}

void check_scope(const claim& said, std::string_view service) {
  const auto refuse = [&said](const std::string& why) {
    return said.in_query ? malformed_query("Error parsing the X-Amz-Credential parameter; " + why)
                         : malformed_header(why);
  };
  if (said.credential.terminator != "aws4_request") {
    throw refuse("incorrect terminal \"" + said.credential.terminator +
                 "\". This endpoint uses \"aws4_request\".");
  }
  if (said.credential.service != service) {
    throw refuse("incorrect service \"" + said.credential.service +
                 "\". This endpoint belongs to \"" + std::string{service} + "\".");
  }
}

stored_object::time_point check_date(const claim& said, stored_object::time_point now) {
  const auto date = parse_v4_time(said.date);
  if (!date && said.in_query) throw malformed_query("X-Amz-Date must be in the ISO8601 format");
  if (!date) {
    throw access_denied("AWS authentication requires a valid Date or x-amz-date header");
  }
  if (said.credential.date != said.date.substr(0, 8)) {
    const std::string why = "Invalid credential date \"" + said.credential.date +
                            "\". This date is not the same as X-Amz-Date.";
    throw said.in_query ? malformed_query(why) : malformed_header(why);
  }
  const bool early = *date > now + most_skew;
  if (early || (!said.in_query && *date < now - most_skew)) {
    auto refused = error(403, "RequestTimeTooSkewed",
                         "The difference between the request time and the current time is too "
                         "large.");
    refused.members = {{"RequestTime", said.date},
                       {"ServerTime", rfc3339(now).substr(0, 19) + "Z"},
                       {"MaxAllowedSkewMilliseconds", "900000"}};
    throw refused;
  }
  if (said.in_query && now > *date + std::chrono::seconds(said.lifetime)) {
    auto refused = access_denied("Request has expired");
    refused.members = {{"X-Amz-Expires", std::to_string(said.lifetime)},
                       {"Expires", rfc3339(*date + std::chrono::seconds(said.lifetime))},
                       {"ServerTime", rfc3339(now)}};
    throw refused;
  }
  return *date;
}

access_key check_key(const claim& said, const access_keys& keys, stored_object::time_point now) {
  const auto key = keys.find(said.credential.id);
  if (!key) {
    auto refused = error(403, "InvalidAccessKeyId",
                         "The AWS Access Key Id you provided does not exist in our records.");
    refused.members = {{"AWSAccessKeyId", said.credential.id}};
    throw refused;
  }
  if (key->session_token != said.token) {
    throw error(400, "InvalidToken", "The provided token is malformed or otherwise invalid.");
  }
  if (key->revoked || (key->expires && now >= *key->expires)) {
    throw error(400, "ExpiredToken", "The provided token has expired.");
  }
  return *key;
}

/// host, all of x-amz-* and Content-MD5 must be covered.
void check_covered(const claim& said, const http_request& request) {
  const auto names = split(said.signed_headers, ';');
  const auto covered = [&names](std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  std::string missing = covered("host") ? "" : "host";
  for (const header_view& h : request.headers) {
    const std::string name = lower_case(h.name);
    const bool needed = name.starts_with("x-amz-") || name == "content-md5";
    // In the query the payload is said by a header that signs nothing.
    if (!needed || covered(name) || (said.in_query && name == "x-amz-content-sha256")) continue;
    if (!missing.empty()) missing += ", ";
    missing += name;
  }
  if (missing.empty()) return;
  auto refused = access_denied("There were headers present in the request which were not signed");
  refused.members = {{"HeadersNotSigned", missing}};
  throw refused;
}

/// Each byte but A-Z a-z 0-9 - . _ ~ and the slashes.
std::string canonical_path(std::string_view path) {
  std::string out;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    out += percent_encode(percent_decode(path.substr(at, slash - at)));
    if (slash < path.size()) out += '/';
    at = slash + 1;
  }
  return out;
}

service_error wrong_signature_of(const claim& said, const std::string& to_sign,
                                 const std::string& canonical) {
  auto refused = error(403, "SignatureDoesNotMatch",
                       "The request signature we calculated does not match the signature you "
                       "provided. Check your key and signing method.");
  refused.members = {{"AWSAccessKeyId", said.credential.id},
                     {"StringToSign", to_sign},
                     {"SignatureProvided", said.signature},
                     {"CanonicalRequest", canonical}};
  return refused;
}

}  // namespace

signed_request check_signature(const call& asked, const http_request& request,
                               const access_keys& keys, const options& how,
                               stored_object::time_point now, std::string_view service) {
  signed_request out;
  const bool in_query = asked.query.has("X-Amz-Algorithm") || asked.query.has("X-Amz-Signature");
  const bool in_header = !request.header("Authorization").empty();
  if (in_query && in_header) {
    throw error(400, "InvalidArgument",
                "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, "
                "Signature query string parameter or the Authorization header should be specified");
  }
  if (!in_query && !in_header) {
    if (!how.anonymous) throw access_denied();
    out.anonymous = true;
    out.payload = request.header("x-amz-content-sha256");
    return out;
  }
  const claim said =
      in_query ? claim_of_query(asked.query, request) : claim_of_header(request, service);
  check_scope(said, service);
  check_date(said, now);
  const access_key key = check_key(said, keys, now);
  check_covered(said, request);
  const std::string path = canonical_path(asked.path);
  const std::string canonical = v4_canonical_request(request, asked.query,
                                                     {.path = path,
                                                      .signature_name = "X-Amz-Signature",
                                                      .signed_headers = said.signed_headers,
                                                      .payload = said.payload});
  const std::string to_sign = std::string{algorithm} + "\n" + said.date + "\n" +
                              said.credential.scope() + "\n" + hex_encode(sha256(canonical));
  out.signing_key = keys.signing_key(key.secret, said.credential.scope());
  if (hex_encode(hmac_sha256(out.signing_key, to_sign)) != said.signature) {
    throw wrong_signature_of(said, to_sign, canonical);
  }
  out.presigned = in_query;
  out.access_key = said.credential.id;
  out.date = said.date;
  out.credential = said.credential;
  out.signature = said.signature;
  out.payload = said.payload;
  return out;
}

}  // namespace emulator::s3
