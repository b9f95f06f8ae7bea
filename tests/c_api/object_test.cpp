#include <c_api/harness.hpp>

#include <dataflux/codec/crc32c.hpp>

#include <cstdint>
#include <string>

namespace c_api_object_test {

using namespace c_api_test;

namespace {

dataflux_status put(const world& w, const dataflux_object_options& o, std::string_view body,
                    told& why, const dataflux_attributes* attributes = nullptr,
                    operation_ptr* kept = nullptr) {
  return outcome(
      [&](dataflux_operation** op, dataflux_error** err) {
        return dataflux_put(w.client.get(), &o, body.data(), body.size(), attributes, nullptr, 0,
                            op, err);
      },
      why, kept);
}
dataflux_status stat(const world& w, const dataflux_object_options& o, told& why,
                     operation_ptr* kept = nullptr) {
  return outcome(
      [&](dataflux_operation** op, dataflux_error** err) {
        return dataflux_stat(w.client.get(), &o, nullptr, 0, op, err);
      },
      why, kept);
}
dataflux_status remove(const world& w, const dataflux_object_options& o, told& why) {
  return outcome(
      [&](dataflux_operation** op, dataflux_error** err) {
        return dataflux_remove(w.client.get(), &o, nullptr, 0, op, err);
      },
      why);
}

}  // namespace

TEST_CASE("dataflux_put: what is put is there, with its attributes", "[c_api]") {
  world w;
  told why;
  dataflux_attributes a;
  dataflux_attributes_init(&a, sizeof a);
  const char* const names[]{"one", "two"};
  const char* const values[]{"1", "zw\xc3\xb6lf"};
  a.content_type = "text/plain";
  a.cache_control = "no-store";
  a.custom_time_ns = 1'700'000'000'000'000'000;
  a.metadata_names = names;
  a.metadata_values = values;
  a.metadata_count = 2;
  operation_ptr op;
  REQUIRE(put(w, world::object("a \"name\""), "12345", why, &a, &op) == DATAFLUX_OK);
  const std::string made = json_of(op);
  CHECK(has(made, R"("name":"a \"name\"")"));
  REQUIRE(stat(w, world::object("a \"name\""), why, &op) == DATAFLUX_OK);
  const std::string json = json_of(op);
  INFO(json);
  CHECK(has(json, R"("size":"5")"));
  CHECK(has(json, R"("contentType":"text/plain")"));
  CHECK(has(json, R"("cacheControl":"no-store")"));
  CHECK(has(json, R"("customTime":"2023-11-14T22:13:20Z")"));
  CHECK(has(json, "\"metadata\":{\"one\":\"1\",\"two\":\"zw\xc3\xb6lf\"}"));
  const auto crc = dataflux::crc32c(dataflux::as_bytes(std::string_view("12345")));
  CHECK(has(json, "\"crc32c\":\"" + std::string(dataflux::encode_crc32c(crc).view())));
}

TEST_CASE("dataflux_put: conditions", "[c_api]") {
  world w;
  told why;
  dataflux_conditions c;
  dataflux_conditions_init(&c, sizeof c);
  c.has = DATAFLUX_IF_GENERATION_MATCH;  // 0: it must not exist
  auto o = world::object("o");
  o.conditions = &c;
  CHECK(put(w, o, "first", why) == DATAFLUX_OK);
  CHECK(put(w, o, "second", why) == DATAFLUX_ALREADY_EXISTS);
  c.has = DATAFLUX_IF_METAGENERATION_MATCH;
  c.metageneration_match = 77;
  CHECK(remove(w, o, why) == DATAFLUX_FAILED_PRECONDITION);
  c.metageneration_match = 1;
  CHECK(remove(w, o, why) == DATAFLUX_OK);
  CHECK(remove(w, world::object("o"), why) == DATAFLUX_NOT_FOUND);
  c.has = 16;
  CHECK(put(w, o, "third", why) == DATAFLUX_INVALID_ARGUMENT);
}

TEST_CASE("dataflux_get_one: into the caller's memory", "[c_api]") {
  world w;
  const std::string body = world::body_of(3, 20'000'000);
  w.server.put("bkt", "large", body);
  told why;
  const queue_ptr queue = make_queue();
  std::string memory(body.size(), '\0');
  const auto o = world::object("large");
  REQUIRE(dataflux_get_one(w.client.get(), &o, 0, memory.data(), memory.size(), queue.get(), 1,
                           nullptr, why) == DATAFLUX_OK);
  auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].status == DATAFLUX_OK);
  CHECK(records[0].size == body.size());
  CHECK((records[0].flags & DATAFLUX_RECORD_VERIFIED) != 0);
  CHECK(records[0].crc32c == dataflux::crc32c(dataflux::as_bytes(std::string_view(body))));
  CHECK(memory == body);
  std::string part(100, '\0');
  REQUIRE(dataflux_get_one(w.client.get(), &o, 1000, part.data(), part.size(), queue.get(), 2,
                           nullptr, why) == DATAFLUX_OK);
  records = next(queue);
  CHECK(records[0].size == 100);
  CHECK(part == body.substr(1000, 100));
  // All of it, of that very size.
  auto all = world::object("large");
  all.whole = 1;
  for (const std::size_t short_of : {0U, 1U}) {
    REQUIRE(dataflux_get_one(w.client.get(), &all, 0, memory.data(), memory.size() - short_of,
                             queue.get(), 3, nullptr, why) == DATAFLUX_OK);
    CHECK(next(queue)[0].status == (short_of == 0 ? DATAFLUX_OK : DATAFLUX_OUT_OF_RANGE));
  }
  CHECK(dataflux_get_one(w.client.get(), &all, 1, memory.data(), 1, queue.get(), 3, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  // Where the object ends before.
  REQUIRE(dataflux_get_one(w.client.get(), &o, body.size() - 50, part.data(), part.size(),
                           queue.get(), 3, nullptr, why) == DATAFLUX_OK);
  records = next(queue);
  CHECK(records[0].status == DATAFLUX_OUT_OF_RANGE);
  // Nothing: an object that is empty.
  REQUIRE(dataflux_get_one(w.client.get(), &o, 0, nullptr, 0, queue.get(), 4, nullptr, why) ==
          DATAFLUX_OK);
  CHECK(next(queue)[0].status == DATAFLUX_OUT_OF_RANGE);
  w.server.put("bkt", "empty", "");
  const auto empty = world::object("empty");
  REQUIRE(dataflux_get_one(w.client.get(), &empty, 0, nullptr, 0, queue.get(), 4, nullptr, why) ==
          DATAFLUX_OK);
  CHECK(next(queue)[0].status == DATAFLUX_OK);
  const auto gone = world::object("gone");
  REQUIRE(dataflux_get_one(w.client.get(), &gone, 0, nullptr, 0, queue.get(), 5, nullptr, why) ==
          DATAFLUX_OK);
  CHECK(next(queue)[0].status == DATAFLUX_NOT_FOUND);
}

TEST_CASE("dataflux_stat: what is not asked for is not sent", "[c_api]") {
  world w;
  w.server.put("bkt", "o", "12345", {.content_type = "text/plain"});
  told why;
  auto o = world::object("o");
  operation_ptr op;
  REQUIRE(stat(w, o, why, &op) == DATAFLUX_OK);
  CHECK(has(json_of(op), R"("metageneration":"1")"));
  o.fields = DATAFLUX_FIELD_BASIC;
  REQUIRE(stat(w, o, why, &op) == DATAFLUX_OK);
  CHECK(has(json_of(op), R"({"bucket":"bkt","name":"o","size":"5","generation":")"));
  CHECK_FALSE(has(json_of(op), "metageneration"));
  CHECK_FALSE(has(json_of(op), "contentType"));
  CHECK_FALSE(has(json_of(op), "etag"));
  o.fields = DATAFLUX_FIELD_CONTENT_TYPE | DATAFLUX_FIELD_TIME_CREATED;
  REQUIRE(stat(w, o, why, &op) == DATAFLUX_OK);
  CHECK(has(json_of(op), R"("contentType":"text/plain")"));
  CHECK(has(json_of(op), "timeCreated"));
  CHECK_FALSE(has(json_of(op), "updated"));
  o.fields = DATAFLUX_FIELD_METADATA << 1U;
  CHECK(stat(w, o, why) == DATAFLUX_INVALID_ARGUMENT);
  o.fields = DATAFLUX_FIELD_BASIC;
  CHECK(remove(w, o, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "`fields` are for dataflux_stat()");
}

TEST_CASE("dataflux_get_one: a slice may be of any size", "[c_api]") {
  world w;
  w.server.put("bkt", "o", "12345");
  const auto o = world::object("o");
  for (const std::uint64_t slice : {std::uint64_t{1}, ~std::uint64_t{0} - 1, ~std::uint64_t{0}}) {
    auto options = w.options();
    options.slice = slice;
    const client_ptr client = world::make_client(options);
    told why;
    std::array<char, 5> memory{};
    CHECK(outcome(
              [&](dataflux_operation** op, dataflux_error** err) {
                return dataflux_get_one(client.get(), &o, 0, memory.data(), memory.size(), nullptr,
                                        0, op, err);
              },
              why) == DATAFLUX_OK);
    CHECK(std::string_view(memory.data(), memory.size()) == "12345");
  }
}

TEST_CASE("dataflux_stat and its like: bad input is answered before any request", "[c_api]") {
  world w;
  told why;
  dataflux_object_options none;
  dataflux_object_options_init(&none, sizeof none);
  CHECK(stat(w, none, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "bucket is NULL");
  none.bucket = "bkt";
  CHECK(stat(w, none, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "object is NULL");
  CHECK(stat(w, world::object(""), why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(stat(w, world::object("bad \xff UTF-8"), why) == DATAFLUX_INVALID_ARGUMENT);
  auto o = world::object("o");
  o.generation = 5;
  CHECK(put(w, o, "x", why) == DATAFLUX_INVALID_ARGUMENT);
  dataflux_operation* op = nullptr;
  o.generation = 0;
  CHECK(dataflux_put(w.client.get(), &o, nullptr, 5, nullptr, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_get_one(w.client.get(), &o, 0, nullptr, 5, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  dataflux_conditions c;
  dataflux_conditions_init(&c, sizeof c);
  o.conditions = &c;
  char memory[5];
  CHECK(dataflux_get_one(w.client.get(), &o, 0, memory, 5, nullptr, 0, &op, why) ==
        DATAFLUX_UNIMPLEMENTED);
  dataflux_attributes a;
  dataflux_attributes_init(&a, sizeof a);
  a.metadata_count = 1;
  CHECK(put(w, world::object("o"), "x", why, &a) == DATAFLUX_INVALID_ARGUMENT);
  const char* const names[]{nullptr};
  a.metadata_names = names;
  a.metadata_values = names;
  CHECK(put(w, world::object("o"), "x", why, &a) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(w.server.counters().of() == 0);
}

}  // namespace c_api_object_test
