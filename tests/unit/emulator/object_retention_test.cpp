#include <support/catch.hpp>

#include "ask.hpp"

namespace object_retention_test {

using namespace emulator_test;
using emulator::rfc3339;
using emulator::service;

namespace {

const std::string bucket_at = "/storage/v1/b/bucket";
const std::string object_at = bucket_at + "/o/o";

std::string in(std::chrono::hours time) { return rfc3339(std::chrono::system_clock::now() + time); }
std::string retention(std::string_view mode, const std::string& until) {
  return R"({"retention":{"mode":")" + std::string{mode} + R"(","retainUntilTime":")" + until +
         "\"}}";
}
emulator::http_reply patch(service& s, std::string body, const std::string& query = {}) {
  const std::string target = object_at + query;
  return ask(s, {.method = "PATCH", .target = target, .body = std::move(body)});
}
void make(service& s) {
  const auto made = ask(s, {.method = "POST",
                            .target = "/storage/v1/b?project=p&enableObjectRetention=true",
                            .body = R"({"name":"bucket"})"});
  REQUIRE(made.status == 200);
  CHECK(json_of(made).find("objectRetention")->text("mode") == "Enabled");
  put(s, "bucket", "o", "bytes");
}
int overwrite(service& s) {
  return ask(s, {.method = "PUT", .target = "/bucket/o", .body = "y"}).status;
}
int remove(service& s, const std::string& query = {}) {
  const std::string target = object_at + query;
  return ask(s, {.method = "DELETE", .target = target}).status;
}

constexpr std::chrono::hours day{24};
const std::string overriding = "?overrideUnlockedRetention=true";

}  // namespace

TEST_CASE("object_retention: it guards the object that has it", "[emulator]") {
  service s{{}};
  make(s);
  const std::string until = in(day);
  const auto set = patch(s, retention("Unlocked", until));
  REQUIRE(set.status == 200);
  const auto shown = json_of(ask(s, {.target = object_at}));
  CHECK(shown.find("retention")->text("mode") == "Unlocked");
  CHECK(shown.find("retention")->text("retainUntilTime") == until);
  const auto refused = ask(s, {.method = "DELETE", .target = object_at});
  CHECK(refused.status == 403);
  CHECK(reason_of(refused) == "retentionPolicyNotMet");
  CHECK(overwrite(s) == 403);
  CHECK(patch(s, R"({"contentType":"x/y"})").status == 200);
  CHECK(json_of(ask(s, {.target = object_at})).find("retention"));
  // A copy has none.
  CHECK(ask(s, {.method = "POST", .target = object_at + "/copyTo/b/bucket/o/p"}).status == 200);
  CHECK_FALSE(json_of(ask(s, {.target = bucket_at + "/o/p"})).find("retention"));
  CHECK(patch(s, R"({"retention":null})", overriding).status == 200);
  CHECK(remove(s) == 204);
}

TEST_CASE("object_retention: what may be changed, and by what word", "[emulator]") {
  service s{{}};
  make(s);
  const auto later = in(3 * day);
  CHECK(patch(s, retention("Unlocked", in(2 * day))).status == 200);
  CHECK(patch(s, retention("Unlocked", later)).status == 200);  // longer needs no word
  CHECK(patch(s, retention("Unlocked", in(day))).status == 403);
  CHECK(patch(s, R"({"retention":null})").status == 403);
  CHECK(patch(s, retention("Locked", later)).status == 403);
  CHECK(patch(s, retention("Unlocked", in(day)), overriding).status == 200);
  // As Google's client for Python takes it away.
  CHECK(patch(s, R"({"retention":{"mode":null,"retainUntilTime":null}})", overriding).status ==
        200);
  CHECK_FALSE(json_of(ask(s, {.target = object_at})).find("retention"));
  CHECK(patch(s, retention("Locked", in(2 * day))).status == 200);
  for (const std::string& query : {std::string{}, overriding}) {
    CHECK(patch(s, R"({"retention":null})", query).status == 403);
    CHECK(patch(s, retention("Locked", in(day)), query).status == 403);
    CHECK(patch(s, retention("Unlocked", later), query).status == 403);
  }
  CHECK(patch(s, retention("Locked", later)).status == 200);
  CHECK(remove(s) == 403);
}

TEST_CASE("object_retention: bad ones, and buckets that have none", "[emulator]") {
  service s{{}};
  make(s);
  CHECK(patch(s, retention("Open", in(day))).status == 400);
  CHECK(patch(s, retention("Locked", "tomorrow")).status == 400);
  CHECK(patch(s, retention("Locked", in(-day))).status == 400);
  CHECK(patch(s, R"({"retention":{"mode":"Locked"}})").status == 400);
  CHECK(patch(s, R"({"retention":7})").status == 400);
  put(s, "plain", "o", "x");
  const auto refused = ask(s, {.method = "PATCH",
                               .target = "/storage/v1/b/plain/o/o",
                               .body = retention("Unlocked", in(day))});
  CHECK(refused.status == 400);
}

TEST_CASE("object_retention: a version may become noncurrent, and may not go", "[emulator]") {
  service s{{}};
  make(s);
  s.store().configure("bucket", {}, [](emulator::bucket_settings& b) { b.versioning = true; });
  const std::string old = *json_of(ask(s, {.target = object_at})).text("generation");
  CHECK(patch(s, retention("Unlocked", in(day))).status == 200);
  CHECK(overwrite(s) == 200);
  CHECK(remove(s, "?generation=" + old) == 403);
}

TEST_CASE("object_retention: over the XML API and with an upload", "[emulator]") {
  service s{{}};
  make(s);
  const std::string until = in(day);
  CHECK(ask(s, {.method = "PUT",
                .target = "/bucket/o",
                .headers = {{"x-goog-object-lock-mode", "GOVERNANCE"},
                            {"x-goog-object-lock-retain-until-date", until}},
                .body = "z"})
            .status == 200);
  CHECK(json_of(ask(s, {.target = object_at})).find("retention")->text("mode") == "Unlocked");
  CHECK(overwrite(s) == 403);
  CHECK(ask(s, {.method = "PUT",
                .target = "/bucket/p",
                .headers = {{"x-goog-object-lock-mode", "SHUT"}},
                .body = "z"})
            .status == 400);
}

TEST_CASE("object_contexts: they are kept, merged and shown with their times", "[emulator]") {
  service s{{}};
  put(s, "bucket", "o", "bytes");
  const auto set = json_of(patch(s, R"({"contexts":{"custom":{"a":{"value":"1"},
                                                              "b":{"value":"2"}}}})"));
  const auto* custom = set.find("contexts")->find("custom");
  CHECK(custom->find("a")->text("value") == "1");
  CHECK(custom->find("a")->text("createTime") == custom->find("a")->text("updateTime"));
  const auto merged = json_of(patch(s, R"({"contexts":{"custom":{"a":null,
                                                                 "c":{"value":"3"}}}})"));
  custom = merged.find("contexts")->find("custom");
  CHECK_FALSE(custom->find("a"));
  CHECK(custom->find("b")->text("value") == "2");
  CHECK(custom->find("c")->text("value") == "3");
  // A copy takes them along.
  const auto copy =
      json_of(ask(s, {.method = "POST", .target = object_at + "/copyTo/b/bucket/o/p"}));
  CHECK(copy.find("contexts"));
  for (const char* bad : {R"({"contexts":{"custom":{"a/b":{"value":"1"}}}})",
                          R"({"contexts":{"custom":{"googly":{"value":"1"}}}})",
                          R"({"contexts":{"custom":{"a":{"value":""}}}})",
                          R"({"contexts":{"custom":{"a":"1"}}})", R"({"contexts":1})"}) {
    INFO(bad);
    CHECK(patch(s, bad).status == 400);
  }
  CHECK_FALSE(json_of(patch(s, R"({"contexts":null})")).find("contexts"));
}

}  // namespace object_retention_test
