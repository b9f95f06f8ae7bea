#include <c_api/harness.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace c_api_object_changes_test {

using namespace c_api_test;

namespace {

dataflux_status copy(const world& w, const dataflux_object_options& source,
                     const dataflux_object_options& target, told& why,
                     const dataflux_attributes* attributes = nullptr,
                     operation_ptr* kept = nullptr) {
  return outcome(
      [&](dataflux_operation** op, dataflux_error** err) {
        return dataflux_copy(w.client.get(), &source, &target, attributes, nullptr, 0, op, err);
      },
      why, kept);
}
dataflux_status move(const world& w, const dataflux_object_options& source,
                     const dataflux_object_options& target, told& why,
                     operation_ptr* kept = nullptr) {
  return outcome(
      [&](dataflux_operation** op, dataflux_error** err) {
        return dataflux_move(w.client.get(), &source, &target, nullptr, 0, op, err);
      },
      why, kept);
}
dataflux_status compose(const world& w, const dataflux_object_options& target,
                        const std::vector<const char*>& names, told& why,
                        const std::int64_t* generations = nullptr,
                        const dataflux_attributes* attributes = nullptr,
                        operation_ptr* kept = nullptr) {
  return outcome(
      [&](dataflux_operation** op, dataflux_error** err) {
        return dataflux_compose(w.client.get(), &target, names.data(), generations, names.size(),
                                attributes, nullptr, 0, op, err);
      },
      why, kept);
}
dataflux_status patch(const world& w, const dataflux_object_options& o,
                      const dataflux_attributes* attributes, told& why,
                      operation_ptr* kept = nullptr) {
  return outcome(
      [&](dataflux_operation** op, dataflux_error** err) {
        return dataflux_patch(w.client.get(), &o, attributes, nullptr, 0, op, err);
      },
      why, kept);
}
dataflux_status put(const world& w, const dataflux_object_options& o, const std::string& data,
                    told& why) {
  return outcome(
      [&](dataflux_operation** op, dataflux_error** err) {
        return dataflux_put(w.client.get(), &o, data.data(), data.size(), nullptr, nullptr, 0, op,
                            err);
      },
      why);
}
dataflux_status remove(const world& w, const dataflux_object_options& o, told& why) {
  return outcome(
      [&](dataflux_operation** op, dataflux_error** err) {
        return dataflux_remove(w.client.get(), &o, nullptr, 0, op, err);
      },
      why);
}
dataflux_attributes no_attributes() {
  dataflux_attributes a;
  dataflux_attributes_init(&a, sizeof a);
  return a;
}
dataflux_conditions generation_match(std::int64_t generation) {
  dataflux_conditions c;
  dataflux_conditions_init(&c, sizeof c);
  c.has = DATAFLUX_IF_GENERATION_MATCH;
  c.generation_match = generation;
  return c;
}

}  // namespace

TEST_CASE("dataflux_copy: to another bucket, with the source's attributes or others", "[c_api]") {
  world w;
  w.server.service().store().create_bucket("other", {});
  const std::int64_t first = w.server.put("bkt", "o", "12345", {.content_type = "text/plain"});
  told why;
  auto target = world::object("copy");
  target.bucket = "other";
  operation_ptr op;
  REQUIRE(copy(w, world::object("o"), target, why, nullptr, &op) == DATAFLUX_OK);
  CHECK(has(json_of(op), R"({"bucket":"other","name":"copy","size":"5")"));
  CHECK(has(json_of(op), R"("contentType":"text/plain")"));
  CHECK(w.server.get("other", "copy") == "12345");
  auto a = no_attributes();
  a.content_type = "text/html";
  REQUIRE(copy(w, world::object("o"), target, why, &a, &op) == DATAFLUX_OK);
  CHECK(has(json_of(op), R"("contentType":"text/html")"));
  // Conditions of either.
  const auto create = generation_match(0);
  target.conditions = &create;
  CHECK(copy(w, world::object("o"), target, why) == DATAFLUX_ALREADY_EXISTS);
  target.conditions = nullptr;
  auto source = world::object("o");
  const auto wrong = generation_match(first + 1);
  source.conditions = &wrong;
  CHECK(copy(w, source, target, why) == DATAFLUX_FAILED_PRECONDITION);
  source.conditions = nullptr;
  source.generation = first + 1;
  CHECK(copy(w, source, target, why) == DATAFLUX_NOT_FOUND);
  source.generation = first;
  CHECK(copy(w, source, target, why) == DATAFLUX_OK);
}

TEST_CASE("dataflux_move: at the new name alone", "[c_api]") {
  world w;
  const std::int64_t first = w.server.put("bkt", "o", "12345");
  told why;
  auto source = world::object("o");
  const auto right = generation_match(first);
  source.conditions = &right;
  operation_ptr op;
  REQUIRE(move(w, source, world::object("new"), why, &op) == DATAFLUX_OK);
  CHECK(has(json_of(op), R"("name":"new","size":"5")"));
  CHECK(w.server.get("bkt", "new") == "12345");
  CHECK_FALSE(w.server.get("bkt", "o"));
  CHECK(move(w, world::object("o"), world::object("new"), why) == DATAFLUX_NOT_FOUND);
  w.server.put("bkt", "o", "again");
  CHECK(move(w, source, world::object("new"), why) == DATAFLUX_FAILED_PRECONDITION);
  auto target = world::object("new");
  const auto create = generation_match(0);
  target.conditions = &create;
  CHECK(move(w, world::object("o"), target, why) == DATAFLUX_ALREADY_EXISTS);
  CHECK(w.server.get("bkt", "new") == "12345");
}

TEST_CASE("dataflux_compose: in the order of the names", "[c_api]") {
  world w;
  w.server.put("bkt", "a", "aaa");
  w.server.put("bkt", "b", "bb");
  const std::int64_t c = w.server.put("bkt", "c", "c");
  told why;
  auto a = no_attributes();
  a.content_type = "text/plain";
  operation_ptr op;
  const std::int64_t generations[]{0, 0, c};
  REQUIRE(compose(w, world::object("all"), {"b", "a", "c"}, why, generations, &a, &op) ==
          DATAFLUX_OK);
  CHECK(has(json_of(op), R"("contentType":"text/plain")"));
  CHECK(has(json_of(op), R"("componentCount":3)"));
  CHECK(w.server.get("bkt", "all") == "bbaaac");
  const std::int64_t gone[]{0, c + 100, 0};
  CHECK(compose(w, world::object("all"), {"b", "a", "c"}, why, gone) == DATAFLUX_NOT_FOUND);
  CHECK(compose(w, world::object("all"), {"a", "missing"}, why) == DATAFLUX_NOT_FOUND);
  CHECK(w.server.get("bkt", "all") == "bbaaac");
}

TEST_CASE("dataflux_patch: what is NULL stays, what is empty goes", "[c_api]") {
  world w;
  emulator::object_metadata before{.content_type = "text/plain", .cache_control = "no-store"};
  before.custom = {{"keep", "1"}, {"drop", "2"}};
  w.server.put("bkt", "o", "12345", before);
  told why;
  auto a = no_attributes();
  const char* const names[]{"drop", "new"};
  const char* const values[]{nullptr, "3"};
  a.cache_control = "";
  a.content_language = "de";
  a.custom_time_ns = 1'700'000'000'000'000'000;
  a.metadata_names = names;
  a.metadata_values = values;
  a.metadata_count = 2;
  auto o = world::object("o");
  dataflux_conditions c;
  dataflux_conditions_init(&c, sizeof c);
  c.has = DATAFLUX_IF_METAGENERATION_MATCH;
  c.metageneration_match = 1;
  o.conditions = &c;
  operation_ptr op;
  REQUIRE(patch(w, o, &a, why, &op) == DATAFLUX_OK);
  const std::string json = json_of(op);
  INFO(json);
  CHECK(has(json, R"("contentType":"text/plain")"));
  CHECK(has(json, R"("contentLanguage":"de")"));
  CHECK_FALSE(has(json, "cacheControl"));
  CHECK(has(json, R"("customTime":"2023-11-14T22:13:20Z")"));
  CHECK(has(json, R"("metadata":{"keep":"1","new":"3"})"));
  CHECK(has(json, R"("metageneration":"2")"));
  CHECK(patch(w, o, &a, why) == DATAFLUX_FAILED_PRECONDITION);
}

// What each of them does under each failure is the table's of docs/retries.md; here, that all six
// are sent by the rule of the last writer.
TEST_CASE("dataflux_put and its like: a refusal or a lost reply ends none", "[c_api]") {
  namespace fault = emulator::fault;
  const fault::action failures[] = {fault::refuse{503}, fault::lose_reply{}};
  for (const fault::action& failure : failures) {
    world w;
    told why;
    auto a = no_attributes();
    a.content_type = "text/html";
    const auto fails_once = [&](const char* verb) {
      w.server.faults().clear();
      w.server.faults().add({.verb = verb, .action = failure});
    };
    fails_once("objects.insert");
    CHECK(put(w, world::object("a"), "1", why) == DATAFLUX_OK);
    CHECK(w.server.get("bkt", "a") == "1");
    fails_once("objects.rewrite");
    CHECK(copy(w, world::object("a"), world::object("b"), why) == DATAFLUX_OK);
    CHECK(w.server.get("bkt", "b") == "1");
    fails_once("objects.compose");
    CHECK(compose(w, world::object("c"), {"a", "b"}, why) == DATAFLUX_OK);
    CHECK(w.server.get("bkt", "c") == "11");
    fails_once("objects.compose");  // onto itself: once, and not twice
    CHECK(compose(w, world::object("c"), {"c", "b"}, why) == DATAFLUX_OK);
    CHECK(w.server.get("bkt", "c") == "111");
    fails_once("objects.patch");
    CHECK(patch(w, world::object("c"), &a, why) == DATAFLUX_OK);
    CHECK(w.server.service().store().get("bkt", "c", {})->metadata.content_type == "text/html");
    fails_once("objects.move");
    CHECK(move(w, world::object("c"), world::object("d"), why) == DATAFLUX_OK);
    CHECK_FALSE(w.server.get("bkt", "c"));
    CHECK(w.server.get("bkt", "d") == "111");
    fails_once("objects.delete");
    CHECK(remove(w, world::object("d"), why) == DATAFLUX_OK);
    CHECK_FALSE(w.server.get("bkt", "d"));
    CHECK(w.server.faults().hits() == 1);
  }
}

TEST_CASE("dataflux_move: under a condition of the target it is known again, too", "[c_api]") {
  world w;
  w.server.put("bkt", "o", "12345");
  told why;
  auto target = world::object("new");
  const auto create = generation_match(0);
  target.conditions = &create;
  w.server.faults().add({.verb = "objects.move", .action = emulator::fault::lose_reply{}});
  CHECK(move(w, world::object("o"), target, why) == DATAFLUX_OK);
  CHECK(w.server.get("bkt", "new") == "12345");
}

TEST_CASE("dataflux_copy and its like: bad input is answered before any request", "[c_api]") {
  world w;
  told why;
  const auto o = world::object("o");
  const auto p = world::object("p");
  dataflux_operation* op = nullptr;
  CHECK(dataflux_copy(w.client.get(), nullptr, &p, nullptr, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_copy(w.client.get(), &o, nullptr, nullptr, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_copy(nullptr, &o, &p, nullptr, nullptr, 0, &op, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_copy(w.client.get(), &o, &p, nullptr, nullptr, 0, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_move(w.client.get(), nullptr, &p, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_patch(w.client.get(), nullptr, nullptr, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_compose(w.client.get(), &o, nullptr, nullptr, 2, nullptr, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "names is NULL");
  CHECK(compose(w, o, {}, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(compose(w, o, {"a", nullptr}, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "one of the names is NULL");
  auto limited = o;
  limited.timeout_ns = 5;
  CHECK(copy(w, limited, p, why) == DATAFLUX_INVALID_ARGUMENT);
  limited = o;
  limited.fields = DATAFLUX_FIELD_BASIC;
  CHECK(copy(w, limited, p, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(copy(w, o, limited, why) == DATAFLUX_INVALID_ARGUMENT);
  auto with_generation = o;
  with_generation.generation = 7;
  CHECK(copy(w, p, with_generation, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(move(w, p, with_generation, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(move(w, with_generation, p, why) == DATAFLUX_INVALID_ARGUMENT);
  auto elsewhere = o;
  elsewhere.bucket = "other";
  CHECK(move(w, elsewhere, p, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(move(w, o, o, why) == DATAFLUX_INVALID_ARGUMENT);
  auto a = no_attributes();
  CHECK(patch(w, o, &a, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(patch(w, o, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  a.storage_class = "NEARLINE";
  CHECK(patch(w, o, &a, why) == DATAFLUX_INVALID_ARGUMENT);
  a = no_attributes();
  a.metadata_count = 1;
  CHECK(patch(w, o, &a, why) == DATAFLUX_INVALID_ARGUMENT);
  const char* const nothing[]{nullptr};
  a.metadata_names = nothing;
  a.metadata_values = nothing;
  CHECK(patch(w, o, &a, why) == DATAFLUX_INVALID_ARGUMENT);
  a = no_attributes();
  a.struct_size = 3;
  CHECK(patch(w, o, &a, why) == DATAFLUX_INVALID_ARGUMENT);
  // Options of an older program, whose struct ended before the fields.
  auto older = o;
  older.struct_size = offsetof(dataflux_object_options, fields);
  older.fields = 77;
  CHECK(copy(w, older, o, why) == DATAFLUX_NOT_FOUND);
  CHECK(w.server.counters().of() == 1);
}

TEST_CASE("dataflux_copy: cancelled, and its client closed", "[c_api]") {
  world w;
  w.hold();
  told why;
  const auto o = world::object("o");
  const auto p = world::object("p");
  const bool closes = GENERATE(false, true);
  dataflux_operation* op = nullptr;
  REQUIRE(dataflux_copy(w.client.get(), &o, &p, nullptr, nullptr, 0, &op, why) == DATAFLUX_OK);
  const operation_ptr owner(op);
  closes ? dataflux_client_close(w.client.get()) : dataflux_operation_cancel(op);
  REQUIRE(dataflux_operation_wait(op, -1, why) == DATAFLUX_OK);
  CHECK(dataflux_operation_result(op, why) == DATAFLUX_CANCELLED);
  if (closes) {
    CHECK(copy(w, o, p, why) == DATAFLUX_FAILED_PRECONDITION);
    CHECK(move(w, o, p, why) == DATAFLUX_FAILED_PRECONDITION);
  }
}

}  // namespace c_api_object_changes_test
