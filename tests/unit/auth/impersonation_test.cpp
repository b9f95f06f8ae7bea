#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/signing_identity.hpp>
#include <dataflux/auth/detail/token_exchange.hpp>

#include <support/catch.hpp>

#include "flow_play.hpp"
#include "scripted_environment.hpp"
#include "test_key.hpp"

namespace impersonation_test {

using dataflux::errc;
using dataflux::error;
using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;

namespace {

const std::string iam_reply = R"({"accessToken":"ya29.t","expireTime":"2026-01-02T04:04:05Z"})";

struct fixture {
  test::scripted_environment machine{"/home/u"};
  dataflux::adc_options options{};

  dataflux::result<dataflux::credentials_ptr> load(const std::string& json) {
    machine.files["/f"] = json;
    return dataflux::load_credentials_file("/f", options, machine);
  }
};

}  // namespace

TEST_CASE("impersonated_service_account: over each kind that may act", "[auth]") {
  fixture f;
  f.machine.files["/token"] = "S1";
  const auto over = [&f](const test::fields& source, std::vector<test::flow_play::answer> answers) {
    auto fields = test::impersonated_file(source);
    fields[1].second = R"(["projects/-/serviceAccounts/d@p.iam.gserviceaccount.com"])";
    fields.emplace_back("service_account_impersonation", R"({"token_lifetime_seconds":"900"})");
    const auto credentials = f.load(test::to_json(fields)).value();
    CHECK(credentials->facts().kind == "impersonated_service_account");
    CHECK(credentials->signs_as().account == "target@p.iam.gserviceaccount.com");
    CHECK(credentials->signs_as().key == nullptr);
    answers.push_back(test::says(200, iam_reply));
    test::flow_play play(std::move(answers));
    CHECK(test::told(play(*credentials)) == "ya29.t");
    const auto& last = play.sent.back();
    CHECK(play.where(play.sent.size() - 1) ==
          "https://iamcredentials.googleapis.com:443/v1/projects/-/serviceAccounts/"
          "target@p.iam.gserviceaccount.com:generateAccessToken");
    CHECK(last.body == R"({"delegates":["projects/-/serviceAccounts/d@p.iam.gserviceaccount.com"],)"
                       R"("scope":["https://www.googleapis.com/auth/devstorage.read_write"],)"
                       R"("lifetime":"900s"})");
    return std::string{last.request.headers.find("Authorization").value_or("")};
  };
  const std::string token = R"({"access_token":"ya29.s","expires_in":3599})";
  CHECK(over(test::authorized_user_file(), {test::says(200, token)}) == "Bearer ya29.s");
  CHECK(over(test::external_account_file(), {test::says(200, token)}) == "Bearer ya29.s");
  CHECK(over(test::external_user_file(), {test::says(200, token)}) == "Bearer ya29.s");
  const std::string jwt = over(test::service_account_file(), {});
  const auto verified = test::verify_jwt(jwt.substr(7));
  REQUIRE(verified);
  CHECK(verified->claims.find(R"("scope":"https://www.googleapis.com/auth/cloud-platform")") !=
        std::string::npos);
}

TEST_CASE("impersonated_service_account: a refusal says what is missing, and shows no token",
          "[auth]") {
  fixture f;
  const auto credentials =
      f.load(test::to_json(test::impersonated_file(test::authorized_user_file()))).value();
  const std::string token = R"({"access_token":"ya29.SECRET","expires_in":3599})";
  test::flow_play denied(
      {test::says(200, token),
       test::says(403, R"({"error":{"code":403,"message":"Permission denied for ya29.SECRET",)"
                       R"("status":"PERMISSION_DENIED"}})")});
  const auto step = denied(*credentials);
  const error& e = std::get<error>(step);
  CHECK(e.code() == errc::unauthenticated);
  CHECK(e.reason() == "PERMISSION_DENIED");
  CHECK(e.http_status() == 403);
  CHECK(e.message() ==
        "impersonated_service_account credentials from /f: refused by "
        "iamcredentials.googleapis.com: PERMISSION_DENIED; the account must exist, and whoever "
        "acts for it, or the last of the delegates, needs the role "
        "roles/iam.serviceAccountTokenCreator on it");
  // The token of the source is asked for once, whatever IAM needs.
  test::flow_play busy({test::says(200, token), test::says(503, ""), test::says(503, ""),
                        test::says(200, iam_reply)});
  CHECK(test::told(busy(*credentials)) == "ya29.t");
  CHECK(busy.sent.size() == 4);
  test::flow_play moved({test::says(200, token), test::says(302, "")});
  const auto away = moved(*credentials);
  CHECK(std::get<error>(away).message().find("no secret follows it elsewhere") !=
        std::string::npos);
  CHECK(moved.sent.size() == 2);
}

TEST_CASE("impersonated_service_account: replies of IAM, good and bad", "[auth]") {
  const dataflux::credentials_facts facts{.kind = "x"};
  const auto read = [&facts](std::string body, std::string date = {}) {
    auth::http_reply reply{.status = 200, .headers = {}, .body = std::move(body)};
    if (!date.empty()) reply.headers.add("Date", date);
    return auth::read_impersonated_token(reply, test::some_time(), facts);
  };
  CHECK(read(iam_reply).value().expires == test::some_time() + 1h);
  // This machine's clock is an hour behind the server's.
  CHECK(read(iam_reply, "Fri, 02 Jan 2026 04:00:05 GMT").value().expires ==
        test::some_time() + 4min);
  for (const std::string bad :
       {"", "{", "[]", "{}", R"({"accessToken":"a b","expireTime":"2026-01-02T04:04:05Z"})",
        R"({"accessToken":"","expireTime":"2026-01-02T04:04:05Z"})", R"({"accessToken":"a"})",
        R"({"accessToken":"a","expireTime":"soon"})", R"({"accessToken":"a","expireTime":3600})",
        R"({"accessToken":"a","expireTime":"2026-01-02T03:04:05Z"})",
        R"({"accessToken":"a","expireTime":"9999-01-02T03:04:05Z"})"}) {
    INFO(bad);
    CHECK(read(bad).error().code() == errc::internal);
  }
}

TEST_CASE("impersonated_service_account: every field is checked and named", "[auth]") {
  fixture f;
  const auto file = test::impersonated_file(test::authorized_user_file());
  const auto refused = [&](std::string_view name, const std::string& value) {
    auto loaded = f.load(test::with(file, name, value));
    REQUIRE_FALSE(loaded);
    return loaded.error();
  };
  for (const std::string name : {"service_account_impersonation_url", "source_credentials"}) {
    CHECK(refused(name, "").message() ==
          "credentials file /f: field \"" + name + "\" is missing or empty");
  }
  for (const std::string delegates : {"7", "{}", "[7]", "[\"\"]", "\"x\""}) {
    CHECK(refused("delegates", delegates).code() == errc::invalid_argument);
  }
  CHECK(refused("service_account_impersonation", R"({"token_lifetime_seconds":43201})").message() ==
        "credentials file /f: field \"service_account_impersonation.token_lifetime_seconds\" is no "
        "number from 1 to 43200");
  CHECK(refused("source_credentials", test::to_json(file)).message() ==
        "credentials file /f: field \"source_credentials.type\" is no kind that may act for an "
        "account");
  CHECK(refused("source_credentials", R"({"type":"authorized_user"})").message() ==
        "credentials file /f: field \"source_credentials.client_id\" is missing or empty");
  // A kind in the file is one that the caller must accept, too.
  f.options.allowed_kinds = {"impersonated_service_account"};
  CHECK(f.load(test::to_json(file)).error().message().find("\"authorized_user\" are not among") !=
        std::string::npos);
  f.options.allowed_kinds.emplace_back("authorized_user");
  CHECK(f.load(test::to_json(file)));
}

}  // namespace impersonation_test
