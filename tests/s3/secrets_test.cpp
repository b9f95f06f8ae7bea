#include <s3/verb_rows.hpp>
#include <support/listener.hpp>
#include <support/sanitized.hpp>
#include <unit/auth/scripted_environment.hpp>

#include <chrono>
#include <deque>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace s3_secrets_test {
// Whatever is run and whatever goes wrong, no key, token or signature is told to anybody: not in
// errors, not to an observer, not in a snapshot, and not if the service itself repeats it.
namespace {

using namespace std::chrono_literals;
using namespace s3_verbs;
namespace fault = emulator::fault;

constexpr std::string_view token{"SECRET-session/token+4711=="};

/// What the service may say with the secret in it.
std::vector<fault::action> echoes(const std::string& secret) {
  const std::string bodies[] = {
      "<Error><Code>SignatureDoesNotMatch</Code><Message>not " + secret +
          "</Message><StringToSign>" + secret +
          "</StringToSign><CanonicalRequest>x-amz-security-token:" + secret +
          "</CanonicalRequest><SignatureProvided>" + secret + "</SignatureProvided></Error>",
      "<Error><Code>" + secret + "</Code><Message>" + secret + "</Message><RequestId>" + secret +
          "</RequestId><HostId>" + secret + "</HostId></Error>",
      "<html><title>GET /o?X-Amz-Security-Token=" + secret + "</title></html>", secret};
  std::vector<fault::action> out;
  for (const int status : {200, 301, 400, 403, 404, 412, 503}) {
    for (const std::string& body : bodies) {
      out.emplace_back(fault::send{.status = status,
                                   .body = body,
                                   .content_type = "application/xml",
                                   .headers = {{"x-amz-request-id", secret}}});
    }
  }
  out.emplace_back(fault::send{.status = 307,
                               .headers = {{"Location", "https://h/?X-Amz-Signature=" + secret}}});
  return out;
}

std::vector<fault::action> failures() {
  return {fault::refuse{400}, fault::refuse{403},    fault::refuse{429},  fault::refuse{500},
          fault::refuse{503}, fault::cut{},          fault::lose_reply{}, fault::wrong_hash{},
          fault::skew{1h},    fault::expire_tokens{}};
}

struct world {
  emulator::server server{s3_test::s3_server({})};
  dataflux::test::listener observer{};
  std::shared_ptr<s3::client> helper{s3::client::create(options({})).value()};
  int stages{0};

  s3::client_options options(std::string_view session) const {
    auto o = s3_test::options_of(server);
    o.credentials = dataflux::make_aws_keys({.id = emulator::s3::options{}.access_key,
                                             .secret = emulator::s3::options{}.secret_key,
                                             .session_token = std::string(session)})
                        .value();
    o.retry = {.max_attempts = 2, .first = 1ms, .cap = 2ms};
    o.retry.max_elapsed = 50ms;
    o.stall_timeout = o.first_byte_timeout = 30s;
    return o;
  }
  /// Each row under each of these, by a client with such a session.
  void run_all(std::string_view session, const std::vector<fault::action>& actions) {
    auto watched = options(session);
    watched.observer = &observer;
    std::size_t number = 0;
    for (const verb_row& row : rows) {
      if (row.when != condition::none) continue;
      const auto subject = s3::client::create(watched).value();
      for (const auto& action : actions) {
        if (sanitized && ++number % 3 != 0) continue;
        server.faults().clear();
        stage s = set_stage(server, *helper, *subject, row, "bucket-" + std::to_string(++stages));
        server.faults().add({.verb = std::string(row.on_wire), .count = 0, .action = action});
        const auto made = row.run(s, row.when);
        if (!made) observer.hear(made.error());
        server.faults().clear();
      }
      told_ += dataflux::to_json(subject->snapshot());
    }
  }
  /// Its keys are those of a role, which STS gives to a person, or for a token.
  std::shared_ptr<s3::client> client_of_role(bool is_person) {
    const emulator::s3::options how;
    test::scripted_environment& machine = machines_.emplace_back("/h");
    machine.variables["AWS_ENDPOINT_URL"] = server.endpoint();
    machine.variables["AWS_REGION"] = how.region;
    if (is_person) {
      machine.files["/h/.aws/credentials"] = "[person]\naws_access_key_id = " + how.access_key +
                                             "\naws_secret_access_key = " + how.secret_key + "\n";
      machine.files["/h/.aws/config"] =
          "[default]\nsource_profile = person\nrole_arn = arn:aws:iam::123456789012:role/r\n";
    } else {
      machine.variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/token";
      machine.variables["AWS_ROLE_ARN"] = "arn:aws:iam::123456789012:role/r";
      machine.files["/token"] = how.web_identity_token;
    }
    auto o = options({});
    o.credentials = dataflux::find_aws_credentials({}, machine).value().credentials;
    o.observer = &observer;
    return s3::client::create(o).value();
  }
  /// All that must not be told, as far as it has been used.
  std::set<std::string> secrets() const {
    std::set<std::string> out{std::string(token), emulator::s3::options{}.secret_key};
    for (const auto& request : server.log()) {
      const std::string_view header = request.header("Authorization");
      const std::size_t at = header.find("Signature=");
      if (at != std::string_view::npos) out.emplace(header.substr(at + 10));
    }
    return out;
  }
  std::string told() const { return told_ + observer.text(); }

 private:
  std::deque<test::scripted_environment> machines_{};  // which credentials refer to
  std::string told_{};
};

void check_untold(const std::set<std::string>& secrets, const std::string& told) {
  for (const std::string& secret : secrets) {
    const std::size_t at = told.find(secret);
    if (at != std::string::npos) FAIL("told: " << told.substr(at < 200 ? 0 : at - 200, 400));
  }
}

}  // namespace

TEST_CASE("s3 secrets: none is told, whatever fails and whatever the service repeats", "[s3]") {
  world w;
  // A session that the emulator has not given: what no fault answers is refused.
  w.run_all(token, echoes(std::string(token)));
  w.run_all({}, failures());
  CHECK(w.observer.errors() > (sanitized ? 100 : 300));
  const auto secrets = w.secrets();
  CHECK(secrets.size() > 100);
  check_untold(secrets, w.told());
}

TEST_CASE("s3 secrets: none is told that goes to STS or comes from it", "[s3]") {
  const emulator::s3::options how;
  world w;
  w.server.create_bucket("bucket");
  std::set<std::string> secrets{how.web_identity_token};
  for (const bool is_person : {false, true}) {
    auto actions = echoes(is_person ? how.secret_key : how.web_identity_token);
    for (auto& each : failures()) actions.push_back(std::move(each));
    actions.emplace_back(fault::set_headers{});  // it answers
    for (const auto& action : actions) {
      const auto client = w.client_of_role(is_person);
      w.server.faults().clear();
      w.server.faults().add({.verb = "sts.call", .count = 0, .action = action});
      // STS is asked again for seconds.
      const auto made = client->run(dataflux::list_page_request{
          .bucket = "bucket", .limits = {.timeout = std::chrono::milliseconds(200)}});
      if (!made) w.observer.hear(made.error());
    }
  }
  CHECK(w.observer.errors() > 40);
  for (const auto& request : w.server.log()) {
    secrets.emplace(request.header("x-amz-security-token"));
  }
  secrets.erase("");
  CHECK(secrets.size() > 1);
  secrets.merge(w.secrets());
  check_untold(secrets, w.told());
}

}  // namespace s3_secrets_test
