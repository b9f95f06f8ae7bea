#include <emulator/json_value.hpp>
#include <emulator/s3/key_services.hpp>

#include <support/catch.hpp>

#include "s3_ask.hpp"

namespace key_services_test {

using s3_test::body_of;
using s3_test::element_of;
using s3_test::outcome;
using s3_test::s3_service;

namespace {

const emulator::header_view a_form{"Content-Type", "application/x-www-form-urlencoded"};

std::string text(const emulator::http_reply& reply, std::string_view name) {
  const auto json = emulator::parse_json(body_of(reply));
  return json ? json->text(name).value_or("none") : "no JSON";
}

}  // namespace

TEST_CASE("key_services: an instance wants a session before anything else", "[emulator]") {
  s3_service s3;
  const std::string roles = "/latest/meta-data/iam/security-credentials/";
  CHECK(s3.get(roles).status == 401);
  CHECK(s3.put("/latest/api/token").status == 400);
  CHECK(s3.put("/latest/api/token", "", {{"x-aws-ec2-metadata-token-ttl-seconds", "0"}}).status ==
        400);
  CHECK(
      s3.put("/latest/api/token", "", {{"x-aws-ec2-metadata-token-ttl-seconds", "21601"}}).status ==
      400);
  const std::string session =
      body_of(s3.put("/latest/api/token", "", {{"x-aws-ec2-metadata-token-ttl-seconds", "60"}}));
  const auto get = [&](const std::string& path) {
    return s3.get(path, {{"x-aws-ec2-metadata-token", session}});
  };
  CHECK(body_of(get(roles)) == "emulator-role");
  CHECK(body_of(get("/latest/meta-data/placement/region")) == "us-east-1");
  CHECK(get(roles + "other").status == 404);
  const auto keys = get(roles + "emulator-role");
  CHECK(text(keys, "Code") == "Success");
  CHECK(s3.service().keys().find(text(keys, "AccessKeyId"))->secret ==
        text(keys, "SecretAccessKey"));
  CHECK(s3.get(roles, {{"x-aws-ec2-metadata-token", "x"}}).status == 401);
  s3.service().faults().add({.verb = "buckets.list", .action = emulator::fault::expire_tokens{}});
  s3.get("/");
  CHECK(get(roles).status == 401);
  s3_service old({.metadata_v1 = true});
  CHECK(old.get(roles).status == 200);
}

TEST_CASE("key_services: a pod needs its token, a container none", "[emulator]") {
  s3_service s3;
  CHECK(text(s3.get("/v2/credentials"), "Code") == "Success");
  CHECK(s3.get("/v1/credentials").status == 401);
  CHECK(s3.get("/v1/credentials", {{"Authorization", "emulator-pod-token"}}).status == 200);
}

TEST_CASE("key_services: a login, whose refresh token is good once", "[emulator]") {
  s3_service s3;
  const auto keys = [&](const std::string& token, const std::string& account = "123456789012") {
    return s3
        .get("/federation/credentials?role_name=r&account_id=" + account,
             {{"x-amz-sso_bearer_token", token}})
        .status;
  };
  CHECK(keys("emulator-login-token") == 200);
  CHECK(keys("emulator-login-token", "1") == 403);
  CHECK(keys("x") == 401);
  const auto renew = [&](const std::string& token) {
    return s3.post("/token", R"({"grantType":"refresh_token","clientId":"emulator-client",)"
                             R"("clientSecret":"s","refreshToken":")" +
                                 token + "\"}");
  };
  const auto fresh = renew("emulator-refresh-token");
  CHECK(fresh.status == 200);
  CHECK(renew("emulator-refresh-token").status == 400);
  CHECK(keys("emulator-login-token") == 401);
  CHECK(keys(text(fresh, "accessToken")) == 200);
  CHECK(renew(text(fresh, "refreshToken")).status == 200);
  CHECK(s3.post("/token", "x").status == 400);
}

TEST_CASE("key_services: STS takes no unsigned AssumeRole and no broken form", "[emulator]") {
  s3_service s3;
  const auto call = [&](const std::string& form) {
    return outcome(s3.post("/", "Version=2011-06-15&" + form, {a_form}));
  };
  const std::string role = "RoleArn=arn:aws:iam::1:role/r&RoleSessionName=s1";
  CHECK(call("Action=AssumeRole&" + role) == "403 MissingAuthenticationToken");
  const std::string web = "Action=AssumeRoleWithWebIdentity&WebIdentityToken=";
  CHECK(call(web + "emulator.web.identity&" + role) == "200 ");
  CHECK(call(web + "x&" + role) == "400 InvalidIdentityToken");
  CHECK(call(web + "x&RoleArn=r&RoleSessionName=s1") == "400 ValidationError");
  CHECK(call(web + "x&RoleArn=arn:aws:iam::1:role/r&RoleSessionName=a%20b") ==
        "400 ValidationError");
  CHECK(call(web + "x&DurationSeconds=1&" + role) == "400 ValidationError");
  CHECK(outcome(s3.post("/", "Action=AssumeRole", {a_form})) == "400 InvalidAction");
  const auto refused = s3.post("/", "Version=2011-06-15&Action=AssumeRole", {a_form});
  CHECK(body_of(refused).starts_with(
      "<ErrorResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><Error><Type>Sender"));
}

TEST_CASE("key_services: buckets keep their own names in hosts", "[emulator]") {
  s3_service s3;
  CHECK(s3.put("/latest/api/token", "x", {{"Host", "bucket.localhost"}}).status == 200);
  CHECK(body_of(s3.get("/latest/api/token", {{"Host", "bucket.localhost"}})) == "x");
}

}  // namespace key_services_test
