#include <dataflux/gcs/bucket_verbs.hpp>

#include <unit/gcs/verb_harness.hpp>

#include <vector>

namespace bucket_verbs_test {

using dataflux::errc;
using dataflux::gcs::bucket_kind;
using dataflux::gcs::bucket_verb;
using dataflux::gcs::storage_layout_verb;
using dataflux::gcs::test_permissions_verb;

TEST_CASE("bucket_verb: the request and a full resource", "[gcs]") {
  const auto out = built<bucket_verb>({.bucket = "b.c"}, {}, "payer");
  CHECK(out.target == "/storage/v1/b/b.c?prettyPrint=false&projection=noAcl&userProject=payer");
  const auto bucket = bucket_verb::parse({.bucket = "bkt"}, {},
                                         scripted_reply{200, R"({
    "name":"bkt","location":"US-EAST1","locationType":"region","storageClass":"STANDARD",
    "metageneration":"4","projectNumber":"123","timeCreated":"2024-02-29T12:00:00Z",
    "hierarchicalNamespace":{"enabled":true},"versioning":{"enabled":true},
    "billing":{"requesterPays":true},"softDeletePolicy":{"retentionDurationSeconds":"604800"},
    "iamConfiguration":{"uniformBucketLevelAccess":{"enabled":true}}})"}
                                             .whole());
  REQUIRE(bucket);
  CHECK(bucket->location == "US-EAST1");
  CHECK(bucket->location_type == "region");
  CHECK(bucket->storage_class == "STANDARD");
  CHECK(bucket->metageneration == 4);
  CHECK(bucket->project_number == 123);
  CHECK(bucket->created);
  CHECK(bucket->hierarchical);
  CHECK(bucket->versioning);
  CHECK(bucket->requester_pays);
  CHECK(bucket->uniform_access);
  CHECK(bucket->soft_delete_seconds == 604800);
}

TEST_CASE("bucket_verb: retention policy and default hold (mend 3)", "[gcs]") {
  const auto parse = [](std::string_view body) {
    return bucket_verb::parse({.bucket = "bkt"}, {}, scripted_reply{200, body}.whole());
  };
  const auto retains = parse(
      R"({"name":"bkt","retentionPolicy":{"retentionPeriod":"3600",
          "effectiveTime":"2026-03-01T12:00:00Z"},"defaultEventBasedHold":true})");
  REQUIRE(retains);
  CHECK(retains->retention_seconds == 3600);
  CHECK(retains->default_event_based_hold);
  const auto plain = parse(R"({"name":"bkt"})");
  REQUIRE(plain);
  CHECK(plain->retention_seconds == 0);
  CHECK_FALSE(plain->default_event_based_hold);
}

TEST_CASE("bucket_verb: other replies", "[gcs]") {
  const auto parse = [](std::string_view body) {
    return bucket_verb::parse({.bucket = "bkt"}, {}, scripted_reply{200, body}.whole());
  };
  const auto least = parse(R"({"name":"bkt"})");
  REQUIRE(least);
  CHECK_FALSE(least->hierarchical);
  CHECK(least->soft_delete_seconds == 0);
  for (const char* bad : {"{}", R"({"name":"other"})", R"({"name":"bkt","location":5})",
                          R"({"name":"bkt","metageneration":"x"})"}) {
    CAPTURE(bad);
    REQUIRE_FALSE(parse(bad));
    CHECK(parse(bad).error().code() == errc::internal);
  }
  CHECK(parse("{").error().retryable());
  CHECK_FALSE(parse("<html></html>").error().retryable());
}

TEST_CASE("storage_layout_verb: flat, hierarchical, and zonal is refused with a word", "[gcs]") {
  CHECK(built<storage_layout_verb>({.bucket = "bkt"}, {}).target ==
        "/storage/v1/b/bkt/storageLayout?prettyPrint=false");
  const auto parse = [](std::string_view body) {
    return storage_layout_verb::parse({.bucket = "bkt"}, {}, scripted_reply{200, body}.whole());
  };
  const auto flat = parse(
      R"({"bucket":"bkt","location":"US","locationType":"multi-region",
          "hierarchicalNamespace":{"enabled":false}})");
  REQUIRE(flat);
  CHECK(flat->kind == bucket_kind::flat);
  CHECK(flat->location == "US");
  CHECK(flat->location_type == "multi-region");
  CHECK(parse(R"({"location":"US"})")->kind == bucket_kind::flat);
  const auto folders = parse(R"({"location":"US","hierarchicalNamespace":{"enabled":true}})");
  REQUIRE(folders);
  CHECK(folders->kind == bucket_kind::hierarchical);
  for (const char* zonal : {R"({"location":"us-east1-b","locationType":"zone",
                                "hierarchicalNamespace":{"enabled":true}})",
                            R"({"location":"us-east1-b","storageClass":"RAPID"})"}) {
    const auto refused = parse(zonal);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::unimplemented);
    CHECK(refused.error().message().find("zonal") != std::string::npos);
  }
  CHECK(parse("{}").error().code() == errc::internal);
  CHECK(parse("[").error().retryable());
}

TEST_CASE("test_permissions_verb: what is granted of what was asked", "[gcs]") {
  const dataflux::gcs::test_permissions_request r{
      .bucket = "bkt", .permissions = {"storage.objects.get", "storage.objects.create"}};
  CHECK(validate(r));
  CHECK(built<test_permissions_verb>(r, {}).target ==
        "/storage/v1/b/bkt/iam/testPermissions?prettyPrint=false&permissions=storage.objects.get"
        "&permissions=storage.objects.create");
  const auto parse = [&](std::string_view body) {
    return test_permissions_verb::parse(r, {}, scripted_reply{200, body}.whole());
  };
  CHECK(*parse(R"({"permissions":["storage.objects.create","other"]})") ==
        std::vector<std::string>{"storage.objects.create"});
  CHECK(parse(R"({"kind":"x"})")->empty());
  CHECK(parse("").error().retryable());
  CHECK_FALSE(validate(dataflux::gcs::test_permissions_request{.bucket = "bkt"}));
  CHECK_FALSE(
      validate(dataflux::gcs::test_permissions_request{.bucket = "bkt", .permissions = {"a&b=c"}}));
}

}  // namespace bucket_verbs_test
