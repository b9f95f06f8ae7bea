#include <emulator/fault_json.hpp>
#include <support/catch.hpp>

#include "s3_ask.hpp"

namespace s3_faults_test {

using namespace s3_test;

namespace {

void script(s3_service& s, const std::string& rule) {
  REQUIRE(s.post("/_emulator/faults", rule).status == 200);
}

}  // namespace

TEST_CASE("s3 faults: refusals have S3's words", "[emulator]") {
  s3_service s;
  const auto refused = [&s](int status) {
    script(s, R"({"action": "refuse", "verb": "objects.get", "status": )" + std::to_string(status) +
                  "}");
    const auto reply = s.head("/bucket/k");
    s.service().faults().clear();
    return outcome(reply);
  };
  CHECK(refused(503) == "503 SlowDown");
  CHECK(refused(429) == "503 SlowDown");
  CHECK(refused(500) == "500 InternalError");
  CHECK(refused(409) == "409 ConditionalRequestConflict");
  CHECK(refused(412) == "412 PreconditionFailed");
}

TEST_CASE("s3 faults: conditions count for nothing", "[emulator]") {
  s3_service s;
  s.put("/bucket/k", "1");
  script(s, R"({"action": "ignore_conditions", "count": 0})");
  CHECK(s.put("/bucket/k", "2", {{"If-None-Match", "*"}}).status == 200);
  CHECK(s.get("/bucket/k", {{"If-Match", "\"x\""}}).status == 200);
  CHECK(s.remove("/bucket/k", {{"If-Match", "\"x\""}}).status == 204);
}

TEST_CASE("s3 faults: an answer that comes late", "[emulator]") {
  s3_service s;
  s.put("/bucket/from", "1");
  const auto copy = [&s] {
    return s.put("/bucket/to", "", {{"x-amz-copy-source", "bucket/from"}});
  };
  script(s, R"({"action": "late_answer", "code": "InternalError", "spaces": 3})");
  const auto failed = copy();
  CHECK(outcome(failed) == "200 InternalError");
  CHECK(body_of(failed).find("?>   ") != std::string::npos);
  CHECK(outcome(s.get("/bucket/to")) == "404 NoSuchKey");
  script(s, R"({"action": "late_answer", "spaces": 2, "beforeAll": true, "verb": "objects.copy"})");
  CHECK(body_of(copy()).starts_with("  <?xml"));
  CHECK(s.get("/bucket/to").status == 200);
}

TEST_CASE("s3 faults: checksums and ETags are falsified", "[emulator]") {
  s3_service s;
  s.put("/bucket/k", "123456789", {{"x-amz-checksum-crc32c", "4waSgw=="}});
  const std::vector<header_view> mode{{"x-amz-checksum-mode", "ENABLED"}};
  script(s, R"({"action": "wrong_hash"})");
  CHECK(s.get("/bucket/k", mode).header("x-amz-checksum-crc32c") == "4waSgg==");
  const std::string etag = "25f9e794323b453885f5181f1b624d0b";
  script(s, R"([{"action": "etag_form", "verb": "objects.get", "count": 1},
                {"action": "etag_form", "verb": "objects.list", "form": "empty"}])");
  CHECK(s.head("/bucket/k").header("ETag") == etag);
  CHECK(s.head("/bucket/k").header("ETag") == "\"" + etag + "\"");
  CHECK(element_of(s.get("/bucket"), "ETag").empty());
  script(s, R"({"action": "etag_form", "verb": "objects.get", "from": 1, "form": "absent"})");
  CHECK(s.head("/bucket/k").header("ETag").empty());
  script(s, R"({"action": "set_headers", "verb": "objects.get",
                "headers": {"x-amz-checksum-type": "COMPOSITE", "ETag": ""}})");
  const auto changed = s.head("/bucket/k", mode);
  CHECK(changed.header("x-amz-checksum-type") == "COMPOSITE");
  CHECK(changed.header("ETag").empty());
}

TEST_CASE("s3 faults: pages longer than any that was asked for", "[emulator]") {
  s3_service s;
  for (int i = 0; i < 5; ++i) s.put("/bucket/" + std::to_string(i), "x");
  script(s, R"({"action": "short_page", "verb": "objects.list", "results": 4})");
  CHECK(elements_of(s.get("/bucket?list-type=2&max-keys=2"), "Key").size() == 4);
  CHECK(elements_of(s.get("/bucket?list-type=2&max-keys=2"), "Key").size() == 2);
}

TEST_CASE("s3 faults: a clock that is ahead", "[emulator]") {
  s3_service s;
  script(s, R"({"action": "skew", "ms": -3600000})");
  const auto reply = s.get("/bucket");
  const auto date = emulator::parse_http_date(reply.header("Date"));
  REQUIRE(date.has_value());
  const auto behind = std::chrono::system_clock::now() - *date;
  CHECK(behind > std::chrono::minutes{59});
  CHECK(behind < std::chrono::minutes{61});
}

TEST_CASE("s3 faults: keys with a session token end", "[emulator]") {
  s3_service s;
  const auto made = s.post("/_emulator/keys", R"({"lifetime": 60})");
  const std::string id = emulator_test::json_of(made).text("AccessKeyId").value();
  CHECK_FALSE(s.service().keys().find(id)->revoked);
  script(s, R"({"action": "expire_tokens"})");
  CHECK(outcome(s.get("/bucket")) == "400 ExpiredToken");
  CHECK(s.service().keys().find(id)->revoked);
}

}  // namespace s3_faults_test
