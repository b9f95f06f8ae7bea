#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/authorized_user.hpp>
#include <dataflux/auth/detail/service_account.hpp>
#include <dataflux/codec/detail/base64.hpp>

#include <fuzz/credentials_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>

#include "flow_play.hpp"
#include "scripted_environment.hpp"
#include "test_key.hpp"

namespace secrets_test {

using dataflux::error;
namespace auth = dataflux::detail::auth;

namespace {

/// Collects what would be shown to a person, and fails on any part of a secret in it.
class listener {
 public:
  explicit listener(std::vector<std::string> secrets) : secrets_(std::move(secrets)) {}
  void hear(const error& e) {
    const std::string text = e.to_string() + e.message() + e.reason();
    ++heard_;
    for (const std::string& secret : secrets_) {
      INFO(text);
      CHECK(text.find(secret) == std::string::npos);
    }
  }
  int heard() const { return heard_; }

 private:
  std::vector<std::string> secrets_;
  int heard_{0};
};

void hear_files(listener& ears, const test::fields& file) {
  test::scripted_environment machine;
  machine.variables["GOOGLE_APPLICATION_CREDENTIALS"] = "/f";
  const auto load = [&](std::string json) {
    machine.files["/f"] = std::move(json);
    const auto outcome = dataflux::find_default_credentials({}, machine);
    if (!outcome) ears.hear(outcome.error());
  };
  for (const auto& [name, value] : file) {
    for (const std::string wrong : {"", "null", "7", "[]", "\"\"", "\"\\u0000\""}) {
      load(test::with(file, name, wrong));
    }
    // Every value in every other place.
    for (const auto& [other, unused] : file) load(test::with(file, other, value));
  }
  const std::string whole = test::to_json(file);
  for (std::size_t size = 0; size < whole.size(); size += 7) load(whole.substr(0, size));
}

void hear_replies(listener& ears, const dataflux::credentials& credentials,
                  const std::vector<std::string>& echoes) {
  for (const std::string& echo : echoes) {
    for (const int status : {200, 400, 401, 403, 404, 500, 503}) {
      for (const std::string& body : std::initializer_list<std::string>{
               echo, "{\"error\":" + test::json_quoted(echo) + "}",
               "{\"error\":\"invalid_grant\",\"error_description\":" +
                   test::json_quoted("you sent " + echo) + "}",
               "{\"access_token\":" + test::json_quoted(echo + "\n") + ",\"expires_in\":1}",
               "{\"access_token\":" + test::json_quoted(echo) + ",\"expires_in\":\"never\"}"}) {
        auto flow = credentials.start();
        auto step = flow->resume({}, {test::some_time(), 0});
        while (!std::holds_alternative<error>(step) &&
               !std::holds_alternative<dataflux::access_token>(step)) {
          const bool sent = std::holds_alternative<auth::http_step>(step);
          step = flow->resume(sent ? test::reply(status, body) : auth::flow_event{},
                              {test::some_time(), 0});
        }
        if (const auto* e = std::get_if<error>(&step)) ears.hear(*e);
      }
    }
  }
}

}  // namespace

TEST_CASE("credentials: no error ever shows a secret", "[auth]") {
  // The middle of the key, as JSON and as PEM write it.
  const std::string key_part = test::private_pem().substr(200, 40);
  listener ears({"SECRET", key_part});
  hear_files(ears, test::authorized_user_file());
  hear_files(ears, test::service_account_file());
  hear_files(ears, test::external_user_file());
  hear_files(ears, test::impersonated_file(test::authorized_user_file()));
  auto federated = test::external_account_file();
  federated.back().second =
      R"({"url":"http://localhost/SECRET","headers":{"Authorization":"SECRET"}})";
  federated.emplace_back("client_id", "\"id\"");
  federated.emplace_back("client_secret", "\"SECRET\"");
  hear_files(ears, federated);

  const auto user =
      auth::parse_authorized_user(test::to_json(test::authorized_user_file()), "/f").value();
  hear_replies(ears, *user, {"SECRET/client+1", "1//SECRET-refresh"});
  CHECK(ears.heard() > 200);
  // Nor what can be turned into one again.
  const std::string digits = "312f2f5345435245542d72656672657368";
  const std::string base64 =
      dataflux::detail::codec::encode_base64(dataflux::as_bytes("1//SECRET-refresh"));
  listener turned({digits, base64.substr(0, 20), "1//secret-refresh", "S%2545CR"});
  hear_replies(turned, *user, {digits, base64, "1//secret-refresh", "1//S%2545CR%2545T-refresh"});
  CHECK(turned.heard() > 100);

  const auto robot = auth::parse_service_account(test::to_json(test::service_account_file()), "/f",
                                                 {.exchange = true})
                         .value();
  // Signing twice at one time gives the same assertion, so that the echo is known beforehand.
  const auto first = robot->start()->resume({}, {test::some_time(), 0});
  const std::string body = std::get<auth::http_step>(first).body;
  const std::string assertion = body.substr(body.rfind('=') + 1);
  listener strict({assertion.substr(0, 60), assertion.substr(assertion.size() - 60)});
  hear_replies(strict, *robot, {assertion});
  CHECK(strict.heard() > 20);
}

TEST_CASE("credentials: no error of federation shows a token that was sent", "[auth]") {
  test::scripted_environment machine;
  machine.files["/token"] = "SECRET-subject-token";
  auto federated = test::external_account_file();
  federated.emplace_back("client_id", "\"id\"");
  federated.emplace_back("client_secret", "\"SECRET-of-client\"");
  auto acting = federated;
  acting.emplace_back("service_account_impersonation_url",
                      "\"https://iamcredentials.googleapis.com/v1/x/"
                      "a@b.c:generateAccessToken\"");
  listener ears({"SECRET"});
  const std::string token = R"({"access_token":"ya29.SECRET-of-source","expires_in":3599})";
  // What the first service has been sent, and then the second.
  const std::vector<std::string> of_workload{"SECRET-subject-token", "SECRET-of-client"};
  const std::vector<std::string> of_person{"1//SECRET-refresh", "SECRET/client+1"};
  const std::string of_source = "ya29.SECRET-of-source";
  for (const test::fields& file : {federated, acting, test::external_user_file(),
                                   test::impersonated_file(test::authorized_user_file())}) {
    machine.files["/f"] = test::to_json(file);
    const bool person = file[0].second.find("user") != std::string::npos ||
                        file[0].second.find("impersonated") != std::string::npos;
    std::vector<std::string> echoes = person ? of_person : of_workload;
    echoes.push_back(of_source);
    for (const std::string& echo : echoes) {
      const bool later = echo == of_source;
      const std::string quoted = test::json_quoted("you sent " + echo);
      for (const std::string& body : std::initializer_list<std::string>{
               echo, "{\"error\":" + quoted + "}",
               "{\"error\":\"invalid_grant\",\"error_description\":" + quoted + "}",
               "{\"error\":{\"status\":\"PERMISSION_DENIED\",\"message\":" + quoted + "}}",
               "{\"access_token\":" + quoted + ",\"expires_in\":1}",
               "{\"accessToken\":" + quoted + ",\"expireTime\":1}"}) {
        for (const int status : {200, 302, 400, 403, 503}) {
          // Anew: a subject token that was refused once is not sent again.
          const auto loaded = dataflux::load_credentials_file("/f", {}, machine).value();
          std::vector<test::flow_play::answer> answers;
          if (later) answers.push_back(test::says(200, token));
          answers.push_back(test::says(status, body));
          test::flow_play play(std::move(answers));
          const auto step = play(*loaded);
          if (const auto* e = std::get_if<error>(&step)) ears.hear(*e);
        }
      }
    }
  }
  CHECK(ears.heard() > 200);
}

TEST_CASE("credentials_fuzz: files, prefixes and mutations keep the invariants", "[auth]") {
  const std::string user = test::to_json(test::authorized_user_file());
  const std::string robot = test::with(test::service_account_file(), "private_key", "\"no key\"");
  for_each_mutation(
      {user, robot, test::to_json(test::external_account_file()),
       test::to_json(test::external_user_file()),
       test::to_json(test::impersonated_file(test::external_account_file())),
       // NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
       R"({"version":1,"success":true,"token_type":"urn:ietf:params:oauth:token-type:jwt",)"
       R"("id_token":"x","expiration_time":9999999999})",
       R"({"accessToken":"a","expireTime":"1970-01-01T00:01:00Z"})",
       "http://localhost:1/storage/v1"},
      300, [](std::span<const std::byte> input) { fuzz_credentials(input); });
}

}  // namespace secrets_test
