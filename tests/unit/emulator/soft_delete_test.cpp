#include <emulator/data_folder.hpp>
#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include "ask.hpp"

namespace soft_delete_test {

using namespace emulator_test;
using emulator::service;

namespace {

const std::string bucket_at = "/storage/v1/b/bucket";
const std::string objects = bucket_at + "/o/";

std::vector<std::string> names_of(service& s, const std::string& query) {
  const auto page = json_of(ask(s, {.target = bucket_at + "/o?" + query}));
  std::vector<std::string> out;
  const auto* items = page.find("items");
  if (items == nullptr) return out;
  for (const auto& item : std::get<emulator::json_value::array>(items->value)) {
    out.push_back(*item.text("name") + "#" + *item.text("generation"));
  }
  return out;
}
using strings = std::vector<std::string>;

}  // namespace

TEST_CASE("soft delete: what is deleted is listed, read and restored (mend 22)", "[emulator]") {
  service s{{}};
  const std::string before = std::to_string(put(s, "bucket", "early", "x"));
  ask(s, {.method = "DELETE", .target = objects + "early"});
  CHECK(names_of(s, "softDeleted=true").empty());
  const auto policy =
      json_of(ask(s, {.method = "PATCH",
                      .target = bucket_at,
                      .body = R"({"softDeletePolicy":{"retentionDurationSeconds":"604800"}})"}));
  REQUIRE(policy.find("softDeletePolicy"));
  CHECK(policy.find("softDeletePolicy")->text("retentionDurationSeconds") == "604800");

  const std::string one = std::to_string(put(s, "bucket", "a", "one"));
  const std::string two = std::to_string(put(s, "bucket", "a", "two"));
  CHECK(ask(s, {.method = "DELETE", .target = objects + "a"}).status == 204);
  CHECK(names_of(s, "").empty());
  CHECK(names_of(s, "softDeleted=true") == strings{"a#" + one, "a#" + two});
  CHECK(names_of(s, "softDeleted=true&maxResults=1") == strings{"a#" + one});
  CHECK(ask(s, {.target = bucket_at + "/o?softDeleted=true&versions=true"}).status == 400);
  CHECK(ask(s, {.target = objects + "a?softDeleted=true"}).status == 400);
  CHECK(ask(s, {.target = objects + "a?generation=" + one}).status == 404);
  const auto gone = json_of(ask(s, {.target = objects + "a?softDeleted=true&generation=" + one}));
  CHECK(gone.text("softDeleteTime"));
  CHECK(*gone.text("hardDeleteTime") > *gone.text("softDeleteTime"));

  const std::string restore = objects + "a/restore";
  CHECK(ask(s, {.method = "POST", .target = restore}).status == 400);
  CHECK(ask(s, {.method = "POST", .target = restore + "?generation=" + before}).status == 404);
  const auto again =
      ask(s, {.method = "POST", .target = restore + "?ifGenerationMatch=0&generation=" + one});
  REQUIRE(again.status == 200);
  CHECK_FALSE(json_of(again).find("softDeleteTime"));
  CHECK(*json_of(again).text("generation") > two);
  CHECK(body_of(ask(s, {.target = "/bucket/a"})) == "one");
  CHECK(ask(s, {.method = "POST", .target = restore + "?ifGenerationMatch=0&generation=" + two})
            .status == 412);
}

TEST_CASE("soft delete: moves and deleted sources leave nothing; versions come first (mend 22)",
          "[emulator]") {
  service s{{}};
  put(s, "bucket", "a", "1");
  put(s, "bucket", "b", "2");
  s.store().configure("bucket", {}, [](emulator::bucket_settings& settings) {
    settings.soft_delete = std::chrono::hours(24);
  });
  ask(s, {.method = "POST", .target = objects + "a/moveTo/o/c", .body = "{}"});
  ask(s, {.method = "POST",
          .target = objects + "all/compose",
          .body = R"({"sourceObjects":[{"name":"b"},{"name":"c"}],"deleteSourceObjects":true})"});
  CHECK(body_of(ask(s, {.target = "/bucket/all"})) == "21");
  CHECK(ask(s, {.target = "/bucket/b"}).status == 404);
  CHECK(names_of(s, "softDeleted=true").empty());

  s.store().configure("bucket", {},
                      [](emulator::bucket_settings& settings) { settings.versioning = true; });
  const std::string generation = std::to_string(put(s, "bucket", "v", "x"));
  ask(s, {.method = "DELETE", .target = objects + "v"});
  CHECK(names_of(s, "versions=true&prefix=v") == strings{"v#" + generation});
  CHECK(names_of(s, "softDeleted=true").empty());
  ask(s, {.method = "DELETE", .target = objects + "v?generation=" + generation});
  CHECK(names_of(s, "versions=true&prefix=v").empty());
  CHECK(names_of(s, "softDeleted=true") == strings{"v#" + generation});
}

TEST_CASE("soft delete: outlasts the program, and ends (mend 22)", "[emulator]") {
  const temporary_folder at;
  const std::string path = at.path.string();
  std::int64_t generation = 0;
  {
    emulator::bucket_store store;
    emulator::data_folder folder(path, store);
    store.create_bucket("bucket", {.soft_delete = std::chrono::hours(24)});
    generation =
        store.put("bucket", {.name = "a", .data = emulator::content{"bytes"}}, {})->generation;
    store.remove("bucket", "a", {});
  }
  emulator::bucket_store store;
  emulator::data_folder folder(path, store);
  CHECK(store.restore_deleted("bucket", "a", generation, {})->data.to_string() == "bytes");
  store.configure("bucket", {}, [](emulator::bucket_settings& settings) {
    settings.soft_delete = std::chrono::seconds(-1);
  });
  store.remove("bucket", "a", {});
  const auto listed = store.list("bucket", {.soft_deleted = true}).items;
  REQUIRE(listed.size() == 1);
  CHECK(listed[0]->generation == generation);
}

TEST_CASE("soft delete: a bulk restore brings back what its conditions name", "[emulator]") {
  service s{{}};
  const std::string restore = objects + "bulkRestore";
  put(s, "bucket", "early", "x");
  const auto refused = ask(s, {.method = "POST", .target = restore, .body = "{}"});
  CHECK(refused.status == 400);
  CHECK(reason_of(refused) == "SoftDeletePolicyRequired");
  ask(s, {.method = "PATCH",
          .target = bucket_at,
          .body = R"({"softDeletePolicy":{"retentionDurationSeconds":"604800"}})"});
  put(s, "bucket", "a/one", "1");
  const std::string last = std::to_string(put(s, "bucket", "a/one", "2"));
  put(s, "bucket", "a/two", "3");
  put(s, "bucket", "b", "4");
  for (const char* name : {"a%2Fone", "a%2Ftwo", "b"}) {
    ask(s, {.method = "DELETE", .target = objects + name});
  }
  const std::string live = std::to_string(put(s, "bucket", "a/two", "live"));

  const auto run = [&](const std::string& body) {
    const auto begun = json_of(ask(s, {.method = "POST", .target = restore, .body = body}));
    CHECK(begun.text("kind") == "storage#operation");
    CHECK(begun.flag("done") == false);
    const std::string name = begun.text("name").value();
    CHECK(name.starts_with("projects/_/buckets/bucket/operations/"));
    const std::string at = bucket_at + name.substr(name.rfind("/operations/"));
    CHECK(json_of(ask(s, {.target = at})).flag("done") == false);
    auto ended = json_of(ask(s, {.target = at}));
    CHECK(ended.flag("done") == true);
    CHECK(ended.find("response"));
    const auto& counts = *ended.find("metadata");
    return strings{*counts.text("succeededCount"), *counts.text("skippedCount"),
                   *counts.text("failedCount")};
  };
  // Soft-deleted are both generations of a/one, a/two and b.
  CHECK(run(R"({"matchGlobs":["a/**"]})") == strings{"1", "3", "0"});
  CHECK(body_of(ask(s, {.target = objects + "a%2Fone?alt=media"})) == "2");
  CHECK(json_of(ask(s, {.target = objects + "a%2Fone"})).text("generation") > last);
  CHECK(json_of(ask(s, {.target = objects + "a%2Ftwo"})).text("generation") == live);
  CHECK(run(R"({"matchGlobs":["a/two"],"allowOverwrite":true})").front() == "1");
  CHECK(body_of(ask(s, {.target = objects + "a%2Ftwo?alt=media"})) == "3");
  CHECK(run(R"({"softDeletedBeforeTime":"2001-01-01T00:00:00Z"})").front() == "0");
  CHECK(ask(s, {.target = objects + "b"}).status == 404);
  CHECK(run(R"({"softDeletedAfterTime":"2001-01-01T00:00:00Z","matchGlobs":["b"]})").front() ==
        "1");

  CHECK(ask(s, {.method = "POST", .target = restore, .body = R"({"createdAfterTime":"soon"})"})
            .status == 400);
  CHECK(ask(s, {.target = bucket_at + "/operations/none"}).status == 404);
  CHECK(ask(s, {.method = "POST", .target = "/storage/v1/b/none/o/bulkRestore"}).status == 404);
}

}  // namespace soft_delete_test
