#include <dataflux/auth/detail/aws_sources.hpp>
#include <dataflux/codec/detail/json.hpp>

#include <support/catch.hpp>

#include "scripted_environment.hpp"
#include "test_key.hpp"

namespace aws_sso_test {

using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;
namespace http = dataflux::detail::http;
using dataflux::access_keys;
using dataflux::errc;
using dataflux::error;

namespace {

const std::string path = "/h/.aws/sso/cache/x.json";
const std::string keys_json =
    R"({"roleCredentials":{"accessKeyId":"A","secretAccessKey":"S","sessionToken":"T",)"
    R"("expiration":1767326645000}})";

struct world {
  explicit world(const std::string& expires, bool renewable = true) {
    machine.files[path] =
        R"({"startUrl":"https://s","region":"r","accessToken":"LOGIN","expiresAt":")" + expires +
        "\"" +
        (renewable ? R"(,"refreshToken":"RENEW","clientId":"ID","clientSecret":"CLIENT",)"
                     R"("registrationExpiresAt":"2026-03-01T00:00:00Z")"
                   : "") +
        "}";
  }
  void begin() {
    flow = credentials->start();
    go({});
  }
  world& go(auth::flow_event event) {
    step = flow->resume(std::move(event), {test::some_time(), 0.5});
    for (;;) {
      if (auto* const block = std::get_if<auth::blocking_step>(&step)) {
        step = flow->resume(block->work(), {test::some_time(), 0.5});
      } else if (std::holds_alternative<auth::wait_step>(step)) {
        step = flow->resume({}, {test::some_time(), 0.5});
      } else {
        return *this;
      }
    }
  }
  std::string target() const {
    if (const auto* send = std::get_if<auth::http_step>(&step)) {
      return send->request.origin->host + send->request.target;
    }
    if (const auto* e = std::get_if<error>(&step)) return "error: " + e->message();
    return "keys of " + std::get<access_keys>(step).id;
  }
  std::string bearer() const {
    return std::string{std::get<auth::http_step>(step)
                           .request.headers.find("x-amz-sso_bearer_token")
                           .value_or("none")};
  }

  test::scripted_environment machine{};
  dataflux::credentials_ptr credentials =
      auth::make_sso_keys({.kind = "aws_sso"},
                          {.cache_file = path,
                           .account = "12",
                           .role = "a role",
                           .portal = http::parse_url("https://portal.sso.r.amazonaws.com").value(),
                           .oidc = http::parse_url("https://oidc.r.amazonaws.com").value(),
                           .advice = "run 'aws sso login'"},
                          machine);
  std::unique_ptr<auth::token_flow> flow{};
  auth::flow_step step{access_keys{}};
};

const std::string keys_page =
    "portal.sso.r.amazonaws.com/federation/credentials?role_name=a%20role&account_id=12";
const std::string over = "error: aws_sso credentials: the login has expired; run 'aws sso login'";

}  // namespace

TEST_CASE("aws_sso: keys for the token of the login", "[auth]") {
  world w("2026-01-02T10:00:00Z");
  w.begin();
  CHECK(w.target() == keys_page);
  CHECK(w.bearer() == "LOGIN");
  w.go(test::reply(200, keys_json));
  CHECK(w.target() == "keys of A");
  CHECK(std::get<access_keys>(w.step).expires == test::some_time() + 1h);
  CHECK(auth::sha1_hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
}

TEST_CASE("aws_sso: a login whose end is near is renewed, and its file replaced", "[auth]") {
  world w("2026-01-02T03:10:00Z");
  w.begin();
  CHECK(w.target() == "oidc.r.amazonaws.com/token");
  const auto& sent = std::get<auth::http_step>(w.step);
  CHECK(sent.body == R"({"clientId":"ID","clientSecret":"CLIENT","grantType":"refresh_token",)"
                     R"("refreshToken":"RENEW"})");
  CHECK_FALSE(sent.idempotent);
  w.go(test::reply(200, R"({"accessToken":"NEW","expiresIn":3600,"refreshToken":"RENEW2"})"));
  CHECK(w.target() == keys_page);
  CHECK(w.bearer() == "NEW");
  CHECK(w.machine.replaced[path] ==
        R"({"startUrl":"https://s","region":"r","accessToken":"NEW",)"
        R"("expiresAt":"2026-01-02T04:04:05Z","clientId":"ID","clientSecret":"CLIENT",)"
        R"("registrationExpiresAt":"2026-03-01T00:00:00Z","refreshToken":"RENEW2"})");
}

TEST_CASE("aws_sso: what cannot be renewed is used to its end", "[auth]") {
  for (const bool renewable : {true, false}) {
    world w("2026-01-02T03:10:00Z", renewable);
    w.begin();
    if (renewable) w.go(test::reply(400, R"({"error":"invalid_grant"})"));
    CHECK(w.target() == keys_page);
    CHECK(w.bearer() == "LOGIN");
    world ended("2026-01-02T03:00:00Z", renewable);
    ended.begin();
    if (renewable) ended.go(test::reply(400, ""));
    CHECK(ended.target() == over);
  }
}

TEST_CASE("aws_sso: each failure says what to run", "[auth]") {
  world w("2026-01-02T10:00:00Z");
  w.begin();
  CHECK(w.go(test::reply(401, "")).target() == over);
  w.begin();
  CHECK(w.go(test::reply(403, "")).target() ==
        "error: aws_sso credentials: this login may not use role \"a role\" of account 12");
  w.begin();
  w.go(test::reply(500, "")).go(test::reply(429, ""));
  CHECK(w.target() == keys_page);
  for (const std::string bad : {"", "{}", "x", R"({"roleCredentials":{"accessKeyId":7}})"}) {
    w.begin();
    CHECK(w.go(test::reply(200, bad)).target().starts_with("error: aws_sso credentials: portal"));
  }
  for (const std::string bad :
       {"", "{}", R"({"accessToken":"a b","expiresAt":"2027-01-01T00:00:00Z"})",
        R"({"accessToken":"LOGIN","expiresAt":"soon"})"}) {
    w.machine.files[path] = bad;
    w.begin();
    CHECK(w.target().ends_with("; run 'aws sso login'"));
    CHECK(w.target().find("LOGIN") == std::string::npos);
  }
  w.machine.files.clear();
  w.begin();
  CHECK(w.target() == "error: aws_sso credentials: no login: " + path +
                          ": No such file or directory; run 'aws sso login'");
}

}  // namespace aws_sso_test
