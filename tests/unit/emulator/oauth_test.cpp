#include <emulator/digest.hpp>
#include <emulator/oauth.hpp>
#include <support/catch.hpp>

#include <ctime>

#include "ask.hpp"

namespace oauth_test {

using namespace emulator_test;
using emulator::service;
using emulator::service_options;

namespace {

constexpr std::string_view email = "emulator@example.iam.gserviceaccount.com";

std::string claims(std::int64_t lifetime, const std::string& more) {
  const auto now = static_cast<std::int64_t>(std::time(nullptr));
  return R"({"iss":")" + std::string{email} + R"(","iat":)" + std::to_string(now) + R"(,"exp":)" +
         std::to_string(now + lifetime) + more + "}";
}

std::string jwt(const emulator::signing_key& key, const std::string& payload,
                const std::string& header = R"({"alg":"RS256","typ":"JWT"})") {
  const std::string text =
      emulator::base64url_encode(header) + "." + emulator::base64url_encode(payload);
  return text + "." + emulator::base64url_encode(key.sign(text));
}

emulator::http_reply exchange_token(service& s, const std::string& assertion) {
  return ask(
      s, {.method = "POST",
          .target = "/token",
          .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
          .body = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=" +
                  assertion});
}

int status_with(service& s, const std::string& bearer) {
  const std::string value = "Bearer " + bearer;
  return ask(s, {.target = "/storage/v1/b/bucket/o", .headers = {{"Authorization", value}}}).status;
}

}  // namespace

TEST_CASE("oauth: a signed assertion becomes a token that calls accept", "[emulator]") {
  service s{service_options{.require_token = true, .token_lifetime = std::chrono::seconds{77}}};
  s.store().create_bucket("bucket");
  const auto& key = s.tokens().key();
  const std::string scope = R"(,"scope":"https://www.googleapis.com/auth/devstorage.read_only")";
  const std::string google = R"(,"aud":"https://oauth2.googleapis.com/token")";
  const auto granted = exchange_token(s, jwt(key, claims(3600, scope + google)));
  REQUIRE(granted.status == 200);
  CHECK(json_of(granted).integer("expires_in") == 77);
  CHECK(json_of(granted).text("token_type") == "Bearer");
  const std::string token = json_of(granted).text("access_token").value();
  CHECK(status_with(s, token) == 200);
  s.tokens().revoke_all();
  CHECK(status_with(s, token) == 401);
  CHECK(exchange_token(s, jwt(key, claims(3600, scope + R"(,"aud":"http://127.0.0.1:1/token")")))
            .status == 200);
}

TEST_CASE("oauth: bad assertions are refused with invalid_grant", "[emulator]") {
  service s{{}};
  const auto& key = s.tokens().key();
  const std::string good = R"(,"scope":"x","aud":"https://oauth2.googleapis.com/token")";
  const std::string fine = jwt(key, claims(3600, good));
  REQUIRE(exchange_token(s, fine).status == 200);
  const auto refused = [&s](const std::string& assertion) {
    const auto reply = exchange_token(s, assertion);
    CHECK(reply.status == 400);
    CHECK(json_of(reply).text("error") == "invalid_grant");
  };
  const emulator::signing_key stranger;
  refused(jwt(stranger, claims(3600, good)));
  refused(fine.substr(0, fine.size() - 8));
  refused(jwt(key, claims(-1, good)));
  refused(jwt(key, claims(7200, good)));
  refused(jwt(key, claims(3600, R"(,"scope":"x","aud":"https://elsewhere.example/token")")));
  refused(jwt(key, claims(3600, R"(,"aud":"https://oauth2.googleapis.com/token")")));
  refused(jwt(key, claims(3600, good), R"({"alg":"none"})"));
  refused(jwt(key, claims(3600, good), R"({"alg":"RS256","kid":"other"})"));
  refused(jwt(key, R"({"iss":"other@example.com"})"));
  refused("");
  refused("a.b");
  refused("!.!.!");
}

TEST_CASE("oauth: a self-signed JWT is a bearer token", "[emulator]") {
  service s{service_options{.require_token = true}};
  s.store().create_bucket("bucket");
  const auto& key = s.tokens().key();
  const std::string sub = R"(,"sub":")" + std::string{email} + R"(")";
  const std::string audience = R"(,"aud":"https://storage.googleapis.com/")";
  CHECK(status_with(s, jwt(key, claims(3600, sub + R"(,"scope":"a b")"))) == 200);
  CHECK(status_with(s, jwt(key, claims(3600, sub + audience))) == 200);
  CHECK(status_with(s, jwt(key, claims(3600, sub + audience + R"(,"scope":"a")"))) == 401);
  CHECK(status_with(s, jwt(key, claims(3600, sub))) == 401);
  CHECK(status_with(s, jwt(key, claims(3600, audience))) == 401);
  CHECK(status_with(s, jwt(emulator::signing_key{}, claims(3600, sub + audience))) == 401);
}

TEST_CASE("oauth: without a token 401 says how, in the form of the API", "[emulator]") {
  service s{service_options{.require_token = true}};
  s.store().create_bucket("bucket");
  const auto none = ask(s, {.target = "/storage/v1/b/bucket/o"});
  CHECK(none.status == 401);
  CHECK(reason_of(none) == "required");
  CHECK(none.header("WWW-Authenticate").starts_with("Bearer"));
  const auto bad = ask(
      s, {.target = "/storage/v1/b/bucket/o", .headers = {{"Authorization", "Bearer nonsense"}}});
  CHECK(reason_of(bad) == "authError");
  const auto xml =
      ask(s, {.target = "/bucket/x", .headers = {{"Authorization", "Bearer nonsense"}}});
  CHECK(xml.status == 401);
  CHECK(element_of(xml, "Code") == "AuthenticationRequired");
}

TEST_CASE("oauth: refresh tokens", "[emulator]") {
  service s{{}};
  const auto refresh = [&s](const std::string& body) {
    return ask(s, {.method = "POST",
                   .target = "/token",
                   .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
                   .body = body});
  };
  const std::string client =
      "grant_type=refresh_token&client_id=emulator-client&client_secret=emulator-secret";
  CHECK(refresh(client + "&refresh_token=emulator-refresh-token").status == 200);
  const auto wrong = refresh(client + "&refresh_token=old");
  CHECK(wrong.status == 400);
  CHECK(json_of(wrong).text("error") == "invalid_grant");
  CHECK(refresh("grant_type=refresh_token&client_id=x").status == 401);
  CHECK(json_of(refresh("grant_type=password")).text("error") == "unsupported_grant_type");
  CHECK(ask(s, {.method = "POST", .target = "/token", .body = client}).status == 400);
}

TEST_CASE("oauth: the metadata server needs its header", "[emulator]") {
  service s{service_options{.require_token = true}};
  s.store().create_bucket("bucket");
  const std::string base = "/computeMetadata/v1/instance/service-accounts/default/";
  const auto get = [&s](const std::string& target, bool flavored = true) {
    question q{.target = target};
    if (flavored) q.headers.push_back({"Metadata-Flavor", "Google"});
    return ask(s, q);
  };
  CHECK(get(base + "token", false).status == 403);
  const auto token = get(base + "token?scopes=a,b");
  CHECK(token.status == 200);
  CHECK(token.header("Metadata-Flavor") == "Google");
  CHECK(status_with(s, json_of(token).text("access_token").value()) == 200);
  CHECK(body_of(get(base + "email")) == email);
  CHECK(json_of(get(base + "?recursive=true")).text("email") == email);
  CHECK(get("/").status == 200);
  CHECK(body_of(get("/computeMetadata/v1/universe/universe-domain")) == "googleapis.com");
  CHECK(get("/computeMetadata/v1/other").status == 404);
}

TEST_CASE("oauth: key files hold what the clients read", "[emulator]") {
  service s{{}};
  const auto account =
      emulator::parse_json(s.tokens().service_account_json("http://127.0.0.1:1/token")).value();
  CHECK(account.text("type") == "service_account");
  CHECK(account.text("client_email") == email);
  CHECK(account.text("token_uri") == "http://127.0.0.1:1/token");
  CHECK(account.text("private_key")->starts_with("-----BEGIN PRIVATE KEY-----\n"));
  const auto user = emulator::parse_json(s.tokens().authorized_user_json()).value();
  CHECK(user.text("type") == "authorized_user");
  CHECK(user.text("refresh_token") == "emulator-refresh-token");
}

}  // namespace oauth_test
