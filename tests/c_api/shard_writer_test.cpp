#include <c_api/saving.hpp>

#include <support/tar_bytes.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace c_api_shard_writer_test {

using namespace c_api_test;

namespace {

dataflux_shard_writer_options shards_of(const char* pattern, std::uint64_t count) {
  dataflux_shard_writer_options o;
  dataflux_shard_writer_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.pattern = pattern;
  o.count = count;
  return o;
}
dataflux_field_bytes field(std::string_view name, std::string_view data) {
  return {name.data(), name.size(), data.data(), data.size()};
}
operation_ptr open(const client_ptr& client, const dataflux_shard_writer_options& o,
                   dataflux_status expected = DATAFLUX_OK, dataflux_record* record = nullptr) {
  return ended(
      [&](auto queue, auto tag, auto op, auto err) {
        return dataflux_shard_writer_open(client.get(), &o, queue, tag, op, err);
      },
      expected, record);
}
shard_writer_ptr take(const operation_ptr& op) {
  told why;
  dataflux_shard_writer* made = nullptr;
  const dataflux_status status = dataflux_operation_take_shard_writer(op.get(), &made, why);
  INFO(why.text());
  REQUIRE(status == DATAFLUX_OK);
  return shard_writer_ptr(made);
}
dataflux_status write(const shard_writer_ptr& writer, std::string_view key,
                      const std::vector<dataflux_field_bytes>& fields, told& why) {
  std::int32_t done = 7;
  const dataflux_status status = dataflux_shard_writer_write(
      writer.get(), key.data(), key.size(), fields.data(), fields.size(), 1, &done, why);
  CHECK(done == (status == DATAFLUX_OK ? 1 : 0));
  return status;
}
operation_ptr finish(const shard_writer_ptr& writer, dataflux_status expected = DATAFLUX_OK,
                     dataflux_record* record = nullptr) {
  told why;
  std::int32_t done = 0;
  dataflux_shard_writer_end(writer.get(), 1, &done, why);
  return ended(
      [&](auto queue, auto tag, auto op, auto err) {
        return dataflux_shard_writer_finish(writer.get(), queue, tag, op, err);
      },
      expected, record);
}

}  // namespace

TEST_CASE("dataflux_shard_writer: samples are there as shards, and resuming goes on", "[c_api]") {
  world w;
  told why;
  auto o = shards_of("t/%03d.tar", 2);
  {
    const auto writer = take(open(w.client, o));
    for (const char* key : {"a", "b", "c", "d", "e"}) {
      REQUIRE(write(writer, key, {field("y", "of"), field("x", key)}, why) == DATAFLUX_OK);
    }
    // Not finished: the third shard is discarded.
    ended([&](auto queue, auto tag, auto op, auto err) {
      return dataflux_shard_writer_abort(writer.get(), queue, tag, op, err);
    });
  }
  CHECK(w.server.get("bkt", "t/001.tar"));
  CHECK(w.server.get("bkt", "t/001.tar.dfx"));
  CHECK_FALSE(w.server.get("bkt", "t/002.tar"));
  o.resume = 1;
  dataflux_record r{};
  const auto op = open(w.client, o, DATAFLUX_OK, &r);
  CHECK(r.size == 4);
  CHECK(has(json_of(op), R"({"shards":2,"samples":4,"bytes":)"));
  const auto writer = take(op);
  REQUIRE(write(writer, "e", {field("x", "e")}, why) == DATAFLUX_OK);
  const auto made = finish(writer, DATAFLUX_OK, &r);
  CHECK(r.size == 1);
  const std::string json = json_of(made);
  INFO(json);
  CHECK(has(json, R"({"samples":1,"bytes":2048,"resumed":{"shards":2,"samples":4,)"));
  CHECK(has(json, R"("shards":[{"name":"t/002.tar","samples":1,"bytes":2048,"crc32c":)"));
  CHECK(has(json, R"("ended":"finished"}]})"));
  CHECK(w.server.get("bkt", "t/002.tar")->size() == 2048);
  finish(writer, DATAFLUX_FAILED_PRECONDITION);
}

TEST_CASE("dataflux_shard_writer: without waiting, and told of room", "[c_api]") {
  world w;
  auto options = w.options();
  options.upload_memory = 2 * least_part;
  const auto client = world::make_client(options);
  auto o = shards_of("t/%03d.tar", 0);
  o.bytes = 3 * least_part;
  const auto writer = take(open(client, o));
  const queue_ptr queue = make_queue();
  const std::string body(least_part - 1000, 'x');
  told why;
  int waits = 0;
  const auto until_done = [&](auto call) {
    for (std::int32_t done = 0; done == 0;) {
      const dataflux_status status = call(&done);
      INFO(why.text());
      REQUIRE(status == DATAFLUX_OK);
      if (done != 0) return;
      REQUIRE(dataflux_shard_writer_notify(writer.get(), queue.get(), 5, why) == DATAFLUX_OK);
      const auto told_now = next(queue);
      REQUIRE(told_now.size() == 1);
      CHECK(told_now[0].tag == 5);
      ++waits;
    }
  };
  for (int i = 0; i < 8; ++i) {
    const std::string key = std::to_string(i);
    const std::array fields{field("bin", body)};
    until_done([&](std::int32_t* done) {
      return dataflux_shard_writer_write(writer.get(), key.data(), key.size(), fields.data(), 1, 0,
                                         done, why);
    });
  }
  until_done(
      [&](std::int32_t* done) { return dataflux_shard_writer_end(writer.get(), 0, done, why); });
  CHECK(waits > 0);
  CHECK(has(json_of(finish(writer)), R"("ended":"bytes"})"));
  for (const char* name : {"t/000.tar", "t/001.tar", "t/002.tar", "t/003.tar"}) {
    CHECK(w.server.get("bkt", name));
  }
}

TEST_CASE("dataflux_shard_writer: bad input is answered", "[c_api]") {
  world w;
  told why;
  dataflux_operation* op = nullptr;
  const auto refused = [&](const dataflux_shard_writer_options* o) {
    CHECK(dataflux_shard_writer_open(w.client.get(), o, nullptr, 0, &op, why) ==
          DATAFLUX_INVALID_ARGUMENT);
    return why.message();
  };
  CHECK(refused(nullptr) == "bucket is NULL");
  auto o = shards_of(nullptr, 1);
  CHECK(refused(&o) == "pattern is NULL");
  o.struct_size = 3;
  refused(&o);
  o = shards_of("t.tar", 1);
  open(w.client, o, DATAFLUX_INVALID_ARGUMENT);
  o = shards_of("%03d", 0);
  open(w.client, o, DATAFLUX_INVALID_ARGUMENT);
  o = shards_of("%03d", 1);
  CHECK(dataflux_shard_writer_open(nullptr, &o, nullptr, 0, &op, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_shard_writer_open(w.client.get(), &o, nullptr, 0, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  const auto opened = open(w.client, o);
  CHECK(dataflux_operation_take_shard_writer(opened.get(), nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  const auto writer = take(opened);
  dataflux_shard_writer* again = nullptr;
  CHECK(dataflux_operation_take_shard_writer(opened.get(), &again, why) ==
        DATAFLUX_FAILED_PRECONDITION);
  dataflux_writer* other = nullptr;
  CHECK(dataflux_operation_take_writer(opened.get(), &other, why) == DATAFLUX_INVALID_ARGUMENT);

  std::int32_t done = 7;
  const std::array good{field("x", "1")};
  const auto bad = [&](const char* key, std::size_t size, const dataflux_field_bytes* fields,
                       std::size_t count) {
    CHECK(dataflux_shard_writer_write(writer.get(), key, size, fields, count, 1, &done, why) ==
          DATAFLUX_INVALID_ARGUMENT);
    CHECK(done == 0);
  };
  bad(nullptr, 1, good.data(), 1);
  bad("k", 1, nullptr, 1);
  bad("k", 1, good.data(), 0);
  bad("k.j", 3, good.data(), 1);
  const dataflux_field_bytes no_name{nullptr, 1, "x", 1};
  bad("k", 1, &no_name, 1);
  const dataflux_field_bytes no_data{"x", 1, nullptr, 1};
  bad("k", 1, &no_data, 1);
  CHECK(dataflux_shard_writer_write(writer.get(), "k", 1, good.data(), 1, 1, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_shard_writer_write(nullptr, "k", 1, good.data(), 1, 1, &done, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_shard_writer_end(writer.get(), 1, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_shard_writer_notify(writer.get(), nullptr, 1, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_shard_writer_finish(writer.get(), nullptr, 1, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  REQUIRE(write(writer, "k", {good[0]}, why) == DATAFLUX_OK);
  CHECK(json_of(finish(writer)).find("\"samples\":1,") != std::string::npos);
  dataflux_shard_writer_free(nullptr);
}

TEST_CASE("dataflux_shard_writer: aborted, or its client is closed", "[c_api]") {
  world w;
  told why;
  const auto o = shards_of("%03d.tar", 10);
  {
    const auto writer = take(open(w.client, o));
    REQUIRE(write(writer, "k", {field("x", "1")}, why) == DATAFLUX_OK);
    ended([&](auto queue, auto tag, auto op, auto err) {
      return dataflux_shard_writer_abort(writer.get(), queue, tag, op, err);
    });
    CHECK(write(writer, "l", {field("x", "1")}, why) == DATAFLUX_FAILED_PRECONDITION);
  }
  const auto writer = take(open(w.client, o));
  REQUIRE(write(writer, "k", {field("x", "1")}, why) == DATAFLUX_OK);
  dataflux_client_close(w.client.get());
  dataflux_status status = write(writer, "l", {field("x", "1")}, why);
  std::int32_t done = 0;
  dataflux_operation* op = nullptr;
  if (status == DATAFLUX_OK) {
    status = dataflux_shard_writer_end(writer.get(), 1, &done, why);
  }
  if (status == DATAFLUX_OK) {
    status = dataflux_shard_writer_finish(writer.get(), nullptr, 0, &op, why);
  }
  CHECK(status != DATAFLUX_OK);
  CHECK_FALSE(w.server.get("bkt", "000.tar"));
}

}  // namespace c_api_shard_writer_test
