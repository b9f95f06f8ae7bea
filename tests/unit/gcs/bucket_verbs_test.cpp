#include <dataflux/gcs/detail/bucket_verbs.hpp>
#include <dataflux/store/detail/validate.hpp>

#include <unit/gcs/verb_harness.hpp>

#include <vector>

namespace bucket_verbs_test {

using dataflux::bucket_kind;
using dataflux::errc;
using dataflux::detail::gcs::bucket_verb;
using dataflux::detail::gcs::list_all_buckets_verb;
using dataflux::detail::gcs::list_buckets_verb;
using dataflux::detail::gcs::storage_layout_verb;
using dataflux::detail::gcs::test_permissions_verb;

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

constexpr std::string_view bucket_fields{
    "&fields=nextPageToken,items(name,location,locationType,storageClass,metageneration,"
    "projectNumber,timeCreated,hierarchicalNamespace/enabled,versioning/enabled,"
    "billing/requesterPays,iamConfiguration/uniformBucketLevelAccess/enabled,"
    "softDeletePolicy/retentionDurationSeconds,retentionPolicy/retentionPeriod,"
    "defaultEventBasedHold)"};

TEST_CASE("list_buckets_verb: the request", "[gcs]") {
  const std::string start = "/storage/v1/b?prettyPrint=false" + std::string(bucket_fields);
  const auto least = built<list_buckets_verb>({.project = "my-project"}, {});
  CHECK(least.method == dataflux::detail::http::method::get);
  CHECK(least.target == start + "&project=my-project&maxResults=1000");
  CHECK_FALSE(least.headers.find("x-goog-user-project"));
  const auto most = built<list_buckets_verb>(
      {.project = "corp.example:p&q", .prefix = "train/", .page_token = "a+b=", .max_results = 7},
      {}, "payer", "quota");
  CHECK(most.target == start +
                           "&project=corp.example%3Ap%26q&maxResults=7&prefix=train%2F"
                           "&pageToken=a%2Bb%3D&userProject=payer");
  CHECK(most.headers.find("x-goog-user-project") == "quota");
}

TEST_CASE("list_buckets_verb: whose project it is", "[gcs]") {
  const dataflux::detail::gcs::call_context nobody{real_service()};
  const auto refused = list_buckets_verb::check(nobody, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::invalid_argument);
  CHECK(refused.error().message().find("project") != std::string::npos);
  CHECK_FALSE(list_all_buckets_verb::check(nobody, {}));
  CHECK(list_buckets_verb::check(nobody, {.project = "p"}));
  CHECK(list_all_buckets_verb::check(nobody, {.project = "p"}));
  const dataflux::detail::gcs::call_context known{real_service(), {}, {}, "mine"};
  CHECK(list_buckets_verb::check(known, {}));
  dataflux::detail::http::request out;
  list_buckets_verb::build(known, {}, {}, out);
  CHECK(out.target.ends_with("&project=mine&maxResults=1000"));
  list_buckets_verb::build(known, {.project = "other"}, {}, out);
  CHECK(out.target.ends_with("&project=other&maxResults=1000"));
}

TEST_CASE("list_buckets_verb: replies good, cut and garbled", "[gcs]") {
  const auto parse = [](std::string_view body) {
    return list_buckets_verb::parse({.project = "p", .prefix = "b", .page_token = "t"}, {},
                                    scripted_reply{200, body}.whole());
  };
  const auto page = parse(R"({"kind":"storage#buckets","nextPageToken":"more","items":[
    {"name":"b1","location":"US","locationType":"multi-region","storageClass":"NEARLINE",
     "metageneration":"3","projectNumber":"9","timeCreated":"2024-02-29T12:00:00Z",
     "billing":{"requesterPays":true},"retentionPolicy":{"retentionPeriod":"60"}},
    {"name":"b2","hierarchicalNamespace":{"enabled":true}}]})");
  REQUIRE(page);
  CHECK(page->next_page_token == "more");
  REQUIRE(page->buckets.size() == 2);
  CHECK(page->buckets[0].name == "b1");
  CHECK(page->buckets[0].location == "US");
  CHECK(page->buckets[0].storage_class == "NEARLINE");
  CHECK(page->buckets[0].metageneration == 3);
  CHECK(page->buckets[0].project_number == 9);
  CHECK(page->buckets[0].requester_pays);
  CHECK(page->buckets[0].retention_seconds == 60);
  CHECK(page->buckets[1].name == "b2");
  CHECK(page->buckets[1].hierarchical);
  const auto none = parse(R"({"kind":"storage#buckets"})");
  REQUIRE(none);
  CHECK(none->buckets.empty());
  CHECK(none->next_page_token.empty());
  CHECK(parse(R"({"items":null,"nextPageToken":null})")->buckets.empty());
  for (const char* bad :
       {R"({"items":[{}]})", R"({"items":["b"]})", R"({"items":[{"name":"b","location":1}]})",
        R"({"items":[{"name":"other"}]})", R"({"nextPageToken":"t"})", R"({"nextPageToken":7})",
        R"({"items":{"name":"b1"}})"}) {
    CAPTURE(bad);
    REQUIRE_FALSE(parse(bad));
    CHECK(parse(bad).error().code() == errc::internal);
    CHECK_FALSE(parse(bad).error().retryable());
  }
  CHECK(parse(R"({"items":[{"name":"b)").error().retryable());
  CHECK_FALSE(parse("<html></html>").error().retryable());
}

TEST_CASE("list_all_buckets_verb: goes on with the page's token until there is none", "[gcs]") {
  const dataflux::list_all_buckets_request r{.project = "p", .prefix = "b"};
  auto at = list_all_buckets_verb::prepare(r, known_id);
  REQUIRE(at);
  const auto target = [&] { return built<list_all_buckets_verb>(r, *at).target; };
  const std::string first = "/storage/v1/b?prettyPrint=false" + std::string(bucket_fields) +
                            "&project=p&maxResults=1000&prefix=b";
  CHECK(target() == first);
  const auto take = [&](std::string_view body) {
    return list_all_buckets_verb::parse(r, *at, scripted_reply{200, body}.whole());
  };
  const auto more = take(R"({"items":[{"name":"b1"}],"nextPageToken":"2"})");
  REQUIRE(more);
  CHECK_FALSE(*more);
  CHECK(target() == first + "&pageToken=2");
  // What is cut costs nothing of what is there.
  CHECK(take(R"({"items":[{"na)").error().retryable());
  CHECK(target() == first + "&pageToken=2");
  CHECK_FALSE(*take(R"({"nextPageToken":"3"})"));
  CHECK(take(R"({"nextPageToken":"3"})").error().code() == errc::internal);
  const auto last = take(R"({"items":[{"name":"b2"}]})");
  REQUIRE(last);
  REQUIRE(*last);
  REQUIRE((**last).size() == 2);
  CHECK((**last)[0].name == "b1");
  CHECK((**last)[1].name == "b2");
}

TEST_CASE("list_all_buckets_verb: a server without an end is told of", "[gcs]") {
  const dataflux::list_all_buckets_request r{.project = "p"};
  auto at = list_all_buckets_verb::prepare(r, known_id);
  REQUIRE(at);
  const auto take = [&](const std::string& body) {
    return list_all_buckets_verb::parse(r, *at, scripted_reply{200, body}.whole());
  };
  SECTION("the same buckets again, under other tokens") {
    REQUIRE(take(R"({"items":[{"name":"b1"}],"nextPageToken":"a"})"));
    const auto again = take(R"({"items":[{"name":"b1"}],"nextPageToken":"b"})");
    REQUIRE_FALSE(again);
    CHECK(again.error().code() == errc::internal);
    CHECK(again.error().message().find("'b1' comes twice") != std::string::npos);
  }
  SECTION("empty pages under tokens by turns") {
    std::string said;
    for (int i = 0; i < 20'000 && said.empty(); ++i) {
      const auto page = take(i % 2 == 0 ? R"({"nextPageToken":"a"})" : R"({"nextPageToken":"b"})");
      if (!page) said = page.error().message();
    }
    CHECK(said.find("has no end: 10001 empty pages") != std::string::npos);
  }
}

TEST_CASE("list_buckets_request: what is wrong is said before anything is sent", "[gcs]") {
  using page_request = dataflux::list_buckets_request;
  using all_request = dataflux::list_all_buckets_request;
  CHECK(validate(page_request{}));
  CHECK(validate(page_request{.max_results = 1000}));
  CHECK_FALSE(validate(page_request{.max_results = 1001}));
  CHECK_FALSE(validate(page_request{.project = "a\nb"}));
  CHECK_FALSE(validate(page_request{.prefix = "\xff"}));
  CHECK(validate(all_request{.project = "p"}));
  CHECK_FALSE(validate(all_request{.project = "a\nb"}));
  CHECK_FALSE(validate(all_request{.prefix = "\xff"}));
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
  const dataflux::test_permissions_request r{
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
  CHECK_FALSE(validate(dataflux::test_permissions_request{.bucket = "bkt"}));
  CHECK_FALSE(
      validate(dataflux::test_permissions_request{.bucket = "bkt", .permissions = {"a&b=c"}}));
}

}  // namespace bucket_verbs_test
