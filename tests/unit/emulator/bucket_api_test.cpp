#include <support/catch.hpp>

#include "ask.hpp"

namespace bucket_api_test {

using namespace emulator_test;
using emulator::service;

namespace {

emulator::http_reply create(service& s, std::string body) {
  return ask(s, {.method = "POST", .target = "/storage/v1/b?project=p", .body = std::move(body)});
}
std::string names_of(const emulator::json_value& page) {
  std::string out;
  const auto* items = page.find("items");
  if (items == nullptr) return out;
  for (const auto& item : std::get<emulator::json_value::array>(items->value)) {
    out += item.text("name").value_or("?") + " ";
  }
  return out;
}

}  // namespace

TEST_CASE("bucket_api: insert, get, list, patch, delete", "[emulator]") {
  service s{{}};
  CHECK(create(s, R"({"name":"one","versioning":{"enabled":true},"labels":{"a":"1"}})").status ==
        200);
  CHECK(create(s, R"({"name":"one"})").status == 409);
  CHECK(create(s, R"({"name":"Two"})").status == 400);
  const auto short_name = create(s, R"({"name":"b"})");
  CHECK(short_name.status == 400);
  CHECK(body_of(short_name).find("3 to 63 characters") != std::string::npos);
  CHECK(create(s, "{\"name\":\"" + std::string(64, 'b') + "\"}").status == 400);
  CHECK(create(s, R"({"name":"two"})").status == 200);
  CHECK(ask(s, {.target = "/storage/v1/b"}).status == 400);
  // Google's clients send an empty one to test servers.
  CHECK(names_of(json_of(ask(s, {.target = "/storage/v1/b?project="}))) == "one two ");
  CHECK(names_of(json_of(ask(s, {.target = "/storage/v1/b?project=p"}))) == "one two ");
  const auto page = json_of(ask(s, {.target = "/storage/v1/b?project=p&maxResults=1"}));
  CHECK(names_of(page) == "one ");
  const std::string rest = "/storage/v1/b?project=p&pageToken=" + *page.text("nextPageToken");
  CHECK(names_of(json_of(ask(s, {.target = rest}))) == "two ");

  CHECK(names_of(json_of(ask(s, {.target = "/storage/v1/b?project=p&prefix=t"}))) == "two ");
  const auto some = ask(s, {.target = "/storage/v1/b?project=p&prettyPrint=false&fields="
                                      "nextPageToken,items(name,versioning/enabled)"});
  CHECK(some.body.to_string().find(R"({"name":"one","versioning":{"enabled":true}})") !=
        std::string::npos);
  CHECK(ask(s, {.target = "/storage/v1/b?project=p&fields=items(nam)"}).status == 400);

  const auto patched = json_of(ask(s, {.method = "PATCH",
                                       .target = "/storage/v1/b/one",
                                       .body = R"({"labels":{"a":null,"b":"2"}})"}));
  CHECK(patched.text("metageneration") == "2");
  CHECK_FALSE(patched.find("labels")->find("a"));
  CHECK(patched.find("versioning")->flag("enabled") == true);
  put(s, "two", "x", "");
  CHECK(ask(s, {.method = "DELETE", .target = "/storage/v1/b/two"}).status == 409);
  CHECK(ask(s, {.method = "DELETE", .target = "/storage/v1/b/one"}).status == 204);
  CHECK(ask(s, {.target = "/storage/v1/b/one"}).status == 404);
}

TEST_CASE("bucket_api: layouts", "[emulator]") {
  service s{{}};
  using layout = emulator::bucket_settings::layout;
  s.store().create_bucket("flat");
  s.store().create_bucket("zonal", {.kind = layout::zonal, .location = "US-EAST1-B"});
  CHECK(create(s, R"({"name":"hns","hierarchicalNamespace":{"enabled":true}})").status == 400);
  CHECK(create(s, R"({"name":"hns","hierarchicalNamespace":{"enabled":true},
                      "iamConfiguration":{"uniformBucketLevelAccess":{"enabled":true}}})")
            .status == 200);
  const auto of = [&s](const std::string& bucket) {
    const std::string target = "/storage/v1/b/" + bucket + "/storageLayout";
    return json_of(ask(s, {.target = target}));
  };
  CHECK(of("flat").find("hierarchicalNamespace")->flag("enabled") == false);
  CHECK(of("flat").text("locationType") == "multi-region");
  CHECK(of("hns").find("hierarchicalNamespace")->flag("enabled") == true);
  CHECK(of("zonal").text("locationType") == "zone");
}

TEST_CASE("access: read-only, no-delete and requester-pays buckets", "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "x");
  const auto set = [&s](auto change) { s.store().configure("bucket", {}, change); };
  const auto write = [&s](const char* target) {
    return ask(s, {.method = "PUT", .target = target, .body = "y"});
  };
  set([](emulator::bucket_settings& b) { b.read_only = true; });
  CHECK(ask(s, {.target = "/bucket/a"}).status == 200);
  const auto refused = write("/bucket/b");
  CHECK(refused.status == 403);
  CHECK(element_of(refused, "Code") == "AccessDenied");
  const auto json = ask(s, {.method = "DELETE", .target = "/storage/v1/b/bucket/o/a"});
  CHECK(json.status == 403);
  CHECK(reason_of(json) == "forbidden");

  set([](emulator::bucket_settings& b) {
    b.read_only = false;
    b.no_delete = true;
  });
  CHECK(write("/bucket/b").status == 200);
  CHECK(write("/bucket/a").status == 403);
  CHECK(ask(s, {.method = "DELETE", .target = "/bucket/a"}).status == 403);
  const auto granted =
      json_of(ask(s, {.target = "/storage/v1/b/bucket/iam/testPermissions?permissions="
                                "storage.objects.delete&permissions=storage.objects.create"}));
  const auto& list = std::get<emulator::json_value::array>(granted.find("permissions")->value);
  REQUIRE(list.size() == 1);
  CHECK(std::get<std::string>(list[0].value) == "storage.objects.create");

  set([](emulator::bucket_settings& b) {
    b.no_delete = false;
    b.requester_pays = true;
  });
  const auto unpaid = ask(s, {.target = "/storage/v1/b/bucket/o/a"});
  CHECK(unpaid.status == 400);
  CHECK(reason_of(unpaid) == "userProjectMissing");
  CHECK(ask(s, {.target = "/storage/v1/b/bucket/o/a?userProject=p"}).status == 200);
  CHECK(ask(s, {.target = "/bucket/a", .headers = {{"x-goog-user-project", "p"}}}).status == 200);
}

}  // namespace bucket_api_test
