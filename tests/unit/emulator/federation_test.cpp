#include <emulator/digest.hpp>
#include <emulator/federation.hpp>
#include <emulator/v4.hpp>
#include <support/catch.hpp>

#include <string>

#include "ask.hpp"

namespace federation_test {

using namespace emulator_test;
using emulator::percent_encode;
using emulator::service;
using emulator::service_options;

namespace {

const emulator::identity known{};

struct exchange {
  std::string audience{known.audience};
  std::string subject{known.subject_token};
  std::string type{"urn:ietf:params:oauth:token-type:jwt"};
  std::string options{};
  std::string authorization{};
};

emulator::http_reply exchanged(service& s, const exchange& e) {
  std::string body =
      "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange"
      "&requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token&scope=s"
      "&audience=" +
      percent_encode(e.audience) + "&subject_token=" + percent_encode(e.subject) +
      "&subject_token_type=" + percent_encode(e.type);
  if (!e.options.empty()) body += "&options=" + percent_encode(percent_encode(e.options));
  question q{.method = "POST",
             .target = "/v1/token",
             .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
             .body = body};
  if (!e.authorization.empty()) q.headers.push_back({"Authorization", e.authorization});
  return ask(s, q);
}

std::string refusal(const emulator::http_reply& reply) {
  CHECK(reply.status == 400);
  return json_of(reply).text("error").value_or("");
}

emulator::http_reply iam(service& s, const std::string& bearer, const std::string& email,
                         const std::string& verb, const std::string& body) {
  const std::string value = "Bearer " + bearer;
  const std::string target = "/v1/projects/-/serviceAccounts/" + percent_encode(email) + verb;
  return ask(s, {.method = "POST",
                 .target = target,
                 .headers = {{"Authorization", value}, {"Content-Type", "application/json"}},
                 .body = body});
}

std::string signed_identity(const std::string& region, const std::string& audience,
                            const std::string& secret,
                            const std::string& verb = "GetCallerIdentity") {
  const emulator::s3::options aws;
  const std::string date = emulator::rfc3339(std::chrono::system_clock::now()).substr(0, 19) + "Z";
  std::string stamp = date;
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  const std::string host = "sts." + region + ".amazonaws.com";
  const std::string query = "Action=" + verb + "&Version=2011-06-15";
  const std::string canonical = "POST\n/\n" + query + "\nhost:" + host + "\nx-amz-date:" + stamp +
                                "\n\nhost;x-amz-date\n" +
                                emulator::hex_encode(emulator::sha256(""));
  const std::string scope = stamp.substr(0, 8) + "/" + region + "/sts/aws4_request";
  const std::string to_sign = "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" +
                              emulator::hex_encode(emulator::sha256(canonical));
  const std::string signature = emulator::hex_encode(
      emulator::hmac_sha256(emulator::v4_signing_key("AWS4", secret, scope), to_sign));
  const std::string json =
      R"({"url":"https://)" + host + "?" + query + R"(","method":"POST","headers":[)" +
      R"({"key":"Authorization","value":"AWS4-HMAC-SHA256 Credential=)" + aws.access_key + "/" +
      scope + ", SignedHeaders=host;x-amz-date, Signature=" + signature + R"("},)" +
      R"({"key":"host","value":")" + host + R"("},{"key":"x-amz-date","value":")" + stamp +
      R"("},{"key":"x-goog-cloud-target-resource","value":")" + audience + R"("}]})";
  return percent_encode(json);
}

}  // namespace

TEST_CASE("federation: a subject token becomes a token that calls accept, once", "[emulator]") {
  service s{service_options{.token_lifetime = std::chrono::seconds{77}}};
  const auto granted = exchanged(s, {});
  REQUIRE(granted.status == 200);
  CHECK(json_of(granted).integer("expires_in") == 77);
  CHECK(s.tokens().accepts(json_of(granted).text("access_token").value()));
  const std::string once = s.federation().issue_subject();
  CHECK(exchanged(s, {.subject = once}).status == 200);
  CHECK(refusal(exchanged(s, {.subject = once})) == "invalid_grant");
  const std::string late = s.federation().issue_subject(std::chrono::seconds{0});
  CHECK(refusal(exchanged(s, {.subject = late})) == "invalid_grant");
  CHECK(refusal(exchanged(s, {.subject = "other"})) == "invalid_grant");
  CHECK(refusal(exchanged(s, {.audience = "//other"})) == "invalid_target");
  CHECK(refusal(exchanged(s, {.type = "urn:x"})) == "invalid_grant");
}

TEST_CASE("federation: clients and projects of a workforce", "[emulator]") {
  service s{{}};
  const std::string basic =
      "Basic " + emulator::base64_encode(known.client_id + ":" + known.client_secret);
  CHECK(exchanged(s, {.authorization = basic}).status == 200);
  CHECK(exchanged(s, {.authorization = "Basic x"}).status == 401);
  const std::string workforce = known.workforce_audience;
  CHECK(refusal(exchanged(s, {.audience = workforce})) == "invalid_request");
  CHECK(exchanged(s, {.audience = workforce, .options = R"({"userProject":"p"})"}).status == 200);
  CHECK(exchanged(s, {.audience = workforce, .authorization = basic}).status == 200);
  CHECK(refusal(exchanged(s, {.options = R"({"userProject":"p"})"})) == "invalid_request");
}

TEST_CASE("federation: a refresh token of a workforce is used once", "[emulator]") {
  service s{{}};
  const std::string basic =
      "Basic " + emulator::base64_encode(known.client_id + ":" + known.client_secret);
  const auto refresh = [&](const std::string& token) {
    return ask(s, {.method = "POST",
                   .target = "/v1/oauthtoken",
                   .headers = {{"Authorization", basic}},
                   .body = "grant_type=refresh_token&refresh_token=" + percent_encode(token)});
  };
  const auto first = refresh(known.workforce_refresh_token);
  REQUIRE(first.status == 200);
  CHECK(refusal(refresh(known.workforce_refresh_token)) == "invalid_grant");
  CHECK(refresh(json_of(first).text("refresh_token").value()).status == 200);
}

TEST_CASE("federation: AWS's identity counts by its signature", "[emulator]") {
  service s{{}};
  const std::string type = "urn:ietf:params:aws:token-type:aws4_request";
  const emulator::s3::options aws;
  const auto with = [&](const std::string& subject) {
    return exchanged(s, {.subject = subject, .type = type});
  };
  CHECK(with(signed_identity("eu-west-1", known.audience, aws.secret_key)).status == 200);
  CHECK(refusal(with(signed_identity("eu-west-1", known.audience, "other"))) == "invalid_grant");
  CHECK(refusal(with(signed_identity("eu-west-1", "//other", aws.secret_key))) == "invalid_grant");
  CHECK(refusal(with(signed_identity("eu-west-1", known.audience, aws.secret_key, "AssumeRole"))) ==
        "invalid_grant");
  CHECK(refusal(with("x")) == "invalid_grant");
  CHECK(refusal(with("%7B%7D")) == "invalid_grant");
}

TEST_CASE("federation: IAM gives tokens to who may act", "[emulator]") {
  service s{{}};
  const std::string bearer = s.tokens().issue();
  const std::string asks = R"({"scope":["a"],"lifetime":"60s"})";
  const std::string verb = ":generateAccessToken";
  const auto granted = iam(s, bearer, known.target_email, verb, asks);
  REQUIRE(granted.status == 200);
  CHECK(s.tokens().accepts(json_of(granted).text("accessToken").value()));
  CHECK(json_of(granted).text("expireTime")->ends_with("Z"));
  CHECK(iam(s, "other", known.target_email, verb, asks).status == 401);
  CHECK(iam(s, bearer, "nobody@x", verb, asks).status == 403);
  CHECK(iam(s, bearer, known.far_email, verb, asks).status == 403);
  const std::string through = R"({"scope":["a"],"delegates":["projects/-/serviceAccounts/)" +
                              known.delegate_email + R"("]})";
  CHECK(iam(s, bearer, known.far_email, verb, through).status == 200);
  CHECK(iam(s, bearer, known.target_email, verb, R"({"scope":["a"],"delegates":["x"]})").status ==
        403);
  for (const std::string bad : {"", "{}", R"({"scope":[]})", R"({"scope":["a"],"lifetime":"1h"})",
                                R"({"scope":["a"],"lifetime":"43201s"})"}) {
    CHECK(iam(s, bearer, known.target_email, verb, bad).status == 400);
  }
}

TEST_CASE("federation: IAM signs as the account", "[emulator]") {
  service s{{}};
  const std::string bearer = s.tokens().issue();
  const auto reply = iam(s, bearer, known.target_email, ":signBlob",
                         R"({"payload":")" + emulator::base64_encode("text") + R"("})");
  REQUIRE(reply.status == 200);
  CHECK(json_of(reply).text("keyId") == known.private_key_id);
  const auto blob = emulator::base64_decode(json_of(reply).text("signedBlob").value());
  CHECK(s.tokens().key().verifies("text", blob.value()));
  CHECK(iam(s, bearer, known.target_email, ":signBlob", R"({"payload":"!"})").status == 400);
  CHECK(iam(s, bearer, "nobody@x", ":signBlob", R"({"payload":"eA=="})").status == 403);
}

TEST_CASE("federation: a token with a boundary is made of one that is good", "[emulator]") {
  service s{{}};
  const auto downscoped = [&](const std::string& token, const std::string& options) {
    return ask(
        s, {.method = "POST",
            .target = "/v1/token",
            .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
            .body = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange"
                    "&requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token"
                    "&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token"
                    "&subject_token=" +
                    token + "&options=" + percent_encode(percent_encode(options))});
  };
  const std::string boundary =
      R"({"accessBoundary":{"accessBoundaryRules":[{"availableResource":)"
      R"("//storage.googleapis.com/projects/_/buckets/b",)"
      R"("availablePermissions":["inRole:roles/storage.objectViewer"]}]}})";
  const auto granted = downscoped(s.tokens().issue(), boundary);
  REQUIRE(granted.status == 200);
  CHECK_FALSE(json_of(granted).integer("expires_in"));
  CHECK(s.tokens().accepts(json_of(granted).text("access_token").value()));
  CHECK(refusal(downscoped("other", boundary)) == "invalid_grant");
  CHECK(refusal(downscoped(s.tokens().issue(), "{}")) == "invalid_request");
}

TEST_CASE("federation: the issuer of subject tokens, and AWS's places", "[emulator]") {
  service s{{}};
  const auto get = [&](std::string_view target, emulator::header_view header) {
    return ask(s, {.target = target, .headers = {header}});
  };
  const std::string_view idp = "/metadata/identity/oauth2/token?resource=r";
  const auto token = get(idp, {"Metadata", "true"});
  REQUIRE(token.status == 200);
  CHECK(exchanged(s, {.subject = json_of(token).text("access_token").value()}).status == 200);
  CHECK(get(idp, {"Metadata", "no"}).status == 400);
  const auto session = ask(s, {.method = "PUT",
                               .target = "/latest/api/token",
                               .headers = {{"x-aws-ec2-metadata-token-ttl-seconds", "300"}}});
  REQUIRE(session.status == 200);
  const std::string id = body_of(session);
  CHECK(body_of(get("/latest/meta-data/placement/availability-zone",
                    {"x-aws-ec2-metadata-token", id})) == "us-east-1a");
  for (const std::string_view roles : {"/latest/meta-data/iam/security-credentials/",
                                       "/latest/meta-data/iam/security-credentials"}) {
    CHECK(body_of(get(roles, {"x-aws-ec2-metadata-token", id})) == "emulator-role");
    CHECK(get(roles, {"X-Other", ""}).status == 401);
  }
  CHECK(get("/v1/credentials", {"Authorization", "emulator-pod-token"}).status == 200);
}

}  // namespace federation_test
