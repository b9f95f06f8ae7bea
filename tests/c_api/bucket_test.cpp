#include <c_api/harness.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace c_api_bucket_test {

using namespace c_api_test;

namespace {

dataflux_bucket_options bucket(const char* name) {
  dataflux_bucket_options o;
  dataflux_bucket_options_init(&o, sizeof o);
  o.bucket = name;
  return o;
}
dataflux_status facts(const world& w, const dataflux_bucket_options& o, told& why,
                      operation_ptr* kept = nullptr) {
  return outcome(
      [&](dataflux_operation** op, dataflux_error** err) {
        return dataflux_bucket(w.client.get(), &o, nullptr, 0, op, err);
      },
      why, kept);
}
dataflux_status granted(const world& w, const dataflux_bucket_options& o,
                        const std::vector<const char*>& permissions, told& why,
                        operation_ptr* kept = nullptr) {
  return outcome(
      [&](dataflux_operation** op, dataflux_error** err) {
        return dataflux_test_permissions(w.client.get(), &o, permissions.data(), permissions.size(),
                                         nullptr, 0, op, err);
      },
      why, kept);
}

}  // namespace

TEST_CASE("dataflux_bucket: what a bucket is", "[c_api]") {
  world w;
  w.server.service().store().create_bucket("facts",
                                           {.kind = emulator::bucket_settings::layout::flat,
                                            .location = "EUROPE-WEST4",
                                            .storage_class = "NEARLINE",
                                            .versioning = true,
                                            .retention = std::chrono::seconds(3600)});
  told why;
  operation_ptr op;
  REQUIRE(facts(w, bucket("facts"), why, &op) == DATAFLUX_OK);
  const std::string json = json_of(op);
  INFO(json);
  CHECK(has(json, R"({"name":"facts",)"));
  CHECK(has(json, R"("location":"EUROPE-WEST4")"));
  CHECK(has(json, R"("storageClass":"NEARLINE")"));
  CHECK(has(json, R"("metageneration":"1")"));
  CHECK(has(json, R"("timeCreated":"20)"));
  CHECK(has(json, R"("versioning":{"enabled":true})"));
  CHECK(has(json, R"("retentionPolicy":{"retentionPeriod":"3600"})"));
  CHECK_FALSE(has(json, "hierarchicalNamespace"));
  CHECK(facts(w, bucket("no-such-bucket"), why) == DATAFLUX_NOT_FOUND);
}

TEST_CASE("dataflux_test_permissions: those that the account has", "[c_api]") {
  world w;
  w.server.service().store().create_bucket("locked", {.read_only = true});
  told why;
  operation_ptr op;
  const std::vector<const char*> asked{"storage.objects.get", "storage.objects.create"};
  REQUIRE(granted(w, bucket("bkt"), asked, why, &op) == DATAFLUX_OK);
  CHECK(json_of(op) == R"({"permissions":["storage.objects.get","storage.objects.create"]})");
  const queue_ptr queue = make_queue();
  const auto locked = bucket("locked");
  REQUIRE(dataflux_test_permissions(w.client.get(), &locked, asked.data(), asked.size(),
                                    queue.get(), 3, nullptr, why) == DATAFLUX_OK);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].status == DATAFLUX_OK);
  CHECK(records[0].tag == 3);
  CHECK(records[0].size == 1);
}

TEST_CASE("dataflux_list_buckets: of a project", "[c_api]") {
  world w;
  for (const char* name : {"data-2", "data-1"}) w.server.create_bucket(name);
  told why;
  dataflux_list_buckets_options o;
  dataflux_list_buckets_options_init(&o, sizeof o);
  o.project = "p";
  o.prefix = "data-";
  operation_ptr op;
  const auto list = [&] {
    return outcome(
        [&](dataflux_operation** out, dataflux_error** err) {
          return dataflux_list_buckets(w.client.get(), &o, nullptr, 0, out, err);
        },
        why, &op);
  };
  REQUIRE(list() == DATAFLUX_OK);
  const std::string json = json_of(op);
  INFO(json);
  CHECK(has(json, R"({"items":[{"name":"data-1",)"));
  CHECK(has(json, R"(},{"name":"data-2",)"));
  CHECK_FALSE(has(json, "bkt"));
  o.prefix = "none-";
  REQUIRE(list() == DATAFLUX_OK);
  CHECK(json_of(op) == R"({"items":[]})");
  o.project = nullptr;  // nor has an emulator's client one
  CHECK(list() == DATAFLUX_INVALID_ARGUMENT);
  o.struct_size = 1;
  CHECK(list() == DATAFLUX_INVALID_ARGUMENT);
}

TEST_CASE("dataflux_bucket and its like: bad input is answered before any request", "[c_api]") {
  world w;
  told why;
  dataflux_operation* op = nullptr;
  const auto o = bucket("bkt");
  CHECK(dataflux_bucket(w.client.get(), nullptr, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_bucket(nullptr, &o, nullptr, 0, &op, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_bucket(w.client.get(), &o, nullptr, 0, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_list_buckets(nullptr, nullptr, nullptr, 0, &op, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(facts(w, bucket(nullptr), why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(facts(w, bucket("Not A Bucket"), why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(granted(w, o, {}, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(granted(w, o, {nullptr}, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "one of the permissions is NULL");
  CHECK(dataflux_test_permissions(w.client.get(), &o, nullptr, 1, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  // A later program's struct: what it sets behind ours is refused.
  struct {
    dataflux_bucket_options known;
    std::uint64_t more;
  } later{o, 0};
  later.known.struct_size = sizeof later;
  CHECK(facts(w, later.known, why) == DATAFLUX_OK);
  later.more = 1;
  CHECK(facts(w, later.known, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(w.server.counters().of() == 1);
}

TEST_CASE("dataflux_bucket: cancelled, and its client closed", "[c_api]") {
  world w;
  w.hold();
  told why;
  const auto o = bucket("bkt");
  const bool closes = GENERATE(false, true);
  dataflux_operation* op = nullptr;
  REQUIRE(dataflux_bucket(w.client.get(), &o, nullptr, 0, &op, why) == DATAFLUX_OK);
  const operation_ptr owner(op);
  closes ? dataflux_client_close(w.client.get()) : dataflux_operation_cancel(op);
  REQUIRE(dataflux_operation_wait(op, -1, why) == DATAFLUX_OK);
  CHECK(dataflux_operation_result(op, why) == DATAFLUX_CANCELLED);
  if (closes) CHECK(facts(w, o, why) == DATAFLUX_FAILED_PRECONDITION);
}

}  // namespace c_api_bucket_test
