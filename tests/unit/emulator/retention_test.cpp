#include <support/catch.hpp>

#include "ask.hpp"

namespace retention_test {

using namespace emulator_test;
using emulator::service;

namespace {

const std::string bucket_at = "/storage/v1/b/bucket";
const std::string objects = bucket_at + "/o/";

emulator::http_reply patch(service& s, const std::string& target, std::string body) {
  return ask(s, {.method = "PATCH", .target = target, .body = std::move(body)});
}
emulator::http_reply post(service& s, const std::string& target, std::string body = "{}") {
  return ask(s, {.method = "POST", .target = target, .body = std::move(body)});
}

/// Whatever would take "o" away or replace it.
void refuses_all(service& s, const std::string& reason, const std::string& code) {
  const auto refused = [&reason](const emulator::http_reply& reply) {
    CHECK(reply.status == 403);
    CHECK(reason_of(reply) == reason);
  };
  const std::string generation = *json_of(ask(s, {.target = objects + "o"})).text("generation");
  refused(ask(s, {.method = "DELETE", .target = objects + "o"}));
  refused(ask(s, {.method = "DELETE", .target = objects + "o?generation=" + generation}));
  refused(ask(s, {.method = "POST",
                  .target = "/upload" + bucket_at + "/o?uploadType=media&name=o",
                  .body = "x"}));
  refused(post(s, objects + "o/moveTo/o/p"));
  refused(post(s, objects + "other/moveTo/o/o"));
  refused(post(s, objects + "other/rewriteTo/b/bucket/o/o"));
  refused(post(s, objects + "other/copyTo/b/bucket/o/o"));
  refused(post(s, objects + "o/compose", R"({"sourceObjects":[{"name":"other"}]})"));
  refused(post(s, objects + "all/compose",
               R"({"sourceObjects":[{"name":"other"},{"name":"o"}],"deleteSourceObjects":true})"));
  const auto put_over = ask(s, {.method = "PUT", .target = "/bucket/o", .body = "x"});
  CHECK(put_over.status == 403);
  CHECK(element_of(put_over, "Code") == code);
  // Refused at the end; the upload stays.
  const std::string id =
      element_of(ask(s, {.method = "POST", .target = "/bucket/o?uploads"}), "UploadId");
  const std::string part_at = "/bucket/o?partNumber=1&uploadId=" + id;
  const auto part = ask(s, {.method = "PUT", .target = part_at, .body = "x"});
  REQUIRE(part.status == 200);
  const std::string list = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" +
                           std::string{part.header("ETag")} +
                           "</ETag></Part></CompleteMultipartUpload>";
  const std::string upload_at = "/bucket/o?uploadId=" + id;
  CHECK(ask(s, {.method = "POST", .target = upload_at, .body = list}).status == 403);
  CHECK(ask(s, {.method = "DELETE", .target = upload_at}).status == 204);
  CHECK(ask(s, {.target = "/bucket/all"}).status == 404);
  CHECK(body_of(ask(s, {.target = "/bucket/o"})) == "bytes");
  CHECK(body_of(ask(s, {.target = "/bucket/other"})) == "others");
  // Its metadata may change.
  CHECK(patch(s, objects + "o", R"({"contentType":"x/y"})").status == 200);
}

}  // namespace

TEST_CASE("retention: a hold lasts until it is released (mend 22)", "[emulator]") {
  for (const std::string kind : {"temporaryHold", "eventBasedHold"}) {
    service s{{}};
    put(s, "bucket", "o", "bytes");
    put(s, "bucket", "other", "others");
    const auto held = json_of(patch(s, objects + "o", "{\"" + kind + "\":true}"));
    CHECK(held.flag(kind) == true);
    CHECK_FALSE(held.find("retentionExpirationTime"));
    refuses_all(s, "objectUnderActiveHold", "ObjectUnderActiveHold");
    CHECK(patch(s, objects + "o", "{\"" + kind + "\":7}").status == 400);
    const auto free = json_of(patch(s, objects + "o", "{\"" + kind + "\":false}"));
    CHECK_FALSE(free.find(kind));
    CHECK(ask(s, {.method = "DELETE", .target = objects + "o"}).status == 204);
  }
}

TEST_CASE("retention: a policy counts for all objects of the bucket (mend 22)", "[emulator]") {
  service s{{}};
  put(s, "bucket", "o", "bytes");
  put(s, "bucket", "other", "others");
  CHECK(patch(s, bucket_at, R"({"retentionPolicy":{"retentionPeriod":"0"}})").status == 400);
  const auto policy =
      json_of(patch(s, bucket_at, R"({"retentionPolicy":{"retentionPeriod":3600}})"));
  REQUIRE(policy.find("retentionPolicy"));
  CHECK(policy.find("retentionPolicy")->text("retentionPeriod") == "3600");
  CHECK(policy.find("retentionPolicy")->text("effectiveTime"));
  const auto object = json_of(ask(s, {.target = objects + "o"}));
  CHECK(*object.text("retentionExpirationTime") > *object.text("timeCreated"));
  refuses_all(s, "retentionPolicyNotMet", "RetentionPolicyNotMet");
  const auto none = json_of(patch(s, bucket_at, R"({"retentionPolicy":null})"));
  CHECK_FALSE(none.find("retentionPolicy"));
  CHECK_FALSE(json_of(ask(s, {.target = objects + "o"})).find("retentionExpirationTime"));
  CHECK(ask(s, {.method = "DELETE", .target = objects + "o"}).status == 204);
}

TEST_CASE("retention: versions are guarded, too (mend 22)", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket", {.versioning = true});
  const std::string old = std::to_string(put(s, "bucket", "o", "1"));
  put(s, "bucket", "o", "bytes");
  put(s, "bucket", "other", "others");
  patch(s, bucket_at, R"({"retentionPolicy":{"retentionPeriod":"3600"}})");
  refuses_all(s, "retentionPolicyNotMet", "RetentionPolicyNotMet");
  CHECK(ask(s, {.method = "DELETE", .target = objects + "o?generation=" + old}).status == 403);
}

TEST_CASE("retention: a default hold, and retention from its release on (mend 22)", "[emulator]") {
  service s{{}};
  s.store().create_bucket("bucket");
  const auto bucket = json_of(
      patch(s, bucket_at,
            R"({"defaultEventBasedHold":true,"retentionPolicy":{"retentionPeriod":"3600"}})"));
  CHECK(bucket.flag("defaultEventBasedHold") == true);
  put(s, "bucket", "o", "bytes");
  auto object = json_of(ask(s, {.target = objects + "o"}));
  CHECK(object.flag("eventBasedHold") == true);
  CHECK_FALSE(object.find("retentionExpirationTime"));
  object = json_of(patch(s, objects + "o", R"({"eventBasedHold":false})"));
  CHECK(object.text("retentionExpirationTime"));
  CHECK(*object.text("retentionExpirationTime") > *object.text("updated"));
  // A copy has a hold of its own; one of another bucket has none.
  s.store().create_bucket("plain");
  const auto copy = json_of(post(s, objects + "o/rewriteTo/b/plain/o/o"));
  CHECK_FALSE(copy.find("resource")->find("eventBasedHold"));
}

}  // namespace retention_test
