#include <dataflux/auth/detail/aws_sources.hpp>

#include <support/catch.hpp>

#include "test_key.hpp"

namespace aws_instance_test {

using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;
using dataflux::access_keys;
using dataflux::errc;
using dataflux::error;

namespace {

std::string keys_json(const std::string& end = "2026-01-02T04:04:05Z") {
  return R"({"Code":"Success","AccessKeyId":"ASIA","SecretAccessKey":"S","Token":"T",)"
         R"("Expiration":")" +
         end + "\"}";
}

auth::flow_event silence() {
  error e{errc::unavailable, "not in time"};
  return dataflux::result<auth::http_reply>{e.with_retryable(true)};
}

const std::string roles = "/latest/meta-data/iam/security-credentials/";

struct run {
  explicit run(dataflux::credentials_ptr of) : from(std::move(of)), flow(from->start()) { go({}); }
  run& go(auth::flow_event event) {
    step = flow->resume(std::move(event), {test::some_time(), 0.5});
    while (std::holds_alternative<auth::wait_step>(step)) {
      ++waits;
      step = flow->resume({}, {test::some_time(), 0.5});
    }
    return *this;
  }
  std::string target() const {
    if (const auto* send = std::get_if<auth::http_step>(&step)) return send->request.target;
    const auto* e = std::get_if<error>(&step);
    return e == nullptr ? "keys" : "error: " + e->message();
  }
  std::string token() const {
    return std::string{std::get<auth::http_step>(step)
                           .request.headers.find("x-aws-ec2-metadata-token")
                           .value_or("none")};
  }
  const access_keys& keys() const {
    INFO(target());
    REQUIRE(std::holds_alternative<access_keys>(step));
    return std::get<access_keys>(step);
  }

  dataflux::credentials_ptr from;
  std::unique_ptr<auth::token_flow> flow;
  auth::flow_step step{access_keys{}};
  int waits{0};
};

dataflux::credentials_ptr machine(auth::instance_options options = {}) {
  return auth::make_instance_keys({.kind = "aws_instance"}, std::move(options));
}

}  // namespace

TEST_CASE("aws_instance: a session token, the role, its keys", "[auth]") {
  run r(machine());
  CHECK(r.target() == "/latest/api/token");
  const auto& first = std::get<auth::http_step>(r.step);
  CHECK(first.request.method == dataflux::detail::http::method::put);
  CHECK(first.request.headers.find("x-aws-ec2-metadata-token-ttl-seconds") == "21600");
  CHECK(first.request.origin->to_string() == "http://169.254.169.254:80");
  CHECK(first.request.origin->direct);
  CHECK(first.timeout == 1s);
  r.go(test::reply(200, "IMDS=="));
  CHECK(r.target() == roles);
  CHECK(r.token() == "IMDS==");
  r.go(test::reply(200, "my-role\nanother"));
  CHECK(r.target() == roles + "my-role");
  r.go(test::reply(200, keys_json()));
  CHECK(r.keys().id == "ASIA");
  CHECK(r.keys().expires == test::some_time() + 1h);
  CHECK(r.keys().region.empty());
}

TEST_CASE("aws_instance: the region of the machine, where it is wanted", "[auth]") {
  for (const auto& [body, region] : std::initializer_list<std::pair<std::string, std::string>>{
           {"eu-west-1", "eu-west-1"}, {"evil.example/", ""}, {"", ""}}) {
    run r(machine({.with_region = true}));
    r.go(test::reply(200, "t")).go(test::reply(200, "r")).go(test::reply(200, keys_json()));
    CHECK(r.target() == "/latest/meta-data/placement/region");
    r.go(test::reply(200, body));
    CHECK(r.keys().region == region);
  }
  run r(machine({.with_region = true}));
  r.go(test::reply(200, "t")).go(test::reply(200, "r")).go(test::reply(200, keys_json()));
  CHECK(r.go(silence()).keys().id == "ASIA");
}

TEST_CASE("aws_instance: without a session token where the service or the network has none",
          "[auth]") {
  for (const bool refused : {true, false}) {
    const auto credentials = machine();
    run r(credentials);
    r.go(refused ? test::reply(403, "") : silence());
    CHECK(r.target() == roles);
    CHECK(r.token() == "none");
    r.go(test::reply(200, "r")).go(test::reply(200, keys_json()));
    CHECK(r.keys().id == "ASIA");
    // The next flow asks once, and does not wait for what never comes.
    run next(credentials);
    CHECK(next.target() == "/latest/api/token");
    CHECK(next.go(silence()).target() == roles);
    CHECK(next.waits == 0);
    const auto strict = machine({.tokens_only = true});
    CHECK(run(strict).go(refused ? test::reply(403, "") : silence()).target() ==
          "error: the metadata service at 169.254.169.254 does not answer");
  }
  CHECK(run(machine()).go(test::reply(400, "")).target().starts_with("error: aws_instance"));
}

TEST_CASE("aws_instance: a machine without the service ends the search after two requests",
          "[auth]") {
  run r(machine({.absent_message = "nothing anywhere"}));
  r.go(silence()).go(silence());
  CHECK(r.target() == "error: nothing anywhere");
  CHECK(r.waits == 0);
  CHECK(std::get<error>(r.step).code() == errc::unauthenticated);
}

TEST_CASE("aws_instance: three tries once it has answered", "[auth]") {
  const auto credentials = machine();
  run r(credentials);
  r.go(test::reply(200, "t")).go(test::reply(503, ""));
  CHECK(r.target() == roles);
  CHECK(r.waits == 1);
  r.go(silence()).go(test::reply(200, "r")).go(test::reply(200, keys_json()));
  CHECK(r.keys().id == "ASIA");
  run next(credentials);
  next.go(silence()).go(silence());
  CHECK(next.target() == "/latest/api/token");
  CHECK(next.waits == 2);
  next.go(silence());
  CHECK(next.target() == roles);
}

TEST_CASE("aws_instance: an ended session is begun again, once", "[auth]") {
  run r(machine());
  r.go(test::reply(200, "old")).go(test::reply(401, ""));
  CHECK(r.target() == "/latest/api/token");
  r.go(test::reply(200, "new"));
  CHECK(r.token() == "new");
  CHECK(r.go(test::reply(401, "")).target().starts_with("error: aws_instance"));
}

TEST_CASE("aws_instance: keys that have ended are used on, with an end ahead", "[auth]") {
  run r(machine());
  r.go(test::reply(200, "t")).go(test::reply(200, "r"));
  r.go(test::reply(200, keys_json("2026-01-02T02:00:00Z")));
  CHECK(r.keys().expires == test::some_time() + 15min + 6min);
}

TEST_CASE("aws_instance: what is no token, no role and no keys", "[auth]") {
  CHECK(run(machine()).go(test::reply(200, "a b")).target().starts_with("error"));
  CHECK(run(machine()).go(test::reply(200, "")).target().starts_with("error"));
  const auto after = [](std::string role) {
    run r(machine());
    r.go(test::reply(200, "t")).go(test::reply(200, std::move(role)));
    return r.target();
  };
  for (const std::string bad : {"", "\n", "a/b", "../x", "a b", "<html>", "r?x=y"}) {
    CHECK(after(bad).starts_with("error: aws_instance credentials: "));
  }
  CHECK(after(std::string(65, 'r')).starts_with("error"));
  run none(machine());
  CHECK(none.go(test::reply(200, "t")).go(test::reply(404, "")).target() ==
        "error: aws_instance credentials: this machine has no role: give its instance profile one");
  for (const std::string& bad :
       {std::string{"{}"}, std::string{"x"}, std::string(70000, ' '),
        std::string{R"({"Code":"AssumeRoleUnauthorizedAccess","Message":"m"})"},
        std::string{R"({"Code":"Success","AccessKeyId":"A","SecretAccessKey":"S"})"}}) {
    run r(machine());
    r.go(test::reply(200, "t")).go(test::reply(200, "r")).go(test::reply(200, bad));
    CHECK(r.target().starts_with(
        "error: aws_instance credentials: the keys of the metadata service: "));
    CHECK(r.waits == 0);
  }
}

}  // namespace aws_instance_test
