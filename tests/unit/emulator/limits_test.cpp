#include <emulator/limits.hpp>
#include <support/catch.hpp>

#include "ask.hpp"

namespace limits_test {

using namespace emulator_test;
using namespace std::chrono_literals;
using emulator::rate_limits;
using emulator::service;

namespace {

emulator::call call_of(std::string_view verb, std::string bucket, std::string object) {
  emulator::call out;
  out.verb = verb;
  out.bucket = std::move(bucket);
  out.object = std::move(object);
  return out;
}
bool passes(rate_limits& limits, const emulator::call& asked, std::chrono::milliseconds at) {
  try {
    limits.check(asked, rate_limits::time_point{} + at);
    return true;
  } catch (const emulator::service_error& refused) {
    CHECK(refused.status == 429);
    return false;
  }
}

}  // namespace

TEST_CASE("limits: requests of a bucket", "[emulator]") {
  rate_limits limits{{.requests_per_second = 4}};
  const auto get = call_of("objects.get", "one", "x");
  for (int i = 0; i < 4; ++i) CHECK(passes(limits, get, 0ms));
  CHECK_FALSE(passes(limits, get, 0ms));
  CHECK(passes(limits, call_of("objects.get", "two", "x"), 0ms));
  CHECK_FALSE(passes(limits, get, 249ms));
  CHECK(passes(limits, get, 251ms));
  CHECK_FALSE(passes(limits, get, 252ms));
}

TEST_CASE("limits: writes of a name", "[emulator]") {
  rate_limits limits{{.writes_per_name_second = 1}};
  const auto write = call_of("objects.insert", "one", "x");
  CHECK(passes(limits, write, 0ms));
  CHECK(passes(limits, call_of("objects.insert", "one", "y"), 0ms));
  CHECK(passes(limits, call_of("objects.get", "one", "x"), 1ms));
  CHECK_FALSE(passes(limits, call_of("objects.delete", "one", "x"), 999ms));
  CHECK(passes(limits, write, 1000ms));
}

TEST_CASE("limits: the service answers 429 in the form of the API", "[emulator]") {
  service s{emulator::service_options{.rates = {.writes_per_name_second = 0.001}}};
  put(s, "bucket", "a", "x");
  CHECK(ask(s, {.method = "PUT", .target = "/bucket/a", .body = "y"}).status == 200);
  const auto refused = ask(s, {.method = "PUT", .target = "/bucket/a", .body = "y"});
  CHECK(refused.status == 429);
  CHECK(element_of(refused, "Code") == "SlowDown");
  const auto json = ask(s, {.method = "DELETE", .target = "/storage/v1/b/bucket/o/a"});
  CHECK(reason_of(json) == "rateLimitExceeded");
}

TEST_CASE("limits: writes are counted by the name that their body gives", "[emulator]") {
  service s{emulator::service_options{.rates = {.writes_per_name_second = 0.001}}};
  s.store().create_bucket("bucket");
  const auto insert = [&s](const std::string& name) {
    return ask(s, {.method = "POST",
                   .target = "/upload/storage/v1/b/bucket/o?uploadType=multipart",
                   .headers = {{"Content-Type", "multipart/related; boundary=b"}},
                   .body = "--b\r\n\r\n{\"name\":\"" + name + "\"}\r\n--b\r\n\r\nx\r\n--b--"})
        .status;
  };
  CHECK(insert("one") == 200);
  CHECK(insert("two") == 200);
  CHECK(insert("one") == 429);
  const auto start = [&s](const std::string& name) {
    return ask(s, {.method = "POST",
                   .target = "/upload/storage/v1/b/bucket/o?uploadType=resumable",
                   .body = "{\"name\":\"" + name + "\"}"})
        .status;
  };
  CHECK(start("three") == 200);
  CHECK(start("four") == 200);
  CHECK(start("three") == 429);
}

TEST_CASE("limits: a pacer spreads bytes", "[emulator]") {
  emulator::pacer pace{1000};
  const emulator::pacer::time_point start{1h};
  CHECK(pace.after(100, start) == 100ms);
  CHECK(pace.after(100, start) == 200ms);
  CHECK(pace.after(100, start + 1s) == 100ms);
  emulator::pacer unlimited{0};
  CHECK(unlimited.after(1'000'000, start) == 0ms);
}

}  // namespace limits_test
