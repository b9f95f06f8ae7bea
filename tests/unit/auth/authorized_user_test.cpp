#include <dataflux/auth/detail/authorized_user.hpp>

#include <support/catch.hpp>

#include "test_key.hpp"

namespace authorized_user_test {

using dataflux::errc;
using dataflux::error;
using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;

namespace {

error refused(const std::string& json) {
  auto credentials = auth::parse_authorized_user(json, "/adc.json");
  REQUIRE_FALSE(credentials);
  return credentials.error();
}

}  // namespace

TEST_CASE("authorized_user: posts the refresh token as a form", "[auth]") {
  auto credentials =
      auth::parse_authorized_user(test::to_json(test::authorized_user_file()), "/adc.json").value();
  CHECK(credentials->facts().quota_project == "billed-project");
  auto flow = credentials->start();
  auto step = flow->resume({}, {test::some_time(), 0});
  REQUIRE(std::holds_alternative<auth::http_step>(step));
  const auto& send = std::get<auth::http_step>(step);
  CHECK(send.request.origin->to_string() == "https://oauth2.googleapis.com:443");
  CHECK(send.request.target == "/token");
  CHECK(send.body ==
        "grant_type=refresh_token&client_id=client.apps&client_secret=SECRET%2Fclient%2B1"
        "&refresh_token=1%2F%2FSECRET-refresh");
  step = flow->resume(test::reply(200, R"({"access_token":"ya29.y","expires_in":3599})"),
                      {test::some_time(), 0});
  REQUIRE(std::holds_alternative<dataflux::access_token>(step));
  CHECK(std::get<dataflux::access_token>(step).value == "ya29.y");
  CHECK(std::get<dataflux::access_token>(step).expires == test::some_time() + 3599s);
}

TEST_CASE("authorized_user: a dead login says how to log in again", "[auth]") {
  auto credentials =
      auth::parse_authorized_user(test::to_json(test::authorized_user_file()), "/adc.json").value();
  auto flow = credentials->start();
  static_cast<void>(flow->resume({}, {test::some_time(), 0}));
  auto step = flow->resume(
      test::reply(400, R"x({"error":"invalid_grant","error_description":"Token was revoked."})x"),
      {test::some_time(), 0});
  REQUIRE(std::holds_alternative<error>(step));
  CHECK(std::get<error>(step).code() == errc::unauthenticated);
  CHECK(std::get<error>(step).message() ==
        "authorized_user credentials from /adc.json: refused by oauth2.googleapis.com: "
        "invalid_grant: Token was revoked.; the login has expired or was revoked: run 'gcloud auth "
        "application-default login'");
}

TEST_CASE("authorized_user: that people must log in again is told as such", "[auth]") {
  for (const std::string subtype : {"invalid_rapt", "rapt_required"}) {
    auto credentials =
        auth::parse_authorized_user(test::to_json(test::authorized_user_file()), "/adc.json")
            .value();
    auto flow = credentials->start();
    static_cast<void>(flow->resume({}, {test::some_time(), 0}));
    auto step =
        flow->resume(test::reply(400, R"x({"error":"invalid_grant","error_subtype":")x" + subtype +
                                          R"x(","error_description":"reauth related error"})x"),
                     {test::some_time(), 0});
    REQUIRE(std::holds_alternative<error>(step));
    CHECK(std::get<error>(step).reason() == subtype);
    CHECK(std::get<error>(step).message() ==
          "authorized_user credentials from /adc.json: refused by oauth2.googleapis.com: "
          "invalid_grant: reauth related error; the organization asks people to log in again from "
          "time to time, so run 'gcloud auth application-default login'; jobs that run longer need "
          "a service account or workload identity");
  }
}

TEST_CASE("authorized_user: every field is checked and named", "[auth]") {
  const auto file = test::authorized_user_file();
  for (const std::string name : {"client_id", "client_secret", "refresh_token"}) {
    CHECK(refused(test::with(file, name, "")).message() ==
          "credentials file /adc.json: field \"" + name + "\" is missing or empty");
    CHECK(refused(test::with(file, name, "{}")).message() ==
          "credentials file /adc.json: field \"" + name + "\" is no string");
  }
  CHECK(refused(test::with(file, "universe_domain", "\"tpc.example\"")).code() ==
        errc::invalid_argument);
  CHECK(refused(test::with(file, "token_uri", "\"http://x.example/\"")).code() ==
        errc::invalid_argument);
}

}  // namespace authorized_user_test
