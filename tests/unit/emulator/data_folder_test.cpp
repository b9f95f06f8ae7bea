#include <emulator/data_folder.hpp>
#include <emulator/service_error.hpp>
#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <filesystem>
#include <fstream>
#include <string>

namespace data_folder_test {

using emulator::bucket_store;
using emulator::content;
using emulator::data_folder;
namespace fs = std::filesystem;

namespace {

struct scratch_folder {
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator{path + "/bytes"}, fs::directory_iterator{}));
  }
  const temporary_folder folder{};
  const std::string path{folder.path.string()};
};

/// A store as a program with this folder has it. The folder's last member dies first.
struct opened {
  explicit opened(const std::string& path) : folder(path, store) {}
  std::string read(std::string_view name, std::optional<std::int64_t> generation = {}) const {
    emulator::preconditions when;
    when.generation = generation;
    return store.get("bucket", name, when)->data.to_string();
  }
  emulator::object_ptr put(std::string name, std::string bytes) {
    return store.put("bucket",
                     {.name = std::move(name),
                      .metadata = {.content_type = "text/x", .custom = {{"k", "v"}}},
                      .data = content{std::move(bytes)}},
                     {});
  }
  bucket_store store{};
  data_folder folder;
};

}  // namespace

TEST_CASE("data_folder: buckets and objects are there again", "[emulator]") {
  const scratch_folder at;
  std::int64_t generation = 0;
  {
    opened first{at.path};
    first.store.create_bucket("bucket", {.location = "EU", .labels = {{"a", "1"}}});
    first.store.create_bucket("gone");
    first.store.remove_bucket("gone", {});
    first.put("a \"quoted\"/x", "bytes");
    first.put("empty", "");
    first.put("removed", "x");
    first.store.remove("bucket", "removed", {});
    first.put("twice", "old");
    first.put("twice", "new");
    first.put("moved", "m");
    first.store.move("bucket", "moved", "here", {}, {});
    generation = first.store
                     .change("bucket", "twice", {},
                             [](emulator::object_metadata& m) { m.content_type = "text/y"; })
                     ->generation;
  }
  CHECK(at.files() == 3);
  for (int restart = 0; restart < 2; ++restart) {
    const opened again{at.path};
    CHECK(again.store.buckets().size() == 1);
    CHECK(again.store.facts("bucket").settings.location == "EU");
    CHECK(again.store.facts("bucket").settings.labels.at("a") == "1");
    const auto object = again.store.get("bucket", "a \"quoted\"/x", {});
    CHECK(object->data.to_string() == "bytes");
    CHECK(object->metadata.content_type == "text/x");
    CHECK(object->metadata.custom.at("k") == "v");
    CHECK(again.read("empty").empty());
    CHECK(again.read("twice") == "new");
    CHECK(again.read("here") == "m");
    CHECK_THROWS_AS(again.read("removed"), emulator::service_error);
    CHECK_THROWS_AS(again.read("moved"), emulator::service_error);
    const auto changed = again.store.get("bucket", "twice", {});
    CHECK(changed->generation == generation);
    CHECK(changed->metageneration == 2);
    CHECK(changed->metadata.content_type == "text/y");
  }
}

TEST_CASE("data_folder: settings, policies and notifications are there again", "[emulator]") {
  const scratch_folder at;
  const auto until = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) +
                     std::chrono::hours(1);
  {
    opened first{at.path};
    first.store.create_bucket("bucket");
    first.store.configure("bucket", {}, [](emulator::bucket_settings& settings) {
      settings.object_retention = true;
      settings.public_access_prevented = true;
      settings.access = emulator::predefined_access(emulator::access_of::bucket, "private");
      settings.kept.emplace("rpo", emulator::json_value{std::string{"DEFAULT"}});
    });
    first.store.edit("bucket", [](emulator::bucket_facts& facts) {
      facts.policy = {.version = 3, .bindings = {emulator::json_value::array{}}, .revision = 5};
      facts.notifications.emplace(7, *emulator::parse_json(R"({"topic":"t"})"));
      facts.last_notification = 8;
    });
    emulator::object_metadata metadata;
    metadata.retention = {.locked = true, .until = until};
    metadata.contexts = std::make_shared<const emulator::object_contexts>(
        emulator::object_contexts{{"k", {.value = "v", .created = until, .updated = until}}});
    metadata.access = emulator::predefined_access(emulator::access_of::object, "private");
    first.store.put("bucket", {.name = "o", .metadata = metadata, .data = content{"x"}}, {});
  }
  for (int restart = 0; restart < 2; ++restart) {
    const opened again{at.path};
    const auto facts = again.store.facts("bucket");
    CHECK(facts.settings.object_retention);
    CHECK(facts.settings.public_access_prevented);
    REQUIRE(facts.settings.access);
    CHECK(facts.settings.access->size() == 1);
    CHECK(facts.settings.kept.contains("rpo"));
    REQUIRE(facts.policy);
    CHECK(facts.policy->version == 3);
    CHECK(facts.policy->revision == 5);
    CHECK(facts.notifications.at(7).text("topic") == "t");
    CHECK(facts.last_notification == 8);
    const auto object = again.store.get("bucket", "o", {});
    REQUIRE(object->metadata.retention);
    CHECK(object->metadata.retention->locked);
    CHECK(object->metadata.retention->until == until);
    REQUIRE(object->metadata.contexts);
    CHECK(object->metadata.contexts->at("k").value == "v");
    CHECK(object->metadata.contexts->at("k").created == until);
    REQUIRE(object->metadata.access);
    CHECK(object->metadata.access->size() == 1);
  }
}

TEST_CASE("data_folder: versions outlast the program, one by one", "[emulator]") {
  const scratch_folder at;
  std::int64_t old = 0;
  {
    opened first{at.path};
    first.store.create_bucket("bucket", {.versioning = true});
    old = first.put("a", "one")->generation;
    first.put("a", "two");
    first.store.remove("bucket", "a", {});
  }
  opened again{at.path};
  CHECK_THROWS_AS(again.read("a"), emulator::service_error);
  CHECK(again.read("a", old) == "one");
  emulator::preconditions exactly;
  exactly.generation = old;
  again.store.remove("bucket", "a", exactly);
  CHECK(again.put("a", "three")->generation > old);
  CHECK(at.files() == 2);
}

TEST_CASE("data_folder: holds and retention policies outlast the program (mend 22)", "[emulator]") {
  const scratch_folder at;
  {
    opened first{at.path};
    first.store.create_bucket("bucket", {.default_event_based_hold = true});
    first.put("held", "x");
    first.put("retained", "x");
    first.store.change("bucket", "retained", {},
                       [](emulator::object_metadata& m) { m.event_based_hold = false; });
    first.store.configure("bucket", {}, [](emulator::bucket_settings& settings) {
      settings.retention = std::chrono::hours(1);
    });
  }
  const opened again{at.path};
  const auto settings = again.store.facts("bucket").settings;
  CHECK(settings.retention == std::chrono::hours(1));
  CHECK(settings.retention_effective);
  CHECK(settings.default_event_based_hold);
  CHECK(again.store.get("bucket", "held", {})->metadata.event_based_hold);
  const auto retained = again.store.get("bucket", "retained", {});
  REQUIRE(retained->released);
  CHECK(retained->retained_until == *retained->released + std::chrono::hours(1));
}

TEST_CASE("data_folder: a reader keeps the bytes of a removed object", "[emulator]") {
  const scratch_folder at;
  opened here{at.path};
  here.store.create_bucket("bucket");
  auto held = here.put("a", "bytes");
  here.store.remove("bucket", "a", {});
  CHECK(held->data.to_string() == "bytes");
  CHECK(at.files() == 1);
  // A refused write leaves nothing behind.
  here.put("b", "x");
  emulator::preconditions fresh;
  fresh.if_generation_match = 0;
  CHECK_THROWS_AS(here.store.put("bucket", {.name = "b", .data = content{"y"}}, fresh),
                  emulator::service_error);
  CHECK(at.files() == 2);
  here.store.remove("bucket", "b", {});
  held.reset();
  CHECK(at.files() == 0);
}

TEST_CASE("data_folder: a torn last line and strange files do no harm", "[emulator]") {
  const scratch_folder at;
  {
    opened first{at.path};
    first.store.create_bucket("bucket");
    first.put("a", "bytes");
  }
  std::ofstream{at.path + "/journal", std::ios::app} << R"({"event":"object","res)";
  std::ofstream{at.path + "/bytes/99"} << "broken off";
  const opened again{at.path};
  CHECK(again.read("a") == "bytes");
  CHECK(at.files() == 1);
  CHECK_THROWS_AS(opened{"/proc/none/such"}, std::runtime_error);
}

}  // namespace data_folder_test
