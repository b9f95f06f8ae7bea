#include <support/catch.hpp>
#include <unit/service/toy_service.hpp>

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

namespace signer_test {

namespace {

using namespace std::chrono_literals;
namespace http = dataflux::detail::http;
using dataflux::as_bytes;
using dataflux::errc;
using http::memory_reply;
using http::memory_request;
using toy_service::fixture;

constexpr std::string_view data{"some bytes"};

std::string field(const memory_request& r, std::string_view name) {
  return std::string(r.headers.find(name).value_or("none"));
}

}  // namespace

TEST_CASE("signer: sees each attempt as it goes out, with all of its fields", "[service]") {
  fixture f;
  f.answer = [&](const auto&) {
    return memory_reply{.status = f.net->log().size() < 2 ? 503 : 200};
  };
  REQUIRE(
      f.run<toy_service::insert_verb>({.bucket = "bkt", .object = "o", .data = as_bytes(data)}));
  REQUIRE(f.who->sights.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& seen = f.who->sights[i];
    CHECK(seen.method == "PUT");
    CHECK(seen.target == "/bkt/o");
    CHECK(seen.fields.find("Content-Type: text/plain\r\nUser-Agent: dataflux/") == 0);
    CHECK(seen.fields.ends_with("x-toy: 1\r\n"));
    CHECK(seen.body == data.size());
    CHECK(seen.digest == "digest of 10");
    CHECK(seen.number == 1);
    CHECK(seen.when == f.net->log()[i].submitted);
    CHECK(field(f.net->log()[i], "x-signed-at") != "none");
  }
  CHECK(f.who->sights[0].when < f.who->sights[1].when);
}

TEST_CASE("signer: what waits in line is signed when its turn has come", "[service]") {
  fixture f;
  f.answer = [&](const auto&) {
    return memory_reply{.status = f.net->log().size() < 4 ? 429 : 200};
  };
  REQUIRE(f.stat());
  REQUIRE(f.who->sights.size() == 4);
  CHECK(f.who->sights.back().when > f.who->sights.front().when);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(f.who->sights[i].when == f.net->log()[i].submitted);
  }
}

TEST_CASE("signer: a call that waits for a credential holds no connection", "[service]") {
  fixture f;
  f.who->ready = false;
  const auto got = f.start<toy_service::stat_verb>({.bucket = "bkt", .object = "o"});
  f.time.run();
  CHECK_FALSE(*got);
  CHECK(f.net->log().empty());
  REQUIRE(f.who->waiting.size() == 1);
  f.who->give(dataflux::detail::service::credential_view{"key-7", 7});
  f.time.run();
  REQUIRE(*got);
  REQUIRE(**got);
  CHECK((**got)->etag == "tag");
  CHECK(f.who->sights.at(0).number == 7);
}

TEST_CASE("signer: who waits for a credential may be stopped, and hears of a failure",
          "[service]") {
  fixture f;
  f.who->ready = false;
  std::stop_source stop;
  const auto stopped = f.start<toy_service::stat_verb>(
      {.bucket = "bkt", .object = "o", .limits = {.stop = stop.get_token()}});
  f.time.run();
  stop.request_stop();
  f.time.run();
  CHECK(stopped->value().error().code() == errc::cancelled);
  CHECK(f.who->cancelled == 1);

  const auto late =
      f.start<toy_service::stat_verb>({.bucket = "bkt", .object = "o", .limits = {.timeout = 5s}});
  f.time.run();
  CHECK(late->value().error().code() == errc::deadline_exceeded);
  CHECK(f.who->cancelled == 2);

  const auto none = f.start<toy_service::stat_verb>({.bucket = "bkt", .object = "o"});
  f.time.run();
  f.who->give(dataflux::error(errc::unauthenticated, "nobody is logged in"));
  f.time.run();
  CHECK(none->value().error().code() == errc::unauthenticated);
  CHECK(none->value().error().message() == "nobody is logged in");
  CHECK(f.net->log().empty());
}

TEST_CASE("signer: a refusal is told once, and a second one in a row is the answer", "[service]") {
  fixture f;
  f.answer = [](const auto&) {
    return memory_reply{
        .status = 401, .headers = {{"Date", "today"}}, .body = "expired", .delay = 2s};
  };
  const auto got = f.stat();
  CHECK(got.error().code() == errc::unauthenticated);
  CHECK(got.error().attempts() == 2);
  CHECK(f.who->refusals == std::vector<std::string>{"1: 401 expired today"});
  CHECK(f.who->age == 2s);
  REQUIRE(f.who->sights.size() == 2);
  CHECK(f.who->sights[1].number == 2);
  CHECK(f.who->sights[1].when == f.who->sights[0].when + 2s);
}

TEST_CASE("signer: a refusal that no signature mends is the answer", "[service]") {
  fixture f;
  f.answer = [](const auto&) { return memory_reply{.status = 403, .body = "forbidden"}; };
  CHECK(f.stat().error().attempts() == 1);
  CHECK(f.who->refusals == std::vector<std::string>{"1: 403 forbidden "});
}

TEST_CASE("signer: a clock that was wrong is corrected, and the request signed anew", "[service]") {
  fixture f;
  f.who->clock_error = 1h;
  const auto seconds = [&] {
    return std::chrono::duration_cast<std::chrono::seconds>(f.time.now().time_since_epoch())
        .count();
  };
  f.answer = [&](const memory_request& r) {
    if (std::stoll(field(r, "x-signed-at")) > seconds() + 900) {
      return memory_reply{.status = 403, .body = "skewed"};
    }
    return memory_reply{.body = "tag"};
  };
  REQUIRE(f.stat());
  REQUIRE(f.stat());
  CHECK(f.net->log().size() == 3);
  CHECK(f.who->refusals.size() == 1);
}

TEST_CASE("signer: what goes to a place of others is not signed, nor its refusal told",
          "[service]") {
  fixture f;
  f.answer = [](const auto&) { return memory_reply{.status = 401, .body = "expired"}; };
  const auto got = f.run<toy_service::insert_verb>(
      {.bucket = "bkt", .object = "elsewhere", .data = as_bytes(data)});
  CHECK(got.error().attempts() == 1);
  CHECK(f.who->sights.empty());
  CHECK(f.who->refusals.empty());
  CHECK(field(f.net->log().at(0), "x-signed-at") == "none");
  CHECK(f.net->log()[0].origin.host == "other.test");
}

TEST_CASE("signer: where it cannot sign nothing is sent, and the turn is given back", "[service]") {
  fixture f;
  f.who->broken = true;
  const auto got = f.stat();
  CHECK(got.error().code() == errc::unauthenticated);
  CHECK(got.error().bucket() == "bkt");
  CHECK(f.net->log().empty());
  const auto seen = f.core->look();
  REQUIRE(seen.pacing.size() == 1);
  CHECK(seen.pacing[0].in_flight == 0);
}

TEST_CASE("signer: no error shows its secret", "[service]") {
  fixture f;
  f.who->secret = "token-of-a-session";
  f.answer = [](const auto&) {
    return memory_reply{.status = 400, .body = "who is token-of-a-session?"};
  };
  CHECK(f.stat().error().message() == "who is [removed]?");
}

}  // namespace signer_test
