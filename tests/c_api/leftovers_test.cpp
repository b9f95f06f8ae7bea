#include <c_api/harness.hpp>

#include <cstdint>
#include <string>

namespace c_api_leftovers_test {

using namespace c_api_test;

namespace {

constexpr const char* temporary = "dataflux-uploads/0123456789abcdef-data%2Fbig.bin";
constexpr const char* foreign = "dataflux-uploads/somebody's";

dataflux_leftovers_options in_bucket() {
  dataflux_leftovers_options o;
  dataflux_leftovers_options_init(&o, sizeof o);
  o.bucket = "bkt";
  return o;
}
/// Three of ours, and one of somebody else's.
void leave(world& w) {
  w.server.put("bkt", temporary, "12345");
  w.server.put("bkt", foreign, "123");
  w.server.put("bkt", "data/good", "x");
  w.server.service().uploads().initiate("bkt", "data/other.bin", {}, {});
}
dataflux_status find(const world& w, const dataflux_leftovers_options& o, told& why,
                     operation_ptr* kept = nullptr) {
  return outcome(
      [&](dataflux_operation** op, dataflux_error** err) {
        return dataflux_find_leftovers(w.client.get(), &o, nullptr, 0, op, err);
      },
      why, kept);
}
dataflux_status remove(const world& w, const dataflux_leftovers_options& o, told& why,
                       operation_ptr* kept = nullptr) {
  return outcome(
      [&](dataflux_operation** op, dataflux_error** err) {
        return dataflux_remove_leftovers(w.client.get(), &o, nullptr, 0, op, err);
      },
      why, kept);
}

}  // namespace

TEST_CASE("dataflux_find_leftovers: what there is, and what would go", "[c_api]") {
  world w;
  leave(w);
  told why;
  operation_ptr op;
  auto o = in_bucket();
  REQUIRE(find(w, o, why, &op) == DATAFLUX_OK);
  std::string json = json_of(op);
  INFO(json);
  // Without an age nobody knows whether an upload is at work.
  CHECK(has(json, R"({"stale":0,"stale_bytes":0,"young":2,"foreign":1,"failed":0,"rows":[)"));
  CHECK(has(json, R"("kind":"temporary_object","verdict":"young","target":"data/big.bin",)"
                  R"("whole_target":true,"name":"dataflux-uploads/0123)"));
  CHECK(has(json, R"("size":5,"noncurrent":false,"began":"20)"));
  CHECK(has(json, R"("kind":"upload","verdict":"young","target":"data/other.bin")"));
  CHECK(has(json, R"("upload_id":")"));
  CHECK(has(json, R"("age_seconds":)"));
  CHECK(has(json, R"("verdict":"foreign","target":"dataflux-uploads/somebody's")"));
  o.older_than_ns = -1;
  REQUIRE(find(w, o, why, &op) == DATAFLUX_OK);
  CHECK(has(json_of(op), R"({"stale":2,"stale_bytes":5,"young":0,"foreign":1,)"));
  o.older_than_ns = 3'600'000'000'000;
  REQUIRE(find(w, o, why, &op) == DATAFLUX_OK);
  CHECK(has(json_of(op), R"({"stale":0,"stale_bytes":0,"young":2,)"));
  o.kinds = DATAFLUX_LEFTOVERS_COMPOSITES;
  REQUIRE(find(w, o, why, &op) == DATAFLUX_OK);
  CHECK(has(json_of(op), R"("rows":[]})"));
  o.kinds = DATAFLUX_LEFTOVERS_UPLOADS;
  o.prefix = "data/b";
  REQUIRE(find(w, o, why, &op) == DATAFLUX_OK);
  CHECK(has(json_of(op), "big.bin"));
  CHECK_FALSE(has(json_of(op), "other.bin"));
}

TEST_CASE("dataflux_find_leftovers: a target that was cut within a character", "[c_api]") {
  world w;
  // 480 bytes: longer names are cut there.
  std::string name = "dataflux-uploads/0123456789abcdef-";
  name.resize(474, 'x');
  name += "%E2%82";  // two bytes of three
  REQUIRE(name.size() == 480);
  w.server.put("bkt", name, "1");
  told why;
  operation_ptr op;
  REQUIRE(find(w, in_bucket(), why, &op) == DATAFLUX_OK);
  const std::string json = json_of(op);
  CHECK(has(json, R"(xxx","whole_target":false)"));
  CHECK_FALSE(has(json, "\xe2"));
}

TEST_CASE("dataflux_remove_leftovers: what is stale goes, and nothing else", "[c_api]") {
  world w;
  leave(w);
  told why;
  auto o = in_bucket();
  REQUIRE(remove(w, o, why) == DATAFLUX_OK);
  CHECK(w.server.get("bkt", temporary));
  CHECK(w.server.service().uploads().open() == 1);
  o.older_than_ns = -1;
  const queue_ptr queue = make_queue();
  REQUIRE(dataflux_remove_leftovers(w.client.get(), &o, queue.get(), 4, nullptr, why) ==
          DATAFLUX_OK);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].status == DATAFLUX_OK);
  CHECK(records[0].size == 2);
  CHECK_FALSE(w.server.get("bkt", temporary));
  CHECK(w.server.get("bkt", foreign));
  CHECK(w.server.get("bkt", "data/good"));
  CHECK(w.server.service().uploads().open() == 0);
}

TEST_CASE("dataflux_remove_leftovers: one that cannot be removed is told", "[c_api]") {
  world w;
  leave(w);
  w.server.faults().add(
      {.verb = "objects.delete", .count = 0, .action = emulator::fault::refuse{403}});
  told why;
  operation_ptr op;
  auto o = in_bucket();
  o.older_than_ns = -1;
  REQUIRE(remove(w, o, why, &op) == DATAFLUX_OK);
  const std::string json = json_of(op);
  INFO(json);
  CHECK(has(json, R"("failed":1,)"));
  CHECK(has(json, R"("verdict":"failed")"));
  CHECK(has(json, R"("error":")"));
}

TEST_CASE("dataflux_find_leftovers and its like: bad input, cancelled, closed", "[c_api]") {
  world w;
  told why;
  dataflux_operation* op = nullptr;
  auto o = in_bucket();
  CHECK(dataflux_find_leftovers(w.client.get(), nullptr, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_remove_leftovers(w.client.get(), nullptr, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_find_leftovers(nullptr, &o, nullptr, 0, &op, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_remove_leftovers(w.client.get(), &o, nullptr, 0, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  o.kinds = 4;
  CHECK(find(w, o, why) == DATAFLUX_INVALID_ARGUMENT);
  o.kinds = 0;
  o.struct_size = 4;
  CHECK(remove(w, o, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(w.server.counters().of() == 0);
  w.hold();
  o = in_bucket();
  REQUIRE(dataflux_find_leftovers(w.client.get(), &o, nullptr, 0, &op, why) == DATAFLUX_OK);
  const operation_ptr first(op);
  REQUIRE(dataflux_remove_leftovers(w.client.get(), &o, nullptr, 0, &op, why) == DATAFLUX_OK);
  const operation_ptr second(op);
  dataflux_operation_cancel(first.get());
  dataflux_client_close(w.client.get());
  for (const operation_ptr* each : {&first, &second}) {
    REQUIRE(dataflux_operation_wait(each->get(), -1, why) == DATAFLUX_OK);
    CHECK(dataflux_operation_result(each->get(), why) == DATAFLUX_CANCELLED);
  }
  CHECK(find(w, o, why) == DATAFLUX_FAILED_PRECONDITION);
}

}  // namespace c_api_leftovers_test
