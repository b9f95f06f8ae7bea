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

}  // namespace soft_delete_test
