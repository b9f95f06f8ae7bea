#include <dataflux/auth/detail/aws_sources.hpp>
#include <dataflux/auth/detail/keys_flow.hpp>

#include <support/catch.hpp>

#include "scripted_environment.hpp"
#include "test_key.hpp"

namespace aws_sources_test {

using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;
namespace http = dataflux::detail::http;
using dataflux::access_keys;
using dataflux::errc;
using dataflux::error;

namespace {

const std::string keys_json =
    R"({"Code":"Success","AccessKeyId":"ASIA","SecretAccessKey":"SECRET","Token":"TOKEN",)"
    R"("Expiration":"2026-01-02T04:04:05Z"})";

std::string role_xml(const std::string& action, const std::string& end = "2026-01-02T04:04:05Z") {
  return "<R><" + action +
         "Result><Credentials><AccessKeyId>ROLE</AccessKeyId><SecretAccessKey>SECRET2"
         "</SecretAccessKey><SessionToken>TOKEN2</SessionToken><Expiration>" +
         end + "</Expiration></Credentials></" + action + "Result></R>";
}

auth::flow_event dated(int status, std::string body, std::string_view date) {
  auth::http_reply r;
  r.status = status;
  r.body = std::move(body);
  r.headers.add("Date", date);
  return dataflux::result<auth::http_reply>{std::move(r)};
}

auth::flow_event silence(bool retryable = true) {
  error e{errc::unavailable, "connect failed"};
  return dataflux::result<auth::http_reply>{e.with_retryable(retryable)};
}

/// One flow, whose blocking steps are done at once and whose waits pass at once.
class run {
 public:
  explicit run(dataflux::credentials_ptr of) : from_(std::move(of)), flow_(from_->start()) {
    go({});
  }

  run& go(auth::flow_event event) {
    step = flow_->resume(std::move(event), {now, 0.5});
    for (;;) {
      if (auto* const block = std::get_if<auth::blocking_step>(&step)) {
        ++blocked;
        step = flow_->resume(block->work(), {now, 0.5});
      } else if (std::holds_alternative<auth::wait_step>(step)) {
        ++waits;
        step = flow_->resume({}, {now, 0.5});
      } else {
        return *this;
      }
    }
  }

  std::string target() const {
    const auto* const send = std::get_if<auth::http_step>(&step);
    if (send != nullptr) return send->request.target;
    const auto* const e = std::get_if<error>(&step);
    return e == nullptr ? "no request" : "error: " + e->to_string();
  }
  const auth::http_step& sent() const { return std::get<auth::http_step>(step); }
  std::string field(std::string_view name) const {
    return std::string{sent().request.headers.find(name).value_or("none")};
  }
  const access_keys& keys() const {
    INFO(target());
    REQUIRE(std::holds_alternative<access_keys>(step));
    return std::get<access_keys>(step);
  }
  const error& failure() const {
    REQUIRE(std::holds_alternative<error>(step));
    const error& e = std::get<error>(step);
    INFO(e.to_string());
    for (const char* secret : {"SECRET", "TOKEN"}) {
      CHECK(e.to_string().find(secret) == std::string::npos);
    }
    return e;
  }

  auth::flow_step step{access_keys{}};
  dataflux::system_time now{test::some_time()};
  int waits{0};
  int blocked{0};

 private:
  dataflux::credentials_ptr from_;
  std::unique_ptr<auth::token_flow> flow_;
};

auth::role_options some_role() {
  return {.sts = http::parse_url("https://sts.eu-central-1.amazonaws.com").value(),
          .region = "eu-central-1",
          .arn = "arn:aws:iam::1:role/r",
          .external_id = "x y",
          .life = 900s};
}

dataflux::credentials_ptr person() {
  return auth::make_static_keys({.kind = "aws_environment"},
                                {.id = "AKID", .secret = "SECRET", .session_token = "TOKEN"});
}

dataflux::credentials_ptr role() {
  return auth::make_role_keys({.kind = "aws_role", .passed_over = "X is not set"}, some_role(),
                              person());
}

}  // namespace

TEST_CASE("aws_static: keys at once, and none that have ended", "[auth]") {
  CHECK(run(person()).keys().id == "AKID");
  const auto old = auth::make_static_keys({.kind = "k"}, {.expires = test::some_time()});
  CHECK(run(old).failure().code() == errc::unauthenticated);
}

TEST_CASE("aws_role: a signed request for the keys of the role", "[auth]") {
  run r(role());
  CHECK(r.target() == "/");
  CHECK(r.sent().request.method == http::method::post);
  CHECK(r.sent().request.origin->host == "sts.eu-central-1.amazonaws.com");
  CHECK(r.sent().body ==
        "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr"
        "&RoleSessionName=dataflux-1767323045&DurationSeconds=900&ExternalId=x%20y");
  CHECK(r.field("authorization")
            .starts_with("AWS4-HMAC-SHA256 Credential=AKID/20260102/eu-central-1/sts/aws4_request, "
                         "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;"
                         "x-amz-security-token, Signature="));
  CHECK(r.field("x-amz-security-token") == "TOKEN");
  r.go(test::reply(200, role_xml("AssumeRole")));
  CHECK(r.keys().id == "ROLE");
  CHECK(r.keys().expires == test::some_time() + 1h);
}

TEST_CASE("aws_role: a refusal says what STS says and what to do", "[auth]") {
  run r(role());
  r.go(test::reply(403,
                   "<E><Error><Code>AccessDenied</Code><Message>User me may not. TOKEN SECRET"
                   "</Message></Error></E>"));
  // Short texts are no secrets to a filter; real ones are longer.
  REQUIRE(std::holds_alternative<error>(r.step));
  const std::string text = std::get<error>(r.step).message();
  CHECK(text.starts_with(
      "aws_role credentials: refused by sts.eu-central-1.amazonaws.com: AccessDenied: User me"));
  CHECK(
      text.ends_with("; let the trust policy of arn:aws:iam::1:role/r allow it; looked at "
                     "before: X is not set"));
  CHECK(std::get<error>(r.step).http_status() == 403);
  run signature(role());
  signature.go(test::reply(
      403, "<E><Error><Code>SignatureDoesNotMatch</Code><Message>TOKEN</Message></Error></E>"));
  CHECK(signature.failure().reason() == "SignatureDoesNotMatch");
}

TEST_CASE("aws_sources: no error shows a secret, whatever the service repeats", "[auth]") {
  const std::string secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  const std::string session = "FwoGZXIvYXdzEXAMPLE//////////wEaDEXAMPLE==";
  test::scripted_environment machine;
  machine.files["/token"] = session;
  const auto url = http::parse_url("http://127.0.0.1/x").value();
  const auto self = auth::make_static_keys(
      {.kind = "k"}, {.id = "AKID", .secret = secret, .session_token = session});
  const std::vector<dataflux::credentials_ptr> all{
      auth::make_role_keys({.kind = "r"}, some_role(), self),
      auth::make_web_identity_keys({.kind = "w"}, some_role(), "/token", machine),
      auth::make_container_keys({.kind = "c"}, {.endpoint = url, .token = session}, machine)};
  int heard = 0;
  for (const auto& credentials : all) {
    for (const std::string& echo : {secret, session, "you sent " + session + ", " + secret}) {
      for (const std::string& body :
           {echo, "<E><Error><Code>" + echo + "</Code></Error></E>",
            "<E><Error><Code>AccessDenied</Code><Message>" + echo + "</Message></Error></E>",
            R"({"AccessKeyId":"A","SecretAccessKey":")" + echo + R"(\u0000"})",
            R"({"AccessKeyId":")" + echo + R"(","SecretAccessKey":"S","Expiration":"x"})",
            "<R><AssumeRoleResult><Credentials><AccessKeyId>" + echo +
                "</AccessKeyId></Credentials></AssumeRoleResult></R>"}) {
        for (const int status : {200, 400, 403, 500}) {
          run r(credentials);
          while (std::holds_alternative<auth::http_step>(r.step)) r.go(test::reply(status, body));
          if (!std::holds_alternative<error>(r.step)) continue;
          ++heard;
          const std::string text = std::get<error>(r.step).to_string();
          INFO(text);
          // The others have no secret key: to them it is a word as any other.
          if (credentials == all.front()) CHECK(text.find(secret) == std::string::npos);
          CHECK(text.find(session) == std::string::npos);
        }
      }
    }
  }
  CHECK(heard > 150);
}

TEST_CASE("aws_role: three tries while STS is busy", "[auth]") {
  run r(role());
  r.go(test::reply(503, "")).go(silence());
  CHECK(r.target() == "/");
  CHECK(r.waits == 2);
  r.go(test::reply(400, "<E><Error><Code>Throttling</Code></Error></E>"));
  CHECK(r.failure().retryable());
  CHECK(r.failure().attempts() == 3);
}

TEST_CASE("aws_role: a wrong clock is corrected once, by the Date of the refusal", "[auth]") {
  const auto credentials = role();
  const std::string refusal = "<E><Error><Code>SignatureDoesNotMatch</Code></Error></E>";
  run r(credentials);
  CHECK(r.field("x-amz-date") == "20260102T030405Z");
  r.go(dated(403, refusal, "Fri, 02 Jan 2026 05:04:05 GMT"));
  CHECK(r.field("x-amz-date") == "20260102T050405Z");
  r.go(dated(200, role_xml("AssumeRole", "2026-01-02T06:04:05Z"), "Fri, 02 Jan 2026 05:04:05 GMT"));
  CHECK(r.keys().expires == test::some_time() + 1h);
  // The next flow has learned it.
  run next(credentials);
  CHECK(next.field("x-amz-date") == "20260102T050405Z");
  next.go(dated(403, refusal, "Fri, 02 Jan 2026 05:04:05 GMT"));
  CHECK(next.failure().code() == errc::unauthenticated);
}

TEST_CASE("aws_web_identity: the token is read for each try, nothing is signed", "[auth]") {
  test::scripted_environment machine;
  machine.files["/token"] = "JWT.1\n";
  auto credentials = auth::make_web_identity_keys({.kind = "aws_web_identity", .path = "/token"},
                                                  some_role(), "/token", machine);
  run r(credentials);
  CHECK(r.sent().body.starts_with("Action=AssumeRoleWithWebIdentity&Version=2011-06-15&"));
  CHECK(r.sent().body.ends_with("&WebIdentityToken=JWT.1"));
  CHECK(r.field("authorization") == "none");
  machine.files["/token"] = "JWT.2";
  r.go(test::reply(400, "<E><Error><Code>ExpiredTokenException</Code></Error></E>"));
  CHECK(r.sent().body.ends_with("&WebIdentityToken=JWT.2"));
  r.go(test::reply(200, role_xml("AssumeRoleWithWebIdentity")));
  CHECK(r.keys().id == "ROLE");

  machine.files.erase("/token");
  run missing(credentials);
  CHECK(missing.waits == 2);
  CHECK(missing.failure().message().find("/token: No such file") != std::string::npos);
  machine.files["/token"] = "";
  CHECK(run(credentials).failure().code() == errc::invalid_argument);
}

TEST_CASE("aws_container: the endpoint, its token, and replies of all sorts", "[auth]") {
  test::scripted_environment machine;
  machine.files["/token"] = "pod token\n";
  const auto endpoint = http::parse_url("http://169.254.170.23/v1/credentials?x=1").value();
  const auto of_pod = auth::make_container_keys(
      {.kind = "aws_container"}, {.endpoint = endpoint, .token = "no", .token_file = "/token"},
      machine);
  run r(of_pod);
  CHECK(r.target() == "/v1/credentials?x=1");
  CHECK(r.field("authorization") == "pod token");
  CHECK(r.sent().request.origin->direct);
  CHECK(r.sent().timeout == 2s);
  r.go(test::reply(200, keys_json));
  CHECK(r.keys().session_token == "TOKEN");

  const auto plain = auth::make_container_keys({.kind = "aws_container"},
                                               {.endpoint = endpoint, .token = "T"}, machine);
  CHECK(run(plain).field("authorization") == "T");
  CHECK(run(plain).go(test::reply(400, "SECRET")).failure().code() == errc::unauthenticated);
  CHECK(run(plain).go(test::reply(302, "")).failure().code() == errc::unauthenticated);
  CHECK(run(plain).go(test::reply(200, "SECRET")).failure().code() == errc::internal);
  CHECK(run(plain).go(test::reply(200, std::string(70000, ' '))).failure().code() ==
        errc::internal);
  run busy(plain);
  busy.go(test::reply(500, "")).go(silence()).go(test::reply(429, ""));
  CHECK(busy.failure().attempts() == 3);
  run late(plain);
  late.now += 2h;
  late.go(test::reply(200, keys_json)).go(dated(200, keys_json, "Fri, 02 Jan 2026 03:04:05 GMT"));
  CHECK(late.keys().expires == test::some_time() + 3h);
  for (const std::string bad : {"a\nb", "a\r\nX: y"}) {
    machine.files["/token"] = bad;
    CHECK(run(of_pod).failure().code() == errc::invalid_argument);
  }
}

TEST_CASE("aws_process: what the program writes, run for each set of keys", "[auth]") {
  test::scripted_environment machine;
  std::vector<std::string> ran;
  std::string out = R"({"Version":1,"AccessKeyId":"A","SecretAccessKey":"SECRET"})";
  machine.program = [&](const std::vector<std::string>& words) {
    ran = words;
    return dataflux::result<std::string>{out};
  };
  const auto credentials =
      auth::make_process_keys({.kind = "aws_process"}, {"/bin/get", "a b"}, machine);
  CHECK(run(credentials).keys().id == "A");
  CHECK(ran == std::vector<std::string>{"/bin/get", "a b"});
  out = "SECRET";
  CHECK(run(credentials).failure().message() ==
        "aws_process credentials: the output of program \"/bin/get\": it is not valid JSON");
  out =
      R"({"Version":1,"AccessKeyId":"A","SecretAccessKey":"S","Expiration":"2020-01-02T03:04:05Z"})";
  CHECK(run(credentials).failure().code() == errc::unauthenticated);
  machine.program = [](const std::vector<std::string>&) {
    return dataflux::result<std::string>{
        error{errc::not_found, "program \"x\": cannot be started"}};
  };
  CHECK(run(credentials).failure().message().ends_with("program \"x\": cannot be started"));
}

}  // namespace aws_sources_test
