#include <c_api/harness.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace c_api_bulk_restore_test {

using namespace c_api_test;

namespace {

dataflux_bulk_restore_options restore(const char* bucket) {
  dataflux_bulk_restore_options o;
  dataflux_bulk_restore_options_init(&o, sizeof o);
  o.bucket = bucket;
  return o;
}
dataflux_status restored(const world& w, const dataflux_bulk_restore_options& o, told& why,
                         operation_ptr* kept = nullptr) {
  return outcome(
      [&](dataflux_operation** op, dataflux_error** err) {
        return dataflux_bulk_restore(w.client.get(), &o, nullptr, 0, op, err);
      },
      why, kept);
}

/// A bucket with soft delete, from which these were removed.
void prepare(world& w, const std::vector<std::string>& names) {
  auto& store = w.server.service().store();
  store.create_bucket("soft", {.soft_delete = std::chrono::hours(1)});
  for (const std::string& name : names) {
    w.server.put("soft", name, "bytes of " + name);
    store.remove("soft", name, {});
  }
}

}  // namespace

TEST_CASE("dataflux_bulk_restore: what was deleted is there again", "[c_api]") {
  world w;
  prepare(w, {"a/one", "a/two", "b"});
  const std::vector<const char*> globs{"a/*"};
  auto o = restore("soft");
  o.match_globs = globs.data();
  o.match_glob_count = globs.size();
  o.deleted_after_ns = 1;
  told why;
  operation_ptr op;
  REQUIRE(restored(w, o, why, &op) == DATAFLUX_OK);
  const std::string json = json_of(op);
  INFO(json);
  CHECK(has(json, R"("restored":2,"skipped":1,"failed":0})"));
  CHECK(has(json, R"({"operation":")"));
  CHECK(w.server.service().store().get("soft", "a/one", {}) != nullptr);
  CHECK_THROWS(w.server.service().store().get("soft", "b", {}));

  const queue_ptr queue = make_queue();
  const auto all = restore("soft");
  REQUIRE(dataflux_bulk_restore(w.client.get(), &all, queue.get(), 5, nullptr, why) == DATAFLUX_OK);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].status == DATAFLUX_OK);
  CHECK(records[0].tag == 5);
  CHECK(records[0].size == 1);
}

TEST_CASE("dataflux_bulk_restore: bad input is told", "[c_api]") {
  world w;
  told why;
  CHECK(restored(w, restore("bkt"), why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(has(why.message(), "soft delete policy"));
  CHECK(restored(w, restore(nullptr), why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(restored(w, restore("no such bucket"), why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(restored(w, restore("no-such-bucket"), why) == DATAFLUX_NOT_FOUND);
  const std::vector<const char*> globs{nullptr};
  auto o = restore("bkt");
  o.match_glob_count = 1;
  CHECK(restored(w, o, why) == DATAFLUX_INVALID_ARGUMENT);
  o.match_globs = globs.data();
  CHECK(restored(w, o, why) == DATAFLUX_INVALID_ARGUMENT);
  o = restore("bkt");
  o.created_after_ns = 2;
  o.created_before_ns = 2;
  CHECK(restored(w, o, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(has(why.message(), "created_after"));
}

}  // namespace c_api_bulk_restore_test
