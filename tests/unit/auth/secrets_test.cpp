#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/authorized_user.hpp>
#include <dataflux/auth/detail/service_account.hpp>
#include <dataflux/codec/detail/base64.hpp>

#include <fuzz/credentials_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>

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

TEST_CASE("credentials_fuzz: files, prefixes and mutations keep the invariants", "[auth]") {
  const std::string user = test::to_json(test::authorized_user_file());
  const std::string robot = test::with(test::service_account_file(), "private_key", "\"no key\"");
  for_each_mutation(
      {user, robot, "{\"type\":\"external_account\"}", "http://localhost:1/storage/v1"}, 1000,
      [](std::span<const std::byte> input) { fuzz_credentials(input); });
}

}  // namespace secrets_test
