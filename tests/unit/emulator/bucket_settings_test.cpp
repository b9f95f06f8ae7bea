#include <support/catch.hpp>

#include "ask.hpp"

namespace bucket_settings_test {

using namespace emulator_test;
using emulator::json_value;
using emulator::service;

namespace {

const std::string bucket_at = "/storage/v1/b/bucket";

emulator::http_reply create(service& s, std::string body, const std::string& query = {}) {
  const std::string target = "/storage/v1/b?project=p" + query;
  return ask(s, {.method = "POST", .target = target, .body = std::move(body)});
}
emulator::http_reply change(service& s, std::string body, const std::string& query = {},
                            std::string_view method = "PATCH") {
  const std::string target = bucket_at + query;
  return ask(s, {.method = method, .target = target, .body = std::move(body)});
}
/// The bucket, or only what `fields` names, in one line.
std::string shown(service& s, const std::string& fields, const std::string& query = {}) {
  const std::string target = bucket_at + "?prettyPrint=false&fields=" + fields + query;
  return body_of(ask(s, {.target = target}));
}

}  // namespace

TEST_CASE("bucket_settings: what a writer says is kept and shown", "[emulator]") {
  struct setting {
    const char* name;
    const char* value;
  };
  for (const setting& each : std::initializer_list<setting>{
           {"lifecycle", R"({"rule":[{"action":{"type":"Delete"},"condition":{"age":30}}]})"},
           {"cors", R"([{"maxAgeSeconds":60,"method":["GET"],"origin":["*"]}])"},
           {"website", R"({"mainPageSuffix":"index.html","notFoundPage":"404.html"})"},
           {"logging", R"({"logBucket":"logs","logObjectPrefix":"x"})"},
           {"encryption", R"({"defaultKmsKeyName":"projects/p/k"})"},
           {"rpo", R"("ASYNC_TURBO")"},
           {"ipFilter", R"({"mode":"Enabled"})"}}) {
    INFO(each.name);
    const std::string name = each.name;
    const std::string document = "{\"" + name + "\":" + each.value + "}";
    service s{{}};
    s.store().create_bucket("bucket");
    CHECK(change(s, document).status == 200);
    CHECK(shown(s, name) == document);
    CHECK(shown(s, "metageneration") == R"({"metageneration":"2"})");
    // What another change does not name stays; null takes it away.
    CHECK(change(s, R"({"labels":{"a":"b"}})").status == 200);
    CHECK(shown(s, name) == document);
    CHECK(change(s, "{\"" + name + "\":7}").status == 400);
    CHECK(change(s, "{\"" + name + "\":null}").status == 200);
    CHECK(shown(s, name) == "{}");
    // PUT takes away what it does not name.
    CHECK(change(s, document).status == 200);
    CHECK(change(s, R"({"labels":{"a":"b"}})", "", "PUT").status == 200);
    CHECK(shown(s, name + ",labels") == R"({"labels":{"a":"b"}})");
    CHECK(change(s, document, "", "PUT").status == 200);
    CHECK(shown(s, name + ",labels") == document);
    // So does an insert.
    std::string whole = document;
    whole.insert(1, R"("name":"made",)");
    CHECK(create(s, whole).status == 200);
    CHECK(body_of(ask(s, {.target = "/storage/v1/b/made?prettyPrint=false&fields=" + name})) ==
          document);
  }
}

TEST_CASE("bucket_settings: sections are merged, and refused when they make no sense",
          "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  CHECK(change(s, R"({"website":{"mainPageSuffix":"a"}})").status == 200);
  CHECK(change(s, R"({"website":{"notFoundPage":"b"}})").status == 200);
  CHECK(shown(s, "website") == R"({"website":{"mainPageSuffix":"a","notFoundPage":"b"}})");
  CHECK(change(s, R"({"website":{"mainPageSuffix":null}})").status == 200);
  CHECK(shown(s, "website") == R"({"website":{"notFoundPage":"b"}})");
  CHECK(shown(s, "website/mainPageSuffix") == R"({"website":{}})");
  for (const char* bad :
       {R"({"lifecycle":{"rule":[{"action":{"type":"Burn"},"condition":{"age":1}}]}})",
        R"({"lifecycle":{"rule":[{"action":{"type":"Delete"}}]}})",
        R"({"lifecycle":{"rule":[{"action":{"type":"SetStorageClass"},"condition":{"age":1}}]}})",
        R"({"rpo":"LATER"})", R"({"autoclass":{"enabled":true,"terminalStorageClass":"X"}})",
        R"({"iamConfiguration":{"publicAccessPrevention":"unexpected value"}})",
        R"({"versioning":7})", R"({"labels":[]})"}) {
    INFO(bad);
    CHECK(change(s, bad).status == 400);
  }
  CHECK(change(s, R"({"lifecycle":{"rule":[]}})").status == 200);
  CHECK(shown(s, "lifecycle") == "{}");
  // Conditions.
  const std::string now = *json_of(ask(s, {.target = bucket_at})).text("metageneration");
  CHECK(change(s, "{}", "?ifMetagenerationMatch=99").status == 412);
  CHECK(change(s, "{}", "?ifMetagenerationNotMatch=" + now).status == 412);
  CHECK(change(s, "{}", "?ifMetagenerationMatch=" + now).status == 200);
}

TEST_CASE("bucket_settings: autoclass and uniform access have times of their own", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const auto autoclass = json_of(change(s, R"({"autoclass":{"enabled":true}})"));
  REQUIRE(autoclass.find("autoclass"));
  CHECK(autoclass.find("autoclass")->text("toggleTime"));
  CHECK(autoclass.find("autoclass")->text("terminalStorageClass") == "NEARLINE");
  CHECK(shown(s,
              "iamConfiguration/publicAccessPrevention,iamConfiguration/"
              "uniformBucketLevelAccess/enabled") ==
        R"({"iamConfiguration":{"uniformBucketLevelAccess":{"enabled":false},)"
        R"("publicAccessPrevention":"inherited"}})");
  const auto uniform = json_of(change(s, R"({"iamConfiguration":{
      "publicAccessPrevention":"enforced","uniformBucketLevelAccess":{"enabled":true}}})"));
  const json_value* iam = uniform.find("iamConfiguration");
  REQUIRE(iam);
  CHECK(iam->text("publicAccessPrevention") == "enforced");
  CHECK(iam->find("uniformBucketLevelAccess")->flag("enabled") == true);
  CHECK(iam->find("uniformBucketLevelAccess")->text("lockedTime"));
  CHECK(iam->find("bucketPolicyOnly")->flag("enabled") == true);
}

TEST_CASE("bucket_settings: objects get the class and the key of their bucket", "[emulator]") {
  service s{{}};
  CHECK(create(s, R"({"name":"bucket","storageClass":"NEARLINE",
                      "encryption":{"defaultKmsKeyName":"key"}})")
            .status == 200);
  CHECK(ask(s, {.method = "PUT", .target = "/bucket/a", .body = "x"}).status == 200);
  const auto object = json_of(ask(s, {.target = bucket_at + "/o/a"}));
  CHECK(object.text("storageClass") == "NEARLINE");
  CHECK(object.text("kmsKeyName") == "key");
  CHECK(ask(s, {.method = "PUT",
                .target = "/bucket/b",
                .headers = {{"x-goog-storage-class", "COLDLINE"}},
                .body = "x"})
            .status == 200);
  CHECK(json_of(ask(s, {.target = bucket_at + "/o/b"})).text("storageClass") == "COLDLINE");
}

TEST_CASE("bucket_settings: a locked retention policy can be lengthened only", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const auto lock = [&s](const std::string& query) {
    const std::string target = bucket_at + "/lockRetentionPolicy" + query;
    return ask(s, {.method = "POST", .target = target});
  };
  CHECK(lock("?ifMetagenerationMatch=1").status == 400);  // there is no policy
  CHECK(change(s, R"({"retentionPolicy":{"retentionPeriod":"100"}})").status == 200);
  CHECK(lock("").status == 400);
  CHECK(lock("?ifMetagenerationMatch=1").status == 412);
  const auto locked = lock("?ifMetagenerationMatch=2");
  REQUIRE(locked.status == 200);
  CHECK(json_of(locked).find("retentionPolicy")->flag("isLocked") == true);
  for (const char* method : {"PATCH", "PUT"}) {
    CHECK(change(s, R"({"retentionPolicy":null})", "", method).status == 403);
    CHECK(change(s, R"({"retentionPolicy":{"retentionPeriod":"99"}})", "", method).status == 403);
  }
  CHECK(change(s, "{}", "", "PUT").status == 403);
  CHECK(change(s, R"({"retentionPolicy":{"retentionPeriod":"200"}})").status == 200);
  CHECK(json_of(ask(s, {.target = bucket_at})).find("retentionPolicy")->flag("isLocked") == true);
}

}  // namespace bucket_settings_test
