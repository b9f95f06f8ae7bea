#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/aws_sources.hpp>
#include <dataflux/auth/detail/service_account.hpp>
#include <dataflux/auth/detail/token_cache.hpp>
#include <dataflux/codec/timestamp.hpp>

#include <support/catch.hpp>
#include <support/memory_transport.hpp>

#include <functional>
#include <optional>

#include "scripted_environment.hpp"
#include "test_key.hpp"

namespace keys_cache_test {

using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;
namespace http = dataflux::detail::http;
using dataflux::errc;
using dataflux::error;
using dataflux::result;

namespace {

/// A client's cache in virtual time; a container's endpoint gives keys "K1", "K2", ...
struct world {
  explicit world(std::optional<dataflux::credentials_ptr> given = {}, bool keys = true) {
    auth::token_cache_options options;
    options.wall_clock = [this] { return today(); };
    options.seed = 1;
    options.keys = keys;
    cache.emplace(given ? *given : container, net, std::move(options));
  }
  dataflux::system_time today() { return test::some_time() + (time.now() - begin); }

  std::string fetch() {
    std::string told = "nothing";
    cache->await(time, [&](result<std::string_view> outcome) {
      told = outcome ? std::string{*outcome} : "error: " + outcome.error().message();
    });
    time.run_for(5s);
    return told;
  }
  std::string look() {
    const dataflux::access_keys* const keys = cache->try_keys(time.now());
    return keys == nullptr ? "none" : keys->id + "/" + keys->session_token;
  }

  dataflux::duration life = 1h;
  std::function<http::memory_reply()> peer = [this] {
    ++issued;
    const auto end = std::chrono::floor<std::chrono::seconds>(today() + life);
    return http::memory_reply{.body = "{\"AccessKeyId\":\"K" + std::to_string(issued) +
                                      "\",\"SecretAccessKey\":\"S\",\"Token\":\"T" +
                                      std::to_string(issued) + "\",\"Expiration\":\"" +
                                      dataflux::to_string(end) + "\"}"};
  };
  test::scripted_environment machine{};
  dataflux::credentials_ptr container = auth::make_container_keys(
      {.kind = "aws_container"}, {.endpoint = http::parse_url("http://127.0.0.1/x").value()},
      machine);
  int issued{0};
  dataflux::virtual_scheduler time{};
  dataflux::time_point begin{time.now()};
  http::memory_transport net{time, [this](const http::memory_request&) { return peer(); }};
  std::optional<auth::token_cache> cache{};
};

}  // namespace

TEST_CASE("token_cache: keys are kept, and renewed 15 minutes before their end", "[auth]") {
  world w;
  CHECK(w.look() == "none");
  CHECK(w.fetch() == "K1");
  CHECK(w.look() == "K1/T1");
  w.time.run_until(w.begin + 45min - 5s);
  CHECK(w.look() == "K1/T1");
  CHECK(w.issued == 1);
  w.time.run_until(w.begin + 46min + 5s);
  CHECK(w.look() == "K1/T1");
  w.time.run_for(1s);
  CHECK(w.look() == "K2/T2");
}

TEST_CASE("token_cache: keys with a short life are renewed in its last quarter", "[auth]") {
  world w;
  w.life = 15min;
  CHECK(w.fetch() == "K1");
  w.time.run_until(w.begin + 11min);
  CHECK(w.look() == "K1/T1");
  CHECK(w.issued == 1);
  w.time.run_until(w.begin + 12min + 20s);
  CHECK(w.look() == "K1/T1");
  w.time.run_for(1s);
  CHECK(w.look() == "K2/T2");
}

TEST_CASE("token_cache: while keys cannot be renewed the old ones serve to their end", "[auth]") {
  world w;
  CHECK(w.fetch() == "K1");
  const auto good = w.peer;
  w.peer = [] { return http::memory_reply{.status = 500}; };
  w.time.run_until(w.begin + 50min);
  while (w.time.now() < w.begin + 1h - 11s) {
    CHECK(w.look() == "K1/T1");
    w.time.run_for(10s);
  }
  w.time.run_until(w.begin + 1h);
  CHECK(w.look() == "none");
  CHECK(w.fetch().starts_with("error: aws_container credentials: "));
  w.time.run_for(2s);
  w.peer = good;
  CHECK(w.fetch() == "K2");
}

TEST_CASE("token_cache: refused keys are renewed, those without an end as well", "[auth]") {
  world w;
  CHECK(w.fetch() == "K1");
  w.cache->invalidate("K0");
  CHECK(w.look() == "K1/T1");
  w.cache->invalidate("K1");
  CHECK(w.look() == "none");
  CHECK(w.fetch() == "K2");

  world given{dataflux::make_aws_keys({.id = "A", .secret = "S"}).value()};
  CHECK(given.fetch() == "A");
  given.time.run_for(std::chrono::hours(24 * 365));
  CHECK(given.look() == "A/");
  given.cache->invalidate("A");
  CHECK(given.fetch() == "A");
}

TEST_CASE("token_cache: anonymous keys have no id", "[auth]") {
  world w{dataflux::make_anonymous_credentials()};
  CHECK(w.look() == "/");
  CHECK(w.fetch().empty());
}

TEST_CASE("token_cache: tokens where keys are wanted are refused, and keys for tokens", "[auth]") {
  const auto robot =
      auth::parse_service_account(test::to_json(test::service_account_file()), "/f").value();
  CHECK(world{robot}.fetch() ==
        "error: service_account credentials from /f give access tokens, and this service takes "
        "keys of AWS");
  CHECK(world{std::nullopt, false}.fetch() ==
        "error: aws_container credentials are keys of AWS, and this service takes access tokens");
}

}  // namespace keys_cache_test
