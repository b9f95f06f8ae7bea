#include <c_api/harness.hpp>
#include <support/temporary_folder.hpp>

#include <dataflux/codec/crc32c.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace c_api_file_test {

using namespace c_api_test;

namespace {

void write(const std::string& path, std::string_view body) {
  std::ofstream(path, std::ios::binary) << body;
}
std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
std::size_t files_in(const temporary_folder& folder) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder.path), {}));
}

/// A folder, a path in it, and options that name it and the object "o".
struct files {
  files() {
    dataflux_download_file_options_init(&down, sizeof down);
    dataflux_upload_file_options_init(&up, sizeof up);
    down.bucket = up.bucket = "bkt";
    down.object = up.object = "o";
    down.path = up.path = path.c_str();
  }
  dataflux_status download(const client_ptr& client, told& why, operation_ptr* kept = nullptr,
                           const queue_ptr& queue = {}) const {
    return outcome(
        [&](dataflux_operation** op, dataflux_error** err) {
          return dataflux_download_file(client.get(), &down, queue.get(), 5, op, err);
        },
        why, kept);
  }
  dataflux_status upload(const client_ptr& client, told& why, operation_ptr* kept = nullptr,
                         const queue_ptr& queue = {}) const {
    return outcome(
        [&](dataflux_operation** op, dataflux_error** err) {
          return dataflux_upload_file(client.get(), &up, queue.get(), 6, op, err);
        },
        why, kept);
  }

  const temporary_folder folder{};
  const std::string path{(folder.path / "f").string()};
  dataflux_download_file_options down{};
  dataflux_upload_file_options up{};
};

std::uint32_t crc_of(std::string_view body) { return dataflux::crc32c(dataflux::as_bytes(body)); }

}  // namespace

TEST_CASE("dataflux_download_file: an object, or a range of it, becomes a file", "[c_api]") {
  world w;
  const files f;
  const std::string body = world::body_of(1, 20'000'000);
  const std::int64_t generation = w.server.put("bkt", "o", body);
  told why;
  const queue_ptr queue = make_queue();
  operation_ptr op;
  REQUIRE(f.download(w.client, why, &op, queue) == DATAFLUX_OK);
  auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].tag == 5);
  CHECK(records[0].size == body.size());
  CHECK(records[0].crc32c == crc_of(body));
  CHECK(records[0].generation == generation);
  CHECK(records[0].flags == (DATAFLUX_RECORD_END | DATAFLUX_RECORD_VERIFIED));
  CHECK(read(f.path) == body);
  const std::string json = json_of(op);
  CHECK(json == "{\"bytes\":" + std::to_string(body.size()) + ",\"object_size\":" +
                    std::to_string(body.size()) + ",\"generation\":" + std::to_string(generation) +
                    ",\"verified\":true,\"resumed\":0}");
  files part;
  part.down.offset = 1000;
  part.down.length = 500;
  part.down.generation = generation;
  part.down.no_flush = 1;
  REQUIRE(part.download(w.client, why, &op, queue) == DATAFLUX_OK);
  records = next(queue);
  CHECK(records[0].size == 500);
  CHECK((records[0].flags & DATAFLUX_RECORD_VERIFIED) == 0);
  CHECK(read(part.path) == body.substr(1000, 500));
  part.down.length = 0;
  part.down.offset = body.size() - 10;
  REQUIRE(part.download(w.client, why) == DATAFLUX_OK);
  CHECK(read(part.path) == body.substr(body.size() - 10));
  part.down.offset = body.size() + 10;
  CHECK(part.download(w.client, why) == DATAFLUX_OUT_OF_RANGE);
  CHECK(read(part.path) == body.substr(body.size() - 10));
  part.down.object = "missing";
  CHECK(part.download(w.client, why) == DATAFLUX_NOT_FOUND);
  CHECK(std::string_view(dataflux_error_object(why.get())) == "missing");
  const std::string nowhere = (part.folder.path / "no" / "f").string();
  part.down.object = "o";
  part.down.offset = 0;
  part.down.path = nowhere.c_str();
  CHECK(part.download(w.client, why) == DATAFLUX_NOT_FOUND);
  CHECK(why.message().find(nowhere) != std::string::npos);
  CHECK(files_in(part.folder) == 1);
}

TEST_CASE("dataflux_download_file: with resume it goes on from what a failed call has left",
          "[c_api]") {
  world w;
  files f;
  const std::string body = world::body_of(1, 20'000'000);
  w.server.put("bkt", "o", body);
  auto with = w.options();
  with.slice = 1'000'000;
  with.max_attempts = 1;
  with.max_concurrency = 1;
  const client_ptr client = world::make_client(with);
  told why;
  f.down.resume = 1;
  // The fifth of its slices, and all that are read after it.
  w.server.faults().add(
      {.verb = "objects.media", .from = 5, .count = 0, .action = emulator::fault::refuse{403}});
  REQUIRE(f.download(client, why) != DATAFLUX_OK);
  CHECK_FALSE(std::filesystem::exists(f.path));
  CHECK(files_in(f.folder) == 1);
  w.server.faults().clear();
  operation_ptr op;
  REQUIRE(f.download(client, why, &op) == DATAFLUX_OK);
  const std::string json = json_of(op);
  INFO(json);
  CHECK(has(json, "\"resumed\":"));
  CHECK_FALSE(has(json, "\"resumed\":0}"));
  CHECK(read(f.path) == body);
  CHECK(files_in(f.folder) == 1);
}

TEST_CASE("dataflux_upload_file: a file becomes an object, by conditions and attributes",
          "[c_api]") {
  world w;
  files f;
  const std::string body = world::body_of(2, 40'000'000);
  write(f.path, body);
  told why;
  const queue_ptr queue = make_queue();
  dataflux_attributes a;
  dataflux_attributes_init(&a, sizeof a);
  a.content_type = "application/x-checkpoint";
  dataflux_conditions c;
  dataflux_conditions_init(&c, sizeof c);
  c.has = DATAFLUX_IF_GENERATION_MATCH;
  f.up.attributes = &a;
  f.up.conditions = &c;
  operation_ptr op;
  const dataflux_status status = f.upload(w.client, why, &op, queue);
  INFO(why.text());
  REQUIRE(status == DATAFLUX_OK);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].tag == 6);
  CHECK(records[0].size == body.size());
  CHECK(records[0].crc32c == crc_of(body));
  CHECK(records[0].generation > 0);
  CHECK(records[0].flags == (DATAFLUX_RECORD_END | DATAFLUX_RECORD_VERIFIED));
  CHECK(w.server.get("bkt", "o") == body);
  const std::string json = json_of(op);
  INFO(json);
  CHECK(json.starts_with(R"({"object":{"bucket":"bkt","name":"o","size":")"));
  CHECK(has(json, R"("contentType":"application/x-checkpoint")"));
  CHECK(
      has(json, R"("upload_path":"multipart","commit_mode":"staged","fallback":"","resumed":0})"));
  // It exists by now.
  write(f.path, "small");
  CHECK(f.upload(w.client, why) == DATAFLUX_ALREADY_EXISTS);
  CHECK(w.server.get("bkt", "o") == body);
  c.generation_match = records[0].generation;
  REQUIRE(f.upload(w.client, why, &op) == DATAFLUX_OK);
  CHECK(has(json_of(op), R"("upload_path":"insert")"));
  CHECK(w.server.get("bkt", "o") == "small");
  c.has |= DATAFLUX_IF_METAGENERATION_MATCH;
  CHECK(f.upload(w.client, why) == DATAFLUX_UNIMPLEMENTED);
  f.up.conditions = nullptr;
  const std::string missing = f.path + "-missing";
  f.up.path = missing.c_str();
  CHECK(f.upload(w.client, why) == DATAFLUX_NOT_FOUND);
  CHECK(why.message().find(missing) != std::string::npos);
}

TEST_CASE("dataflux_upload_file: with resume it goes on from what a failed call has left",
          "[c_api]") {
  world w;
  files f;
  const std::string body = world::body_of(2, 40'000'000);
  write(f.path, body);
  auto with = w.options();
  with.max_attempts = 1;
  with.upload_memory = 20'000'000;  // two parts: a third is sent when one is there
  const client_ptr client = world::make_client(with);
  told why;
  f.up.resume = 1;
  w.server.faults().add(
      {.verb = "multipart.part", .part = 3, .count = 0, .action = emulator::fault::refuse{400}});
  REQUIRE(f.upload(client, why) != DATAFLUX_OK);
  CHECK_FALSE(w.server.get("bkt", "o"));
  CHECK(files_in(f.folder) == 2);
  w.server.faults().clear();
  operation_ptr op;
  REQUIRE(f.upload(client, why, &op) == DATAFLUX_OK);
  CHECK_FALSE(has(json_of(op), "\"resumed\":0}"));
  CHECK(w.server.get("bkt", "o") == body);
  CHECK(files_in(f.folder) == 1);
}

TEST_CASE("dataflux_download_file, dataflux_upload_file: progress is told by events", "[c_api]") {
  world w;
  files f;
  w.server.put("bkt", "o", "12345");
  told why;
  f.down.progress = f.up.progress = 1;
  CHECK(f.download(w.client, why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(why.message().find("event_capacity") != std::string::npos);
  CHECK(f.upload(w.client, why) == DATAFLUX_FAILED_PRECONDITION);
  const queue_ptr queue = make_queue();
  auto with = w.options();
  with.event_capacity = 100;
  for (const bool down : {true, false}) {
    const client_ptr client = world::make_client(with);
    dataflux_events* events = nullptr;
    REQUIRE(dataflux_client_events(client.get(), queue.get(), 7, &events, why) == DATAFLUX_OK);
    const events_ptr owner(events);
    REQUIRE((down ? f.download(client, why) : f.upload(client, why)) == DATAFLUX_OK);
    const auto records = next(queue);
    REQUIRE(records.size() == 1);
    const std::string line(bytes_of(records[0]));
    INFO(line);
    CHECK(line.find(down ? "\"tag\":5," : "\"tag\":6,") != std::string::npos);
    // The last line is the end, and knows the size.
    CHECK(line.ends_with(
        down
            ? "\"verb\":\"download\",\"bucket\":\"bkt\",\"object\":\"o\",\"done\":5,\"total\":5}\n"
            : "\"verb\":\"upload\",\"bucket\":\"bkt\",\"object\":\"o\",\"done\":5,\"total\":5}\n"));
    release(records);
  }
}

TEST_CASE(
    "dataflux_download_file, dataflux_upload_file: under way they are cancelled, and their "
    "client is closed",
    "[c_api]") {
  world w;
  files f;
  write(f.path, "12345");
  w.hold();
  told why;
  const queue_ptr queue = make_queue();
  f.down.timeout_ns = 20'000'000;
  CHECK(f.download(w.client, why) == DATAFLUX_DEADLINE_EXCEEDED);
  f.down.timeout_ns = 0;
  dataflux_operation* op = nullptr;
  REQUIRE(dataflux_download_file(w.client.get(), &f.down, queue.get(), 1, &op, why) == DATAFLUX_OK);
  operation_ptr owner(op);
  dataflux_operation_cancel(op);
  CHECK(dataflux_operation_wait(op, -1, why) == DATAFLUX_OK);
  CHECK(dataflux_operation_result(op, why) == DATAFLUX_CANCELLED);
  CHECK(next(queue).size() == 1);
  REQUIRE(dataflux_upload_file(w.client.get(), &f.up, nullptr, 0, &op, why) == DATAFLUX_OK);
  owner.reset(op);
  owner.reset();
  REQUIRE(dataflux_upload_file(w.client.get(), &f.up, queue.get(), 2, nullptr, why) == DATAFLUX_OK);
  dataflux_client_close(w.client.get());
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].tag == 2);
  CHECK(records[0].status == DATAFLUX_CANCELLED);
  CHECK(f.download(w.client, why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(f.upload(w.client, why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(read(f.path) == "12345");
}

TEST_CASE("dataflux_download_file, dataflux_upload_file: bad input is answered before any request",
          "[c_api]") {
  world w;
  told why;
  const auto refused = [&](const auto& change) {
    files f;
    write(f.path, "12345");
    change(f.down);
    change(f.up);
    CHECK(f.download(w.client, why) == DATAFLUX_INVALID_ARGUMENT);
    CHECK(f.upload(w.client, why) == DATAFLUX_INVALID_ARGUMENT);
  };
  refused([](auto& o) { o.bucket = nullptr; });
  CHECK(why.message() == "bucket is NULL");
  refused([](auto& o) { o.object = nullptr; });
  CHECK(why.message() == "object is NULL");
  refused([](auto& o) { o.path = nullptr; });
  CHECK(why.message() == "path is NULL");
  refused([](auto& o) { o.object = "bad \xff UTF-8"; });
  refused([](auto& o) { o.struct_size = 0; });
  refused([](auto& o) { o.struct_size = offsetof(dataflux_upload_file_options, path); });
  files f;
  struct {
    dataflux_download_file_options known;
    std::uint64_t more;
  } later{f.down, 1};
  later.known.struct_size = sizeof later;
  dataflux_operation* op = nullptr;
  CHECK(dataflux_download_file(w.client.get(), &later.known, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_download_file(nullptr, &f.down, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_upload_file(nullptr, &f.up, nullptr, 0, &op, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_download_file(w.client.get(), nullptr, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_upload_file(w.client.get(), nullptr, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_upload_file(w.client.get(), &f.up, nullptr, 0, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  f.up.path = f.folder.path.c_str();
  CHECK(f.upload(w.client, why) == DATAFLUX_INVALID_ARGUMENT);
  (dataflux_download_file_options_init)(nullptr, sizeof(size_t));
  (dataflux_upload_file_options_init)(nullptr, sizeof(size_t));
  CHECK(w.server.counters().of() == 0);
}

}  // namespace c_api_file_test
