#include <support/catch.hpp>

#include "ask.hpp"

namespace control_api_test {

using namespace emulator_test;
using emulator::service;

namespace {

emulator::http_reply add(service& s, std::string rule) {
  return ask(s, {.method = "POST", .target = "/_emulator/faults", .body = std::move(rule)});
}
int read(service& s, std::string_view target = "/storage/v1/b/bucket/o/a") {
  return ask(s, {.target = target}).status;
}

}  // namespace

TEST_CASE("control_api: every action can be scripted over HTTP", "[emulator]") {
  service s{{}};
  for (
      const std::string more :
      {R"("send","status":200,"body":"<Error/>","contentType":"application/xml","headers":{"a":"b"})",
       R"("refuse","status":429)", R"("cut","where":"in_head","reset":false)",
       R"("stall","where":"in_body","bodyBytes":"7","ms":5)", R"("drip","bytes":2,"ms":1)",
       R"("flip_byte","offset":3)", R"("wrong_hash")", R"("lose_reply","reset":false)",
       R"("delay","ms":3)", R"("short_page","results":1)", R"("keep_less","bytes":262144)",
       R"("execute_twice")", R"("expire_tokens")"}) {
    INFO(more);
    CHECK(add(s, R"({"verb":"batch","action":)" + more + "}").status == 200);
  }
  const auto said = [&s](const char* rule) { return body_of(add(s, rule)); };
  const std::string verb = said(R"({"verb":"objects.read","action":"delay"})");
  CHECK(verb.find("there is no verb \\\"objects.read\\\"") != std::string::npos);
  CHECK(verb.find("objects.list, objects.get, objects.media") != std::string::npos);
  CHECK(said(R"({"action":"none"})").find("send, cut, stall") != std::string::npos);
  CHECK(said(R"({"action":"cut","where":"later"})").find("in_head") != std::string::npos);
  CHECK(s.faults().rules().size() == 13);
  for (const std::string bad :
       {R"({"action":"none"})", R"({})", R"([1])", R"({"action":"send","statu":1})",
        R"({"action":"cut","where":"later"})", R"({"action":"delay","ms":-1})",
        R"({"action":"delay","probability":2})", R"(nonsense)",
        R"({"verb":"objects.mdia","action":"delay"})", R"({"verb":"*","action":"delay"})",
        R"({"action":"send","headers":{"a":1}})"}) {
    INFO(bad);
    CHECK(add(s, bad).status == 400);
  }
  CHECK(s.faults().rules().size() == 13);
  CHECK(ask(s, {.method = "DELETE", .target = "/_emulator/faults"}).status == 204);
  CHECK_FALSE(s.faults().active());
}

TEST_CASE("control_api: rules hit, and tell", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "x");
  put(s, "other", "a", "x");
  add(s, R"([{"bucket":"oth*","count":0,"action":"refuse","status":403},
             {"verb":"objects.get","from":2,"action":"refuse","status":429}])");
  CHECK(read(s, "/other/a") == 403);
  CHECK(read(s) == 200);
  CHECK(read(s) == 429);
  CHECK(read(s) == 200);
  const auto told = json_of(ask(s, {.target = "/_emulator/faults"}));
  CHECK(told.integer("hits") == 2);
}

TEST_CASE("control_api: chance is repeatable", "[emulator]") {
  const auto run = [](const std::string& seed) {
    service s{{}};
    put(s, "bucket", "a", "x");
    add(s, R"({"count":0,"probability":0.5,"action":"refuse","seed":)" + seed + "}");
    std::string out;
    for (int i = 0; i < 64; ++i) out += read(s) == 200 ? '.' : 'x';
    return out;
  };
  const std::string one = run("1");
  CHECK(one == run("1"));
  CHECK(one != run("2"));
  CHECK(one.find('.') != std::string::npos);
  CHECK(one.find('x') != std::string::npos);
}

TEST_CASE("control_api: refusals have the service's form", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "x");
  s.faults().add({.count = 0, .action = emulator::fault::refuse{503}});
  CHECK(reason_of(ask(s, {.target = "/storage/v1/b/bucket/o/a"})) == "backendError");
  CHECK(element_of(ask(s, {.target = "/bucket/a"}), "Code") == "ServiceUnavailable");
  CHECK(body_of(ask(s, {.target = "/storage/v1/b/bucket/o/a?alt=media"})) == "Backend Error");
}

TEST_CASE("control_api: executed twice, and expired tokens", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "x");
  add(s, R"({"verb":"objects.delete","action":"execute_twice"})");
  const auto twice = ask(s, {.method = "DELETE", .target = "/storage/v1/b/bucket/o/a"});
  CHECK(twice.status == 404);
  add(s, R"({"verb":"objects.list","action":"expire_tokens"})");
  const auto list = ask(s, {.target = "/storage/v1/b/bucket/o"});
  CHECK(list.status == 401);
  CHECK(reason_of(list) == "authError");
  CHECK(ask(s, {.target = "/storage/v1/b/bucket/o"}).status == 200);
}

TEST_CASE("control_api: counters, log and buckets", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "x");
  read(s);
  read(s, "/storage/v1/b/bucket/o");
  ask(s, {.method = "DELETE", .target = "/bucket/a"});
  ask(s, {.method = "POST", .target = "/bucket/k?uploads"});
  const auto counters = json_of(ask(s, {.target = "/_emulator/counters"}));
  CHECK(counters.integer("classA") == 2);
  CHECK(counters.integer("classB") == 1);
  CHECK(counters.integer("multipartUploadsOpen") == 1);
  CHECK(counters.integer("resumableUploadsOpen") == 0);
  const auto log = json_of(ask(s, {.target = "/_emulator/log"}));
  CHECK(std::get<emulator::json_value::array>(log.value).at(0).text("verb") == "objects.get");

  const auto set = ask(s, {.method = "PATCH",
                           .target = "/_emulator/buckets/fresh",
                           .body = R"({"readOnly":true,"layout":"zonal"})"});
  CHECK(set.status == 204);
  CHECK(ask(s, {.method = "PUT", .target = "/fresh/x"}).status == 403);
  const auto layout = json_of(ask(s, {.target = "/storage/v1/b/fresh/storageLayout"}));
  CHECK(layout.text("locationType") == "zone");
  CHECK(ask(s, {.target = "/_emulator/none"}).status == 404);
}

}  // namespace control_api_test
