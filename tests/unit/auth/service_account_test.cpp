#include <dataflux/auth/detail/service_account.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/percent.hpp>

#include <support/catch.hpp>

#include "test_key.hpp"

namespace service_account_test {

using dataflux::errc;
using dataflux::error;
using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;
namespace codec = dataflux::detail::codec;

namespace {

dataflux::credentials_ptr parse(const std::string& json,
                                auth::service_account_options options = {}) {
  return auth::parse_service_account(json, "/k.json", options).value();
}

error refused(const std::string& json, auth::service_account_options options = {}) {
  auto credentials = auth::parse_service_account(json, "/k.json", options);
  REQUIRE_FALSE(credentials);
  return credentials.error();
}

std::string text_of(std::string_view json, std::string_view key) {
  auto document = codec::json_document::parse(dataflux::as_bytes(json)).value();
  return document.root().find(key).to_string();
}

const auth::service_account_options exchanging{.exchange = true};

}  // namespace

TEST_CASE("service_account: the self-signed token has exactly the claims that it needs", "[auth]") {
  auto credentials = parse(test::to_json(test::service_account_file()));
  CHECK(credentials->facts().kind == "service_account");
  CHECK(credentials->facts().project == "my-project");
  CHECK(credentials->facts().describe() == "service_account credentials from /k.json");
  CHECK_FALSE(credentials->anonymous());

  auto flow = credentials->start();
  const auto step = flow->resume({}, {test::some_time() + 700ms, 0});
  const auto* token = std::get_if<dataflux::access_token>(&step);
  REQUIRE(token != nullptr);
  CHECK(token->expires == test::some_time() + 3590s);
  const auto jwt = test::verify_jwt(token->value);
  REQUIRE(jwt);
  CHECK(jwt->header == R"({"alg":"RS256","typ":"JWT","kid":"key-1"})");
  CHECK(jwt->claims == R"({"iss":"robot@my-project.iam.gserviceaccount.com",)"
                       R"("sub":"robot@my-project.iam.gserviceaccount.com",)"
                       R"("scope":"https://www.googleapis.com/auth/devstorage.read_write",)"
                       R"("iat":1767323035,"exp":1767326635})");
}

TEST_CASE("service_account: without scopes the token names its audience", "[auth]") {
  auto credentials = parse(test::to_json(test::service_account_file()), {.scopes = ""});
  auto flow = credentials->start();
  const auto step = flow->resume({}, {test::some_time(), 0});
  const auto jwt = test::verify_jwt(std::get<dataflux::access_token>(step).value);
  REQUIRE(jwt);
  CHECK(text_of(jwt->claims, "aud") == "https://storage.googleapis.com/");
  CHECK(text_of(jwt->claims, "scope").empty());
}

TEST_CASE("service_account: the exchanged form posts a signed assertion", "[auth]") {
  auto credentials = parse(test::to_json(test::service_account_file()), exchanging);
  auto flow = credentials->start();
  auto step = flow->resume({}, {test::some_time(), 0});
  const auto* send = std::get_if<auth::http_step>(&step);
  REQUIRE(send != nullptr);
  CHECK(send->request.method == dataflux::detail::http::method::post);
  CHECK(send->request.origin->to_string() == "https://oauth2.googleapis.com:443");
  CHECK(send->request.target == "/token");
  CHECK(send->request.headers.find("content-type") == "application/x-www-form-urlencoded");
  CHECK(send->idempotent);
  const std::string head =
      "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";
  REQUIRE(send->body.starts_with(head));
  const auto jwt = test::verify_jwt(send->body.substr(head.size()));
  REQUIRE(jwt);
  CHECK(jwt->claims ==
        R"({"iss":"robot@my-project.iam.gserviceaccount.com",)"
        R"("scope":"https://www.googleapis.com/auth/devstorage.read_write",)"
        R"("aud":"https://oauth2.googleapis.com/token","iat":1767323035,"exp":1767326635})");

  step = flow->resume(test::reply(200, R"({"access_token":"ya29.x","expires_in":"3599"})"),
                      {test::some_time() + 1s, 0});
  const auto* token = std::get_if<dataflux::access_token>(&step);
  REQUIRE(token != nullptr);
  CHECK(token->value == "ya29.x");
  CHECK(token->expires == test::some_time() + 3600s);
}

TEST_CASE("service_account: a busy token endpoint is asked three times", "[auth]") {
  auto credentials = parse(test::to_json(test::service_account_file()), exchanging);
  const std::string server_error = R"({"error":"server_error"})";
  struct trouble {
    auth::flow_event event;
    errc code;
  };
  const auto make = [&](int which) -> trouble {
    if (which == 0) return {test::reply(503, ""), errc::unavailable};
    if (which == 1) return {test::reply(429, "<html>"), errc::resource_exhausted};
    if (which == 2) return {test::reply(400, server_error), errc::unavailable};
    error reset{errc::unavailable, "reset"};
    return {dataflux::result<auth::http_reply>{reset.with_retryable(true)}, errc::unavailable};
  };
  for (int which = 0; which < 4; ++which) {
    auto flow = credentials->start();
    REQUIRE(std::holds_alternative<auth::http_step>(flow->resume({}, {test::some_time(), 0})));
    auto step = flow->resume(make(which).event, {test::some_time(), 0});
    REQUIRE(std::holds_alternative<auth::wait_step>(step));
    CHECK(std::get<auth::wait_step>(step).wait == 900ms);
    REQUIRE(std::holds_alternative<auth::http_step>(flow->resume({}, {test::some_time(), 0})));
    step = flow->resume(make(which).event, {test::some_time(), 0.5});
    REQUIRE(std::holds_alternative<auth::wait_step>(step));
    CHECK(std::get<auth::wait_step>(step).wait == 2s);
    REQUIRE(std::holds_alternative<auth::http_step>(flow->resume({}, {test::some_time(), 0})));
    step = flow->resume(make(which).event, {test::some_time(), 0});
    REQUIRE(std::holds_alternative<error>(step));
    CHECK(std::get<error>(step).code() == make(which).code);
    CHECK(std::get<error>(step).retryable());
    CHECK(std::get<error>(step).attempts() == 3);
  }
}

TEST_CASE("service_account: a refused assertion ends at once with what to do", "[auth]") {
  auto credentials = parse(test::to_json(test::service_account_file()), exchanging);
  auto flow = credentials->start();
  REQUIRE(std::holds_alternative<auth::http_step>(flow->resume({}, {test::some_time(), 0})));
  auto step = flow->resume(
      test::reply(400, R"({"error":"invalid_grant","error_description":"Invalid JWT Signature."})"),
      {test::some_time(), 0});
  REQUIRE(std::holds_alternative<error>(step));
  const error& e = std::get<error>(step);
  CHECK(e.code() == errc::unauthenticated);
  CHECK(e.reason() == "invalid_grant");
  CHECK(e.http_status() == 400);
  CHECK_FALSE(e.retryable());
  CHECK(
      e.message() ==
      "service_account credentials from /k.json: refused by oauth2.googleapis.com: invalid_grant: "
      "Invalid JWT Signature.; the key may have been deleted, or this machine's clock may be "
      "wrong");
}

TEST_CASE("service_account: a reply without a usable token is an error", "[auth]") {
  const auto reject = [](std::string body) {
    auto credentials = parse(test::to_json(test::service_account_file()), exchanging);
    auto flow = credentials->start();
    static_cast<void>(flow->resume({}, {test::some_time(), 0}));
    auto step = flow->resume(test::reply(200, std::move(body)), {test::some_time(), 0});
    return std::holds_alternative<error>(step) ? std::get<error>(step).message() : "accepted";
  };
  const std::string whose = "service_account credentials from /k.json: the reply with the token ";
  CHECK(reject("") == whose + "is not valid JSON");
  CHECK(reject("[]") == whose + "has no usable \"access_token\"");
  CHECK(reject(R"({"expires_in":1})") == whose + "has no usable \"access_token\"");
  CHECK(reject(R"({"access_token":"","expires_in":1})") ==
        whose + "has no usable \"access_token\"");
  CHECK(reject(R"({"access_token":7,"expires_in":1})") == whose + "has no usable \"access_token\"");
  CHECK(reject(R"({"access_token":"a\r\nX: y","expires_in":1})") ==
        whose + "has no usable \"access_token\"");
  for (const std::string expiry : {"0", "-5", "\"soon\"", "9223372036854775807", "null", "1.5"}) {
    CHECK(reject(R"({"access_token":"a","expires_in":)" + expiry + "}") ==
          whose + "has no usable \"expires_in\"");
  }
  CHECK(reject(R"({"access_token":"a"})") == whose + "has no usable \"expires_in\"");
}

TEST_CASE("service_account: every field is checked and named", "[auth]") {
  const auto file = test::service_account_file();
  for (const std::string name : {"type", "client_email", "private_key", "private_key_id"}) {
    for (const std::string value : {"", "null", "\"\""}) {
      const error e = refused(test::with(file, name, value));
      CHECK(e.code() == errc::invalid_argument);
      CHECK(e.message() == "credentials file /k.json: field \"" + name + "\" is missing or empty");
    }
  }
  for (const auto& [name, value] : file) {
    if (name == "client_id") continue;  // nothing needs it
    CHECK(refused(test::with(file, name, "17")).message() ==
          "credentials file /k.json: field \"" + name + "\" is no string");
  }
  CHECK(refused(test::with(file, "quota_project_id", "[]")).message() ==
        "credentials file /k.json: field \"quota_project_id\" is no string");
  CHECK(refused(test::with(file, "type", "\"authorized_user\"")).message() ==
        "credentials file /k.json: field \"type\" is not \"service_account\"");
  CHECK(refused("[1]").message() == "credentials file /k.json: it is not a JSON object");
  CHECK(refused("{").message() == "credentials file /k.json: it is not valid JSON");
  CHECK(refused(test::with(file, "private_key", test::json_quoted("SECRET"))).message() ==
        "credentials file /k.json: field \"private_key\": the private key is not a readable, "
        "unencrypted PEM key");
}

TEST_CASE("service_account: a token_uri that would leak the assertion is refused", "[auth]") {
  const auto file = test::service_account_file();
  for (const std::string uri : {"http://oauth2.googleapis.com/token", "http://127.evil.example/t",
                                "http://localhost.evil.example/t"}) {
    CHECK(refused(test::with(file, "token_uri", test::json_quoted(uri))).message() ==
          "credentials file /k.json: field \"token_uri\" must be an https URL: secrets are sent to "
          "it");
  }
  CHECK(refused(test::with(file, "token_uri", test::json_quoted("ftp://x"))).message() ==
        "credentials file /k.json: field \"token_uri\" is no URL");
  for (const std::string uri : {"http://127.0.0.1:9/token", "http://localhost:9/", "http://[::1]/",
                                "https://sts.googleapis.com/token"}) {
    CHECK(auth::parse_service_account(test::with(file, "token_uri", test::json_quoted(uri)), ""));
  }
}

TEST_CASE("service_account: another universe works self-signed only", "[auth]") {
  const std::string other =
      test::with(test::service_account_file(), "universe_domain", "\"tpc.example\"");
  CHECK(parse(other)->facts().universe_domain == "tpc.example");
  CHECK(refused(other, exchanging).code() == errc::invalid_argument);
  CHECK(refused(test::with(test::service_account_file(), "universe_domain", "\"a b\"")).message() ==
        "credentials file /k.json: field \"universe_domain\" is no domain name");
}

TEST_CASE("service_account: the caller's quota project goes before the file's", "[auth]") {
  const std::string json =
      test::with(test::service_account_file(), "quota_project_id", "\"from-file\"");
  CHECK(parse(json)->facts().quota_project == "from-file");
  CHECK(parse(json, {.quota_project = "mine"})->facts().quota_project == "mine");
}

}  // namespace service_account_test
