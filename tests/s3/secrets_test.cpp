#include <s3/verb_rows.hpp>
#include <support/listener.hpp>
#include <support/sanitized.hpp>

#include <chrono>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace s3_secrets_test {
// Whatever is run and whatever goes wrong, no key, token or signature is told to anybody: not in
// errors, not to an observer, not in a snapshot, and not if the service itself repeats it.
namespace {

using namespace std::chrono_literals;
using namespace s3_verbs;
namespace fault = emulator::fault;

constexpr std::string_view token{"SECRET-session/token+4711=="};

/// What the service may say with the session's token in it.
std::vector<fault::action> echoes() {
  const std::string secret{token};
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
  std::string told_{};
};

}  // namespace

TEST_CASE("s3 secrets: none is told, whatever fails and whatever the service repeats", "[s3]") {
  world w;
  // A session that the emulator has not given: what no fault answers is refused.
  w.run_all(token, echoes());
  w.run_all({}, failures());
  CHECK(w.observer.errors() > (sanitized ? 100 : 300));
  const std::string told = w.told();
  const auto secrets = w.secrets();
  CHECK(secrets.size() > 100);
  for (const std::string& secret : secrets) {
    const std::size_t at = told.find(secret);
    if (at != std::string::npos) FAIL("told: " << told.substr(at < 200 ? 0 : at - 200, 400));
  }
}

}  // namespace s3_secrets_test
