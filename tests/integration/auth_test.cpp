#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/authorized_user.hpp>
#include <dataflux/auth/detail/compute_engine.hpp>
#include <dataflux/auth/detail/service_account.hpp>
#include <dataflux/auth/detail/token_cache.hpp>
#include <dataflux/http/curl_transport.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/flag.hpp>

#include <memory>

namespace auth_test {

using dataflux::result;
namespace auth = dataflux::detail::auth;
namespace http = dataflux::detail::http;

namespace {

/// Waits for the cache's answer on a real transport: the token alone, or "error: ...".
std::string fetch(auth::token_cache& cache, http::transport& net) {
  std::string answer;
  flag told;
  cache.await(net.next_executor(), [&](result<std::string_view> value) {
    answer = value ? std::string{*value} : "error: " + value.error().to_string();
    told.raise();
  });
  told.wait();
  return answer.starts_with("Bearer ") ? answer.substr(7) : answer;
}

struct fixture {
  emulator::server server{};
  std::shared_ptr<dataflux::curl_transport> net =
      dataflux::curl_transport::create({.io_threads = 1}).value();

  /// The emulator's own account, of the given kind.
  dataflux::credentials_ptr robot(bool exchange) {
    return auth::parse_service_account(server.service_account_json(), "robot.json",
                                       {.exchange = exchange})
        .value();
  }
  std::string authority() { return server.endpoint().substr(server.endpoint().find("//") + 2); }
};

}  // namespace

TEST_CASE("auth: every kind of credentials gets a token that the service accepts",
          "[integration]") {
  fixture f;
  const auto accepted = [&](dataflux::credentials_ptr credentials) {
    auth::token_cache cache(std::move(credentials), *f.net);
    const std::string token = fetch(cache, *f.net);
    INFO(token);
    CHECK(f.server.tokens().accepts(token));
    CHECK(cache.try_get(f.net->next_executor().now()) == "Bearer " + token);
  };
  SECTION("service_account, self-signed") { accepted(f.robot(false)); }
  SECTION("service_account, exchanged") { accepted(f.robot(true)); }
  SECTION("authorized_user") {
    std::string json = f.server.tokens().authorized_user_json();
    json.insert(json.rfind('}'), ",\"token_uri\":\"" + f.server.endpoint() + "/token\"");
    accepted(auth::parse_authorized_user(json, "person.json").value());
  }
  SECTION("compute_engine") {
    accepted(auth::make_compute_engine_credentials({.host = f.authority()}).value());
  }
  SECTION("compute_engine, probed first") {
    accepted(auth::make_compute_engine_credentials(
                 {.host = f.authority(), .present = false, .probe_host = f.authority()})
                 .value());
  }
}

TEST_CASE("auth: a revoked token is replaced by a good one", "[integration]") {
  fixture f;
  auth::token_cache cache(f.robot(true), *f.net);
  const std::string first = fetch(cache, *f.net);
  CHECK(f.server.tokens().accepts(first));
  f.server.tokens().revoke_all();
  CHECK_FALSE(f.server.tokens().accepts(first));
  cache.invalidate("Bearer " + first);
  const std::string second = fetch(cache, *f.net);
  CHECK(second != first);
  CHECK(f.server.tokens().accepts(second));
}

TEST_CASE("auth: a key that the service does not know is refused with its reason",
          "[integration]") {
  fixture f;
  std::string json = f.server.service_account_json();
  const std::string known = "\"emulator-key\"";
  json.replace(json.find(known), known.size(), "\"other-key\"");
  auth::token_cache cache(
      auth::parse_service_account(json, "robot.json", {.exchange = true}).value(), *f.net);
  const std::string answer = fetch(cache, *f.net);
  INFO(answer);
  CHECK(answer.starts_with("error: unauthenticated: service_account credentials from robot.json"));
  CHECK(answer.find("Invalid JWT: unknown kid") != std::string::npos);
}

TEST_CASE("auth: destruction while a refresh is under way ends at once", "[integration]") {
  fixture f;
  std::string answer;
  flag told;
  {
    // Nothing listens at the discard port: connecting fails, and the flow waits for its next try.
    auth::token_cache cache(auth::make_compute_engine_credentials({.host = "127.0.0.1:9"}).value(),
                            *f.net);
    cache.await(f.net->next_executor(), [&](result<std::string_view> value) {
      answer = value ? "token" : std::string{to_string(value.error().code())};
      told.raise();
    });
  }
  told.wait();
  CHECK(answer == "cancelled");
}

}  // namespace auth_test
