#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/authorized_user.hpp>
#include <dataflux/auth/detail/token_cache.hpp>

#include <support/catch.hpp>
#include <support/memory_transport.hpp>

#include <functional>
#include <optional>

#include "test_key.hpp"

namespace token_cache_test {

using dataflux::errc;
using dataflux::error;
using dataflux::result;
using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;
namespace http = dataflux::detail::http;

namespace {

/// One client's cache in virtual time; the token endpoint counts its answers: "t1", "t2", ...
class world {
 public:
  explicit world(dataflux::credentials_ptr credentials = person()) {
    auth::token_cache_options options;
    options.wall_clock = [this] { return today(); };
    options.seed = 1;
    options.observer = &log;
    cache.emplace(std::move(credentials), net, std::move(options));
  }

  static dataflux::credentials_ptr person() {
    return auth::parse_authorized_user(test::to_json(test::authorized_user_file()), "/f").value();
  }

  /// What a caller that waits is told, once it is told.
  struct answer {
    std::string value{};
    std::optional<error> failure{};
    int times{0};
  };
  auth::authorization_wait await(answer& into) {
    return cache->await(time, [&into](result<std::string_view> outcome) {
      ++into.times;
      if (outcome) {
        into.value = *outcome;
      } else {
        into.failure = outcome.error();
      }
    });
  }
  /// Waits for a token in virtual time, for at most the time that all retries take.
  std::string fetch() {
    answer told;
    await(told);
    time.run_for(20s);
    REQUIRE(told.times == 1);
    return told.failure ? "error: " + told.failure->message() : told.value;
  }
  std::string look() {
    const auto value = cache->try_get(time.now());
    return value ? std::string{*value} : "none";
  }
  std::size_t asked() const { return net.log().size(); }
  dataflux::system_time today() { return test::some_time() + (time.now() - begin_); }

  std::function<http::memory_reply()> peer = [this] { return token(3600); };
  http::memory_reply token(int seconds, dataflux::duration delay = 100ms) {
    return {.body = "{\"access_token\":\"t" + std::to_string(++issued_) +
                    "\",\"expires_in\":" + std::to_string(seconds) + "}",
            .delay = delay};
  }

  struct listener final : dataflux::observer {
    void on_log(dataflux::log_level level, std::string_view line) noexcept override {
      if (level == dataflux::log_level::warning) lines.emplace_back(line);
    }
    std::vector<std::string> lines{};
  };

  listener log{};
  dataflux::virtual_scheduler time{};
  http::memory_transport net{time, [this](const http::memory_request&) { return peer(); }};
  std::optional<auth::token_cache> cache{};

 private:
  dataflux::time_point begin_{time.now()};
  int issued_{0};
};

}  // namespace

TEST_CASE("token_cache: the first call waits, the others look", "[auth]") {
  world w;
  CHECK(w.look() == "none");
  CHECK(w.asked() == 0);
  CHECK(w.fetch() == "Bearer t1");
  CHECK(w.look() == "Bearer t1");
  CHECK(w.fetch() == "Bearer t1");
  CHECK(w.asked() == 1);
  CHECK(w.net.log()[0].body.starts_with("grant_type=refresh_token&"));
}

TEST_CASE("token_cache: the current token is given with its end, and asked for where there is none",
          "[auth]") {
  world w;
  CHECK_FALSE(w.cache->current(w.time.now()));
  w.time.run_for(1s);
  CHECK(w.asked() == 1);
  const auto token = w.cache->current(w.time.now());
  REQUIRE(token);
  CHECK(token->value == "t1");
  CHECK(token->expires - w.today() == 3600s - 900ms);
  // Another process's is as good.
  REQUIRE(w.cache->set_token({"other", w.today() + 1h}));
  CHECK(w.cache->current(w.time.now())->value == "other");
  CHECK(w.asked() == 1);
  w.time.run_for(1h - 5s);
  CHECK(w.cache->current(w.time.now()) == std::nullopt);
}

TEST_CASE("token_cache: a handler never runs inside await", "[auth]") {
  world w;
  CHECK(w.fetch() == "Bearer t1");
  world::answer told;
  CHECK(w.await(told) == auth::authorization_wait::none);
  CHECK(told.times == 0);
  w.time.run_for(0s);
  CHECK(told.value == "Bearer t1");
}

TEST_CASE("token_cache: 64 calls that wait share one request", "[auth]") {
  world w;
  std::vector<world::answer> told(64);
  for (std::size_t i = 0; i < told.size(); ++i) {
    w.await(told[i]);
    if (i % 8 == 0) w.time.run_for(1ms);
  }
  w.time.run_for(1s);
  CHECK(w.asked() == 1);
  for (const auto& one : told) {
    CHECK(one.times == 1);
    CHECK(one.value == "Bearer t1");
  }
}

TEST_CASE("token_cache: stale 225 s before the end plus jitter, one refresh behind the scenes",
          "[auth]") {
  world w;
  const auto got = w.time.now() + 100ms;
  CHECK(w.fetch() == "Bearer t1");
  w.time.run_until(got + 3600s - 226s);
  CHECK(w.look() == "Bearer t1");
  w.time.run_for(500ms);
  CHECK(w.asked() == 1);
  w.time.run_until(got + 3600s - 225s + 60s);
  for (int i = 0; i < 10; ++i) CHECK(w.look() == "Bearer t1");
  w.time.run_for(50ms);
  for (int i = 0; i < 10; ++i) CHECK(w.look() == "Bearer t1");
  CHECK(w.asked() == 2);
  w.time.run_for(50ms);
  CHECK(w.look() == "Bearer t2");
  CHECK(w.asked() == 2);
}

TEST_CASE("token_cache: gone 10 s before the end, and calls wait", "[auth]") {
  world w;
  const auto end = w.time.now() + 100ms + 3600s;
  CHECK(w.fetch() == "Bearer t1");
  w.peer = [&w] { return w.token(3600, 5s); };
  w.time.run_until(end - 10s - 1ns);
  CHECK(w.look() == "Bearer t1");
  w.time.run_until(end - 10s);
  world::answer told;
  CHECK(w.look() == "none");
  CHECK(w.await(told) != auth::authorization_wait::none);
  w.time.run_for(4s);
  CHECK(told.times == 0);
  w.time.run_for(1s);
  CHECK(told.value == "Bearer t2");
  CHECK(w.asked() == 2);
}

TEST_CASE("token_cache: a token that is stale on arrival is not asked for in a loop", "[auth]") {
  world w;
  w.peer = [&w] { return w.token(200, 0s); };
  CHECK(w.fetch() == "Bearer t1");  // 20 s pass
  for (int i = 0; i < 50; ++i) {
    w.look();
    w.time.run_for(1s);
  }
  CHECK(w.asked() <= 7);
  CHECK(w.asked() >= 3);
}

TEST_CASE("token_cache: a failed refresh keeps the old token and backs off", "[auth]") {
  world w;
  const auto end = w.time.now() + 100ms + 3600s;
  CHECK(w.fetch() == "Bearer t1");
  std::vector<long> at;
  w.peer = [&]() -> http::memory_reply {
    at.push_back(static_cast<long>((w.time.now() - (end - 225s)) / 1s));
    return {.status = 401, .body = R"({"error":"invalid_client"})"};
  };
  w.time.run_until(end - 225s + 60s);
  at.clear();
  while (w.time.now() < end - 10s - 100ms) {
    CHECK(w.look() == "Bearer t1");
    w.time.run_for(100ms);
  }
  CHECK(at == std::vector<long>{60, 70, 90, 130, 190});
  CHECK(w.log.lines.size() == 5);
  CHECK(w.log.lines[0] ==
        "no fresh token: unauthenticated: authorized_user credentials from /f: refused by "
        "oauth2.googleapis.com: invalid_client (HTTP 401, reason invalid_client, attempts 1)");
  w.time.run_until(end - 10s);
  CHECK(w.look() == "none");
  CHECK(w.fetch() ==
        "error: authorized_user credentials from /f: refused by oauth2.googleapis.com: "
        "invalid_client");
}

TEST_CASE("token_cache: waiting calls get the error, as does who asks within a second", "[auth]") {
  world w;
  w.peer = [] { return http::memory_reply{.status = 403, .body = "no"}; };
  world::answer first;
  world::answer second;
  w.await(first);
  w.await(second);
  w.time.run_for(1ms);
  REQUIRE(first.failure);
  REQUIRE(second.failure);
  CHECK(first.failure->code() == errc::unauthenticated);
  CHECK(w.asked() == 1);
  world::answer third;
  w.await(third);
  w.time.run_for(1ms);
  REQUIRE(third.failure);
  CHECK(w.asked() == 1);
  w.time.run_for(1s);
  w.peer = [&w] { return w.token(3600); };
  CHECK(w.fetch() == "Bearer t1");
}

TEST_CASE("token_cache: a busy endpoint is retried by the flow", "[auth]") {
  world w;
  int tries = 0;
  w.peer = [&]() -> http::memory_reply {
    if (++tries == 1) return {.failure = http::transport_failure::reset};
    if (tries == 2) return {.status = 503};
    return w.token(3600);
  };
  CHECK(w.fetch() == "Bearer t1");
  CHECK(w.asked() == 3);
  CHECK(w.net.log()[1].submitted - w.net.log()[0].submitted >= 900ms);
  CHECK(w.net.log()[1].submitted - w.net.log()[0].submitted <= 1100ms);
  CHECK(w.net.log()[2].submitted - w.net.log()[1].submitted >= 1800ms);
  CHECK(w.net.log()[2].submitted - w.net.log()[1].submitted <= 2200ms);
}

TEST_CASE("token_cache: an endpoint that does not answer in time is tried again", "[auth]") {
  world w;
  w.peer = [&] { return w.asked() == 1 ? w.token(3600, 1h) : w.token(3600); };
  world::answer told;
  w.await(told);
  w.time.run_for(40s);
  CHECK(told.value == "Bearer t2");
  CHECK(w.net.log()[1].submitted - w.net.log()[0].submitted >= 30s);
}

TEST_CASE("token_cache: a reply without an end is cut off", "[auth]") {
  world w;
  w.peer = [] { return http::memory_reply{.body = std::string(2U << 20U, ' ')}; };
  CHECK(w.fetch().find("is longer than the limit of 1048576") != std::string::npos);
}

TEST_CASE("token_cache: a refused token is forgotten only while it is the current one", "[auth]") {
  world w;
  CHECK(w.fetch() == "Bearer t1");
  w.cache->invalidate("Bearer other");
  w.cache->invalidate("");
  CHECK(w.look() == "Bearer t1");
  w.cache->invalidate("Bearer t1");
  CHECK(w.look() == "none");
  CHECK(w.fetch() == "Bearer t2");
  w.cache->invalidate("Bearer t1");
  CHECK(w.look() == "Bearer t2");
  CHECK(w.asked() == 2);
}

TEST_CASE("token_cache: a wait can be given up", "[auth]") {
  world w;
  world::answer told;
  world::answer other;
  const auto wait = w.await(told);
  w.await(other);
  CHECK(w.cache->cancel(wait));
  CHECK_FALSE(w.cache->cancel(wait));
  CHECK_FALSE(w.cache->cancel(auth::authorization_wait::none));
  w.time.run_for(1s);
  CHECK(told.times == 0);
  CHECK(other.value == "Bearer t1");
}

TEST_CASE("token_cache: destruction ends all waits, at any point of a refresh", "[auth]") {
  // Before the request, while it is under way, and between two tries.
  for (const auto when : {0ms, 50ms, 600ms}) {
    world w;
    w.peer = [] { return http::memory_reply{.status = 503, .delay = 100ms}; };
    std::vector<world::answer> told(3);
    for (auto& one : told) w.await(one);
    if (when > 0ms) w.time.run_for(when);
    w.cache.reset();
    w.time.run();
    for (const auto& one : told) {
      CHECK(one.times == 1);
      REQUIRE(one.failure);
      CHECK(one.failure->code() == errc::cancelled);
    }
    CHECK(w.net.in_flight() == 0);
    CHECK(w.asked() == (when > 0ms ? 1 : 0));
    CHECK(w.time.pending() == 0);
  }
}

TEST_CASE("token_cache: anonymous is always ready, and empty", "[auth]") {
  world w{dataflux::make_anonymous_credentials()};
  CHECK(w.look().empty());
  CHECK(w.fetch().empty());
  w.cache->invalidate("");
  w.time.run_for(100h);
  CHECK(w.look().empty());
  CHECK(w.asked() == 0);
}

TEST_CASE("token_cache: the application may set tokens, with credentials or without", "[auth]") {
  world w{nullptr};
  CHECK(w.fetch() == "error: the application has set no token, or one that is no longer good");
  world::answer told;
  w.time.run_for(2s);
  CHECK_FALSE(w.cache->set_token({"", dataflux::system_time::max()}));
  CHECK_FALSE(w.cache->set_token({"a\r\nb", dataflux::system_time::max()}));
  CHECK_FALSE(w.cache->set_token({"old", test::some_time()}));
  CHECK(w.look() == "none");
  REQUIRE(w.cache->set_token({"mine", dataflux::system_time::max()}));
  w.time.run_for(1000h);
  CHECK(w.look() == "Bearer mine");
  REQUIRE(w.cache->set_token({"short", test::some_time() + 1001h}));
  CHECK(w.look() == "Bearer short");
  w.time.run_for(1h);
  CHECK(w.look() == "none");
  CHECK(w.fetch().starts_with("error: "));
  CHECK(w.asked() == 0);

  world full;
  world::answer waiting;
  full.await(waiting);
  REQUIRE(full.cache->set_token({"mine", test::some_time() + 1h}));
  full.time.run_for(0s);
  CHECK(waiting.value == "Bearer mine");
}

TEST_CASE("token_cache: set tokens are asked for in time, and calls wait for them", "[auth]") {
  int asked = 0;
  world w(dataflux::make_set_tokens([&asked] { ++asked; }));
  const auto set = [&w](const char* value, dataflux::duration lasts) {
    return w.cache->set_token({value, w.today() + lasts});
  };
  CHECK(w.look() == "none");
  world::answer first;
  w.await(first);
  w.time.run_for(5s);
  CHECK(asked == 1);
  CHECK(first.times == 0);
  REQUIRE(set("t1", 3600s));
  w.time.run_for(0s);
  CHECK(first.value == "Bearer t1");
  // Used all the time: asked for once, in time, and good until the end.
  const auto begin = w.time.now();
  while (w.time.now() - begin < 3500s) {
    CHECK(w.look() == "Bearer t1");
    w.time.run_for(10s);
  }
  CHECK(asked >= 2);
  REQUIRE(set("t2", 3600s));
  CHECK(w.look() == "Bearer t2");
  w.time.run_for(100s);
  CHECK(w.look() == "Bearer t2");
  // Nothing hangs on: a new one is asked for, when its time has come.
  const int before = asked;
  w.time.run_for(3600s - 100s - 60s);
  CHECK(w.look() == "Bearer t2");
  w.time.run_for(0s);
  CHECK(asked == before + 1);
}

TEST_CASE("token_cache: who waits when a token ends that was set is not forgotten", "[auth]") {
  int asked = 0;
  world w(dataflux::make_set_tokens([&asked] { ++asked; }));
  world::answer first;
  w.await(first);
  w.time.run_for(1s);
  // So short that calls do not take it: whoever asks then waits for the next one.
  REQUIRE(w.cache->set_token({"short", w.today() + 5s}));
  world::answer second;
  w.await(second);
  w.time.run_for(1s);
  CHECK(first.times == 1);
  CHECK(second.times == 0);
  CHECK(asked == 2);
  REQUIRE(w.cache->set_token({"t2", w.today() + 1h}));
  w.time.run_for(0s);
  CHECK(second.value == "Bearer t2");
}

TEST_CASE("token_cache: a token that nobody sets is an error after the limit", "[auth]") {
  int asked = 0;
  world w(dataflux::make_set_tokens([&asked] { ++asked; }, 7s));
  world::answer told;
  w.await(told);
  w.time.run_for(6900ms);
  CHECK(told.times == 0);
  w.time.run_for(200ms);
  REQUIRE(told.failure);
  CHECK(told.failure->code() == errc::unauthenticated);
  CHECK_FALSE(told.failure->retryable());  // the limit is of the whole call
  CHECK(told.failure->message().find("within 7 s") != std::string::npos);
  CHECK(asked == 1);
  w.time.run_for(2s);
  world::answer again;
  w.await(again);
  w.time.run_for(0s);
  CHECK(asked == 2);
}

TEST_CASE("token_cache: who waits for a token that cannot be had is told so at once", "[auth]") {
  int asked = 0;
  world w(dataflux::make_set_tokens([&asked] { ++asked; }));
  world::answer first;
  world::answer second;
  w.await(first);
  w.time.run_for(1s);
  w.await(second);
  const error why{errc::unauthenticated, "the vault is closed"};
  REQUIRE(w.cache->fail_token(why));
  w.time.run_for(0s);
  for (const world::answer* told : {&first, &second}) {
    REQUIRE(told->failure);
    CHECK(told->failure->code() == errc::unauthenticated);
    CHECK(told->failure->message() == "the vault is closed");
    CHECK_FALSE(told->failure->retryable());
  }
  // Within a second nobody asks again; then somebody does, and a token heals.
  world::answer soon;
  w.await(soon);
  w.time.run_for(0s);
  CHECK(soon.failure);
  CHECK(asked == 1);
  w.time.run_for(1100ms);
  world::answer later;
  w.await(later);
  w.time.run_for(0s);
  CHECK(later.times == 0);
  CHECK(asked == 2);
  REQUIRE(w.cache->set_token({"t1", dataflux::system_time::max()}));
  w.time.run_for(0s);
  CHECK(later.value == "Bearer t1");
  w.time.run_for(100s);
  CHECK(later.times == 1);
}

TEST_CASE("token_cache: a good token stays where the next one cannot be had", "[auth]") {
  int asked = 0;
  world w(dataflux::make_set_tokens([&asked] { ++asked; }));
  REQUIRE(w.cache->set_token({"t1", w.today() + 1h}));
  w.time.run_for(3600s - 120s);
  CHECK(w.look() == "Bearer t1");
  w.time.run_for(0s);
  CHECK(asked == 1);
  // It is asked for again 10 s after the failure, not at each look.
  REQUIRE(w.cache->fail_token({errc::unavailable, "no answer"}));
  for (const int expected : {1, 2}) {
    w.time.run_for(0s);
    CHECK(w.look() == "Bearer t1");
    w.time.run_for(0s);
    CHECK(asked == expected);
    w.time.run_for(10s);
  }
  // Whose credentials ask by themselves has nothing to fail.
  world own;
  const auto refused = own.cache->fail_token({errc::unavailable, "no answer"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::failed_precondition);
  CHECK(own.fetch() == "Bearer t1");
}

TEST_CASE("token_cache: a token may be set where it is asked for, and after it was refused",
          "[auth]") {
  world* here = nullptr;
  int asked = 0;
  world w(dataflux::make_set_tokens([&] {
    const auto value = "t" + std::to_string(++asked);
    CHECK(here->cache->set_token({value, test::some_time() + 1000h}));
  }));
  here = &w;
  CHECK_FALSE(w.cache->is_current("Bearer t1"));
  CHECK(w.fetch() == "Bearer t1");
  CHECK(w.cache->is_current("Bearer t1"));
  CHECK_FALSE(w.cache->is_current("Bearer t2"));
  w.cache->invalidate("Bearer t1");
  CHECK_FALSE(w.cache->is_current("Bearer t1"));
  CHECK(w.cache->renewable("Bearer t1"));
  CHECK(w.look() == "none");
  CHECK(w.fetch() == "Bearer t2");
  CHECK(asked == 2);
}

}  // namespace token_cache_test
