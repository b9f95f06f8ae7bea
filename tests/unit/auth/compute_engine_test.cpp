#include <dataflux/auth/detail/compute_engine.hpp>

#include <support/catch.hpp>

#include "test_key.hpp"

namespace compute_engine_test {

using dataflux::errc;
using dataflux::error;
using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;

namespace {

const std::string token_json = R"({"access_token":"mds","expires_in":3000,"token_type":"Bearer"})";

auth::flow_event failure(bool retryable) {
  error e{errc::unavailable, "connect failed"};
  return dataflux::result<auth::http_reply>{e.with_retryable(retryable)};
}

auth::flow_step resume(auth::token_flow& flow, auth::flow_event event = {}) {
  return flow.resume(std::move(event), {test::some_time(), 0.5});
}

std::string target(const auth::flow_step& step) {
  const auto* send = std::get_if<auth::http_step>(&step);
  return send == nullptr ? "no request" : send->request.target;
}

std::string host(const auth::flow_step& step) {
  return std::get<auth::http_step>(step).request.origin->to_string();
}

const std::string universe_page = "/computeMetadata/v1/universe/universe-domain";
const std::string token_page =
    "/computeMetadata/v1/instance/service-accounts/default/token?scopes="
    "https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fdevstorage.read_write";

}  // namespace

TEST_CASE("compute_engine: asks the metadata server, past any proxy", "[auth]") {
  auto credentials = auth::make_compute_engine_credentials({.quota_project = "q"}).value();
  CHECK(credentials->facts().kind == "compute_engine");
  CHECK(credentials->facts().quota_project == "q");
  auto flow = credentials->start();
  auto step = resume(*flow);
  CHECK(target(step) == universe_page);
  CHECK(host(step) == "http://metadata.google.internal:80");
  CHECK(std::get<auth::http_step>(step).request.origin->direct);
  CHECK(std::get<auth::http_step>(step).request.headers.find("metadata-flavor") == "Google");
  step = resume(*flow, test::reply(200, "googleapis.com", true));
  CHECK(target(step) == token_page);
  CHECK(std::get<auth::http_step>(step).request.headers.find("metadata-flavor") == "Google");
  step = resume(*flow, test::reply(200, token_json, true));
  REQUIRE(std::holds_alternative<dataflux::access_token>(step));
  CHECK(std::get<dataflux::access_token>(step).value == "mds");
  CHECK(std::get<dataflux::access_token>(step).expires == test::some_time() + 3000s);

  auto second = credentials->start();
  CHECK(target(resume(*second)) == token_page);
}

TEST_CASE("compute_engine: several scopes are joined by commas, the account is encoded", "[auth]") {
  auto credentials = auth::make_compute_engine_credentials(
                         {.account = "a/b@x", .scopes = "one two", .universe_domain = ""})
                         .value();
  CHECK(target(resume(*credentials->start())) ==
        "/computeMetadata/v1/instance/service-accounts/a%2Fb%40x/token?scopes=one%2Ctwo");
}

TEST_CASE("compute_engine: another universe than the endpoint's is refused", "[auth]") {
  auto credentials = auth::make_compute_engine_credentials().value();
  auto flow = credentials->start();
  static_cast<void>(resume(*flow));
  auto step = resume(*flow, test::reply(200, "tpc.example", true));
  REQUIRE(std::holds_alternative<error>(step));
  CHECK(std::get<error>(step).code() == errc::invalid_argument);
}

TEST_CASE("compute_engine: a server that knows no universe is of the default one", "[auth]") {
  auto credentials = auth::make_compute_engine_credentials().value();
  auto flow = credentials->start();
  static_cast<void>(resume(*flow));
  CHECK(target(resume(*flow, failure(true))) == token_page);
  auto again = credentials->start();
  CHECK(target(resume(*again)) == universe_page);
  CHECK(target(resume(*again, test::reply(404, "", true))) == token_page);
  CHECK(target(resume(*credentials->start())) == token_page);
}

TEST_CASE("compute_engine: five tries for the token, then the error", "[auth]") {
  auto credentials = auth::make_compute_engine_credentials({.universe_domain = ""}).value();
  for (const bool answered : {true, false}) {
    const auto trouble = [&] { return answered ? test::reply(503, "") : failure(true); };
    auto flow = credentials->start();
    for (const auto wait : {1s, 2s, 4s, 8s}) {
      CHECK(target(resume(*flow)) == token_page);
      auto step = resume(*flow, trouble());
      REQUIRE(std::holds_alternative<auth::wait_step>(step));
      CHECK(std::get<auth::wait_step>(step).wait == wait);
    }
    CHECK(target(resume(*flow)) == token_page);
    auto step = resume(*flow, trouble());
    REQUIRE(std::holds_alternative<error>(step));
    CHECK(std::get<error>(step).attempts() == 5);
    CHECK(std::get<error>(step).code() == errc::unavailable);
    CHECK(std::get<error>(step).retryable());
  }
}

TEST_CASE("compute_engine: what is no metadata server is not believed", "[auth]") {
  auto credentials = auth::make_compute_engine_credentials({.universe_domain = ""}).value();
  auto flow = credentials->start();
  static_cast<void>(resume(*flow));
  auto step = resume(*flow, test::reply(200, token_json, false));
  REQUIRE(std::holds_alternative<error>(step));
  CHECK(std::get<error>(step).code() == errc::unauthenticated);
  auto other = credentials->start();
  static_cast<void>(resume(*other));
  step = resume(*other, test::reply(404, "<html>", true));
  REQUIRE(std::holds_alternative<error>(step));
  CHECK(std::get<error>(step).message() ==
        "compute_engine credentials: the metadata server at metadata.google.internal knows no "
        "account \"default\" of this machine");
}

TEST_CASE("compute_engine: a doubtful server is probed first, by address", "[auth]") {
  auto credentials =
      auth::make_compute_engine_credentials(
          {.present = false, .absent_message = "nothing there", .universe_domain = ""})
          .value();
  auto flow = credentials->start();
  auto step = resume(*flow);
  CHECK(target(step) == "/");
  CHECK(host(step) == "http://169.254.169.254:80");
  CHECK(std::get<auth::http_step>(step).timeout == 3s);
  CHECK(std::get<auth::http_step>(step).request.origin->direct);

  SECTION("it is there: the next flow does not probe again") {
    CHECK(target(resume(*flow, test::reply(200, "", true))) == token_page);
    CHECK(target(resume(*credentials->start())) == token_page);
  }
  SECTION("something else answers: no second try") {
    auto end = resume(*flow, test::reply(200, "hotel wifi", false));
    REQUIRE(std::holds_alternative<error>(end));
    CHECK(std::get<error>(end).message() == "nothing there");
    CHECK(target(resume(*credentials->start())) == "/");
  }
  SECTION("nobody answers: three tries") {
    CHECK(std::holds_alternative<auth::wait_step>(resume(*flow, failure(true))));
    CHECK(target(resume(*flow)) == "/");
    CHECK(std::holds_alternative<auth::wait_step>(resume(*flow, failure(true))));
    CHECK(target(resume(*flow)) == "/");
    auto end = resume(*flow, failure(true));
    REQUIRE(std::holds_alternative<error>(end));
    CHECK(std::get<error>(end).code() == errc::unauthenticated);
    CHECK(std::get<error>(end).message() == "nothing there");
    CHECK_FALSE(std::get<error>(end).retryable());
  }
  SECTION("it is there, and busy (mend 13)") {
    CHECK(target(resume(*flow, test::reply(503, "", true))) == token_page);
  }
}

TEST_CASE("compute_engine: a server that may be late is not given up for good (mend 13)",
          "[auth]") {
  auto credentials =
      auth::make_compute_engine_credentials({.present = false, .probe_tries = 1, .may_come = true})
          .value();
  auto end = resume(*credentials->start(), failure(true));
  REQUIRE(std::holds_alternative<error>(end));
  CHECK(std::get<error>(end).retryable());
  end = resume(*credentials->start(), test::reply(200, "hotel wifi", false));
  REQUIRE(std::holds_alternative<error>(end));
  CHECK_FALSE(std::get<error>(end).retryable());
}

TEST_CASE("compute_engine: a host that is none is an error at once", "[auth]") {
  for (const std::string bad : {"", "a b", "x/y", "host:99999", "user@host"}) {
    CHECK_FALSE(auth::make_compute_engine_credentials({.host = bad}));
    CHECK_FALSE(auth::make_compute_engine_credentials({.probe_host = bad}));
  }
  CHECK(auth::make_compute_engine_credentials({.host = "127.0.0.1:8080"}));
}

}  // namespace compute_engine_test
