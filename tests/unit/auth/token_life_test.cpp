#include <dataflux/auth/detail/authorized_user.hpp>
#include <dataflux/auth/detail/service_account.hpp>
#include <dataflux/auth/detail/token_cache.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/service/detail/bearer_signer.hpp>

#include <support/catch.hpp>
#include <support/memory_transport.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "test_key.hpp"

/// The life of a token in virtual time: a clock that is wrong, tokens that are refused, and
/// requests that never wait while one lives.
namespace token_life_test {

using dataflux::result;
using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;
namespace codec = dataflux::detail::codec;
namespace http = dataflux::detail::http;

namespace {

/// The Date of a reply at that time, of 2026-01-02.
std::string date_of(dataflux::system_time when) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[64];
  const std::size_t size = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text, size};
}

std::int64_t claim(std::string_view token, const char* name) {
  const auto jwt = test::verify_jwt(token);
  REQUIRE(jwt);
  const auto claims = codec::json_document::parse(dataflux::as_bytes(jwt->claims));
  REQUIRE(claims);
  return claims->root().find(name).int64().value_or(0);
}

std::string part_of(std::string_view text, std::string_view behind) {
  return std::string(text.substr(text.find(behind) + behind.size()));
}

/// A cache whose machine's clock is wrong by `off`.
struct world {
  explicit world(dataflux::credentials_ptr credentials, dataflux::duration off = {},
                 bool mutual_tls = false)
      : off_(off) {
    auth::token_cache_options options;
    options.wall_clock = [this] {
      return right() + std::chrono::duration_cast<std::chrono::seconds>(off_);
    };
    options.seed = 1;
    options.mutual_tls = mutual_tls;
    cache.emplace(std::move(credentials), net, std::move(options));
  }

  dataflux::system_time right() { return test::some_time() + (time.now() - begin_); }
  std::int64_t right_seconds() {
    return std::chrono::floor<std::chrono::seconds>(right()).time_since_epoch().count();
  }

  std::string fetch() {
    std::string told = "nothing";
    cache->await(time, [&told](result<std::string_view> value) {
      told = value ? std::string{*value} : "error: " + value.error().to_string();
    });
    time.run_for(20s);
    return told;
  }
  std::string look() {
    const auto value = cache->try_get(time.now());
    return value ? std::string{*value} : "none";
  }
  std::size_t asked() const { return net.log().size(); }
  http::memory_reply token(const std::string& value, dataflux::duration delay = 100ms) {
    return {.body = R"({"access_token":")" + value + R"(","expires_in":3600})", .delay = delay};
  }

  dataflux::virtual_scheduler time{};
  std::function<http::memory_reply(const http::memory_request&)> peer{};
  http::memory_transport net{time, [this](const http::memory_request& r) { return peer(r); }};
  std::optional<auth::token_cache> cache{};

 private:
  dataflux::duration off_;
  dataflux::time_point begin_{time.now()};
};

dataflux::credentials_ptr robot(bool exchange) {
  return auth::parse_service_account(test::to_json(test::service_account_file()), "/k.json",
                                     {.exchange = exchange})
      .value();
}

dataflux::credentials_ptr person() {
  return auth::parse_authorized_user(test::to_json(test::authorized_user_file()), "/f").value();
}

}  // namespace

TEST_CASE("token_cache: a clock that is an hour wrong is corrected by the service's refusal",
          "[auth]") {
  for (const auto off : {-1h, 1h}) {
    world w(robot(false), off);
    const std::string wrong = w.fetch();
    CHECK(std::abs(claim(wrong.substr(7), "iat") - w.right_seconds()) > 3000);
    // As a request does whose token is refused.
    w.cache->correct_clock(date_of(w.right()), 100ms);
    w.cache->invalidate(wrong);
    const std::string good = w.fetch();
    const auto issued = claim(good.substr(7), "iat");
    CHECK(w.right_seconds() - issued >= 10);
    CHECK(w.right_seconds() - issued <= 40);
    CHECK(claim(good.substr(7), "exp") - issued == 3600);
    // It is used for as long as the service takes it, and renewed before.
    w.time.run_for(3300s);
    CHECK(w.look() == good);
    w.time.run_for(1s);
    w.time.run_for(80s);
    w.look();
    w.time.run_for(1s);
    CHECK(w.look() != good);
    CHECK(w.look() != "none");
    CHECK(w.asked() == 0);
  }
}

TEST_CASE("token_cache: an endpoint that refuses an assertion by its time is asked once more",
          "[auth]") {
  world w(robot(true), 1h);
  std::vector<std::int64_t> issued;
  w.peer = [&](const http::memory_request& r) {
    issued.push_back(claim(part_of(r.body, "assertion="), "iat"));
    if (std::abs(issued.back() - w.right_seconds()) < 300) return w.token("good");
    return http::memory_reply{.status = 400,
                              .headers = {{"Date", date_of(w.right())}},
                              .body = R"({"error":"invalid_grant"})"};
  };
  CHECK(w.fetch() == "Bearer good");
  CHECK(issued.size() == 2);
  // What it said lasts for as long as it said, whatever this machine's clock says.
  w.time.run_for(3300s);
  CHECK(w.look() == "Bearer good");
  CHECK(w.asked() == 2);
}

TEST_CASE("token_cache: a refusal that does not come of the clock is asked for once", "[auth]") {
  world w(robot(true));
  w.peer = [&](const http::memory_request&) {
    return http::memory_reply{.status = 400,
                              .headers = {{"Date", date_of(w.right())}},
                              .body = R"({"error":"invalid_grant"})"};
  };
  CHECK(w.fetch().find("the key may have been deleted") != std::string::npos);
  CHECK(w.asked() == 1);
  // Nor is one whose endpoint goes on refusing.
  world wrong(robot(true), 1h);
  wrong.peer = [&](const http::memory_request&) {
    return http::memory_reply{.status = 401,
                              .headers = {{"Date", date_of(wrong.right())}},
                              .body = R"({"error":"invalid_client"})"};
  };
  CHECK(wrong.fetch().starts_with("error: unauthenticated"));
  CHECK(wrong.asked() == 2);
  wrong.time.run_for(2s);
  CHECK(wrong.fetch().starts_with("error: unauthenticated"));
  CHECK(wrong.asked() == 3);
}

TEST_CASE("token_cache: a token that comes again although it was refused is no reason to ask again",
          "[auth]") {
  world w(person());
  w.peer = [&](const http::memory_request&) { return w.token("same"); };
  CHECK(w.fetch() == "Bearer same");
  // 64 requests are under way with it, and hear of its refusal one after the other.
  for (int i = 0; i < 64; ++i) {
    w.cache->invalidate("Bearer same");
    if (w.look() == "none") w.cache->await(w.time, [](result<std::string_view>) {});
    w.time.run_for(10ms);
  }
  CHECK(w.asked() == 2);
  CHECK(w.look() == "Bearer same");
  // Later it may be another one that is wanted.
  w.time.run_for(1s);
  w.peer = [&](const http::memory_request&) { return w.token("other"); };
  w.cache->invalidate("Bearer same");
  CHECK(w.fetch() == "Bearer other");
  CHECK(w.asked() == 3);
}

TEST_CASE("token_cache: no request waits for 20 refreshes, however slow the endpoint is",
          "[auth]") {
  world w(person());
  int given = 0;
  int failing = 0;
  w.peer = [&](const http::memory_request&) -> http::memory_reply {
    // Each time it is down for a while before it answers, after 25 s.
    if (++failing % 3 != 0) return {.status = 503, .delay = 5s};
    return w.token("t" + std::to_string(++given), 25s);
  };
  w.fetch();
  w.time.run_for(60s);
  REQUIRE(w.look() != "none");
  std::int64_t looks = 0;
  std::int64_t waits = 0;
  while (given < 21) {
    ++looks;
    waits += w.look() == "none" ? 1 : 0;
    w.time.run_for(1s);
  }
  CHECK(looks > 60'000);
  CHECK(waits == 0);
}

TEST_CASE("token_cache: an endpoint that is down costs nothing until the token's true end",
          "[auth]") {
  world w(person());
  bool down = false;
  w.peer = [&](const http::memory_request&) -> http::memory_reply {
    if (down) return {.failure = http::transport_failure::reset};
    return w.token("t", 0ms);
  };
  const auto from = w.time.now();
  CHECK(w.fetch() == "Bearer t");
  down = true;
  while (w.time.now() - from < 3590s - 1s) {
    REQUIRE(w.look() == "Bearer t");
    w.time.run_for(500ms);
  }
  w.time.run_until(from + 3590s);
  CHECK(w.look() == "none");
  const std::string failed = w.fetch();
  CHECK(failed.starts_with("error: unavailable"));
}

TEST_CASE("token_cache: with mutual TLS the endpoints that ask for a certificate are asked",
          "[auth]") {
  for (const bool mutual : {false, true}) {
    world w(person(), {}, mutual);
    w.peer = [&](const http::memory_request&) { return w.token("t"); };
    CHECK(w.fetch() == "Bearer t");
    REQUIRE(w.asked() == 1);
    CHECK(w.net.log()[0].origin.host ==
          (mutual ? "oauth2.mtls.googleapis.com" : "oauth2.googleapis.com"));
  }
}

TEST_CASE("bearer_signer: a refusal's Date corrects the clock before the next token is signed",
          "[auth]") {
  dataflux::virtual_scheduler time;
  http::memory_transport net{time,
                             [](const http::memory_request&) { return http::memory_reply{}; }};
  auth::token_cache_options options;
  options.wall_clock = [] { return test::some_time(); };
  dataflux::detail::service::bearer_signer signer(robot(false), net, std::move(options));
  const auto token = [&] {
    std::string told;
    signer.await(time, [&told](result<dataflux::detail::service::credential_view> given) {
      if (given) told = std::string(given->secret);
    });
    time.run_for(1s);
    return told;
  };
  const std::string wrong = token();
  const std::string date = date_of(test::some_time() + 2h);
  CHECK(signer.refused({wrong, 0}, {.status = 401, .reason = {}, .date = date, .age = 1s}));
  const std::string good = token();
  CHECK(claim(good.substr(7), "iat") - claim(wrong.substr(7), "iat") >= 7198);
}

}  // namespace token_life_test
