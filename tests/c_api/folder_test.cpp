#include <c_api/harness.hpp>
#include <dataflux/codec/detail/base64.hpp>
#include <support/temporary_folder.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace c_api_folder_test {

using namespace c_api_test;

namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, std::string_view body) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << body;
}
std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A folder here, and options that name it and "p/" in the bucket.
struct copies {
  copies() {
    dataflux_folder_options_init(&o, sizeof o);
    o.path = path.c_str();
    o.bucket = "bkt";
    o.prefix = "p";
  }
  using verb = dataflux_status (*)(dataflux_client*, const dataflux_folder_options*,
                                   dataflux_queue*, std::uint64_t, dataflux_operation**,
                                   dataflux_error**);
  dataflux_status run(verb copy, const client_ptr& client, told& why, operation_ptr* kept = nullptr,
                      const queue_ptr& queue = {}) const {
    return outcome(
        [&](dataflux_operation** op, dataflux_error** err) {
          return copy(client.get(), &o, queue.get(), 5, op, err);
        },
        why, kept);
  }

  const temporary_folder folder{};
  const std::string path{folder.path.string()};
  dataflux_folder_options o{};
};

struct removal {
  removal() {
    dataflux_remove_prefix_options_init(&o, sizeof o);
    o.bucket = "bkt";
    o.prefix = "p/";
  }
  dataflux_status run(const client_ptr& client, told& why, operation_ptr* kept = nullptr,
                      const queue_ptr& queue = {}) const {
    return outcome(
        [&](dataflux_operation** op, dataflux_error** err) {
          return dataflux_remove_prefix(client.get(), &o, queue.get(), 6, op, err);
        },
        why, kept);
  }

  dataflux_remove_prefix_options o{};
};

}  // namespace

TEST_CASE("dataflux_upload_folder, dataflux_download_folder: up, down, and what is extra",
          "[c_api]") {
  world w;
  copies up;
  write(up.folder.path / "a", "12345");
  write(up.folder.path / "sub" / "b", "123");
  w.server.put("bkt", "p/old", "old");
  told why;
  const queue_ptr queue = make_queue();
  operation_ptr op;
  up.o.delete_extra = 1;
  up.o.dry_run = 1;
  REQUIRE(up.run(dataflux_upload_folder, w.client, why, &op) == DATAFLUX_OK);
  const std::string all =
      R"({"found":2,"copied":2,"bytes":8,"already_there":0,"folders":0,"removed":1,"failed":0,)"
      R"("failures":[],"not_removed":""})";
  CHECK(json_of(op) == all);
  CHECK_FALSE(w.server.get("bkt", "p/a"));
  up.o.dry_run = 0;
  REQUIRE(up.run(dataflux_upload_folder, w.client, why, &op, queue) == DATAFLUX_OK);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].tag == 5);
  CHECK(records[0].size == 8);
  CHECK(records[0].index == 0);
  CHECK(records[0].flags == DATAFLUX_RECORD_END);
  CHECK(json_of(op) == all);
  CHECK(w.server.get("bkt", "p/a") == "12345");
  CHECK(w.server.get("bkt", "p/sub/b") == "123");
  CHECK_FALSE(w.server.get("bkt", "p/old"));
  up.o.resume = 1;
  REQUIRE(up.run(dataflux_upload_folder, w.client, why, &op) == DATAFLUX_OK);
  CHECK(has(json_of(op), R"("copied":0,"bytes":0,"already_there":2)"));

  copies down;
  write(down.folder.path / "extra", "x");
  down.o.delete_extra = 1;
  REQUIRE(down.run(dataflux_download_folder, w.client, why, &op) == DATAFLUX_OK);
  CHECK(has(json_of(op), R"("found":2,"copied":2,"bytes":8)"));
  CHECK(has(json_of(op), R"("removed":1,"failed":0)"));
  CHECK(read(down.folder.path / "a") == "12345");
  CHECK(read(down.folder.path / "sub" / "b") == "123");
  CHECK_FALSE(fs::exists(down.folder.path / "extra"));
}

TEST_CASE("dataflux_upload_folder: names that fail are counted, and the first ones told",
          "[c_api]") {
  world w;
  copies up;
  write(up.folder.path / "a", "12345");
  write(up.folder.path / "bad \xff", "1");
  for (const char* name : {"l1", "l2", "l3"}) {
    fs::create_symlink("nowhere", up.folder.path / name);
  }
  up.o.max_failures = 2;
  up.o.delete_extra = 1;
  told why;
  const queue_ptr queue = make_queue();
  operation_ptr op;
  REQUIRE(up.run(dataflux_upload_folder, w.client, why, &op, queue) == DATAFLUX_OK);
  CHECK(next(queue)[0].index == 4);
  std::string json = json_of(op);
  INFO(json);
  CHECK(has(json, R"("copied":1,"bytes":5)"));
  CHECK(has(json, R"("failed":4,"failures":[{"object":")"));
  std::size_t told_of = 0;
  for (std::size_t at = 0; (at = json.find("\"status\":", at)) != std::string::npos; ++at) {
    ++told_of;
  }
  CHECK(told_of == 2);
  CHECK_FALSE(has(json, R"("not_removed":"")"));
  up.o.max_failures = 0;
  REQUIRE(up.run(dataflux_upload_folder, w.client, why, &op) == DATAFLUX_OK);
  json = json_of(op);
  CHECK(has(json, "bad \xef\xbf\xbd"));
  const std::string path = (up.folder.path / "bad \xff").string();
  const std::string exact = dataflux::detail::codec::encode_base64(dataflux::as_bytes(path));
  CHECK(has(json, R"("path_base64":")" + exact + "\""));
  // None where "path" is exact already.
  CHECK(json.find("path_base64") == json.rfind("path_base64"));
  CHECK_FALSE(has(json, "\xff"));
  up.o.on_error = DATAFLUX_ON_ERROR_STOP;
  CHECK(up.run(dataflux_upload_folder, w.client, why) != DATAFLUX_OK);
}

TEST_CASE("dataflux_copy_objects, dataflux_selection: below one prefix to another", "[c_api]") {
  world w;
  w.server.put("bkt", "s/a.jpg", "1");
  w.server.put("bkt", "s/d/b.jpg", "22");
  w.server.put("bkt", "s/c.txt", "3");
  w.server.put("bkt", "t/extra.jpg", "x");
  w.server.put("bkt", "t/keep.txt", "x");
  told why;
  const char* const jpg[]{"**.jpg"};
  dataflux_selection select;
  dataflux_selection_init(&select, sizeof select);
  select.match = jpg;
  select.match_count = 1;
  dataflux_copy_objects_options o;
  dataflux_copy_objects_options_init(&o, sizeof o);
  o.source_bucket = o.bucket = "bkt";
  o.source_prefix = "s";
  o.prefix = "t";
  o.select = &select;
  o.only_changed = o.delete_extra = 1;
  const auto run = [&](operation_ptr* kept) {
    return outcome(
        [&](dataflux_operation** op, dataflux_error** err) {
          return dataflux_copy_objects(w.client.get(), &o, nullptr, 7, op, err);
        },
        why, kept);
  };
  operation_ptr op;
  REQUIRE(run(&op) == DATAFLUX_OK);
  CHECK(json_of(op).find(R"("found":2,"copied":2,"bytes":3)") != std::string::npos);
  CHECK(json_of(op).find(R"("removed":1,"failed":0)") != std::string::npos);
  CHECK(w.server.get("bkt", "t/d/b.jpg") == "22");
  CHECK(w.server.get("bkt", "t/keep.txt") == "x");
  CHECK_FALSE(w.server.get("bkt", "t/extra.jpg"));
  REQUIRE(run(&op) == DATAFLUX_OK);
  CHECK(json_of(op).find(R"("already_there":2)") != std::string::npos);

  copies down;
  down.o.prefix = "s";
  down.o.select = &select;
  REQUIRE(down.run(dataflux_download_folder, w.client, why) == DATAFLUX_OK);
  CHECK(read(down.folder.path / "d" / "b.jpg") == "22");
  CHECK_FALSE(fs::exists(down.folder.path / "c.txt"));

  const auto refused = [&](const auto& change) {
    const auto before = o;
    const auto selected = select;
    change();
    CHECK(run(nullptr) == DATAFLUX_INVALID_ARGUMENT);
    o = before;
    select = selected;
  };
  refused([&] { o.source_bucket = nullptr; });
  refused([&] { o.bucket = nullptr; });
  refused([&] { o.prefix = "s/"; });
  refused([&] { o.move = 1; });
  refused([&] { o.on_error = 9; });
  refused([&] { o.struct_size = 1; });
  refused([&] { select.match = nullptr; });
  refused([&] { select.struct_size = 1; });
  const char* const none[]{nullptr};
  refused([&] { select.match = none; });
  const char* const empty[]{""};
  refused([&] { select.match = empty; });
  refused([&] { select.min_size = 2, select.max_size = 1; });
}

TEST_CASE("dataflux_remove_prefix: what begins with it goes, and nothing else", "[c_api]") {
  world w;
  for (int i = 0; i < 30; ++i) w.server.put("bkt", "p/" + std::to_string(i), "12345");
  w.server.put("bkt", "q", "stays");
  told why;
  const queue_ptr queue = make_queue();
  operation_ptr op;
  removal r;
  r.o.dry_run = 1;
  REQUIRE(r.run(w.client, why, &op) == DATAFLUX_OK);
  const std::string all = R"({"objects":30,"bytes":150,"young":0,"failed":0,"failures":[]})";
  CHECK(json_of(op) == all);
  r.o.dry_run = 0;
  r.o.older_than_ns = 3'600'000'000'000;
  REQUIRE(r.run(w.client, why, &op) == DATAFLUX_OK);
  CHECK(has(json_of(op), R"("objects":0,"bytes":0,"young":30)"));
  r.o.older_than_ns = 0;
  r.o.max_failures = 1;
  w.server.faults().add(
      {.verb = "objects.delete", .count = 2, .action = emulator::fault::refuse{403}});
  REQUIRE(r.run(w.client, why, &op, queue) == DATAFLUX_OK);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].tag == 6);
  CHECK(records[0].index == 2);
  CHECK(records[0].size == 140);
  const std::string json = json_of(op);
  INFO(json);
  CHECK(json.starts_with(
      R"({"objects":28,"bytes":140,"young":0,"failed":2,"failures":[{"object":"p/)"));
  CHECK(has(json, R"("status":7,"text":"permission_denied in objects.delete of gs://bkt/p/)"));
  w.server.faults().clear();
  REQUIRE(r.run(w.client, why, &op) == DATAFLUX_OK);
  CHECK(has(json_of(op), R"("objects":2)"));
  CHECK(w.server.get("bkt", "q") == "stays");
  REQUIRE(r.run(w.client, why, &op) == DATAFLUX_OK);
  CHECK(has(json_of(op), R"("objects":0)"));
}

TEST_CASE("dataflux_upload_folder and its like: progress is told by events", "[c_api]") {
  world w;
  copies c;
  write(c.folder.path / "a", "12345");
  told why;
  c.o.progress = 1;
  removal r;
  r.o.progress = 1;
  CHECK(c.run(dataflux_upload_folder, w.client, why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(c.run(dataflux_download_folder, w.client, why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(r.run(w.client, why) == DATAFLUX_FAILED_PRECONDITION);
  const auto told_of = [&](const auto& call) {
    auto with = w.options();
    with.event_capacity = 100;
    const client_ptr client = world::make_client(with);
    const queue_ptr queue = make_queue();
    REQUIRE(call(client) == DATAFLUX_OK);
    dataflux_events* events = nullptr;
    REQUIRE(dataflux_client_events(client.get(), queue.get(), 7, &events, why) == DATAFLUX_OK);
    const events_ptr owner(events);
    const auto records = next(queue);
    REQUIRE(records.size() == 1);
    const std::string lines(bytes_of(records[0]));
    release(records);
    return lines;
  };
  const std::string up =
      told_of([&](const client_ptr& by) { return c.run(dataflux_upload_folder, by, why); });
  INFO(up);
  CHECK(has(up, R"("verb":"upload","bucket":"bkt","object":"p","done":5,"total":5})"));
  const std::string down =
      told_of([&](const client_ptr& by) { return c.run(dataflux_download_folder, by, why); });
  INFO(down);
  CHECK(has(down, R"("verb":"download","bucket":"bkt","object":"p","done":5,"total":5})"));
  const std::string gone = told_of([&](const client_ptr& by) { return r.run(by, why); });
  INFO(gone);
  CHECK(gone.ends_with("\"object\":\"p/\",\"done\":1,\"total\":1}\n"));
  CHECK(has(gone, R"("tag":6,)"));
  // The end is told although not all could be done.
  for (const char* name : {"p/a", "p/b", "p/c", "p/d"}) w.server.put("bkt", name, "12345");
  w.server.faults().add({.object = "p/d", .count = 0, .action = emulator::fault::refuse{404}});
  w.server.faults().add({.verb = "objects.delete",
                         .object = "p/b",
                         .count = 0,
                         .action = emulator::fault::refuse{403}});
  const std::string some =
      told_of([&](const client_ptr& by) { return c.run(dataflux_download_folder, by, why); });
  INFO(some);
  CHECK(some.ends_with("\"done\":15,\"total\":20}\n"));
  const std::string most = told_of([&](const client_ptr& by) { return r.run(by, why); });
  INFO(most);
  CHECK(most.ends_with("\"done\":3,\"total\":4}\n"));
}

TEST_CASE("dataflux_download_folder: the end is told, too, where more was found after all was done",
          "[c_api]") {
  world w;
  const copies c;
  for (const char* name : {"p/a", "p/b"}) w.server.put("bkt", name, "12345");
  write(c.folder.path / "b" / "in the way", "");
  w.server.faults().add(
      {.verb = "objects.list", .action = emulator::fault::short_page{.results = 1}});
  w.server.faults().add({.verb = "objects.list", .count = 0});
  auto with = w.options();
  with.event_capacity = 100;
  const client_ptr client = world::make_client(with);
  const queue_ptr queue = make_queue();
  told why;
  dataflux_events* events = nullptr;
  REQUIRE(dataflux_client_events(client.get(), queue.get(), 7, &events, why) == DATAFLUX_OK);
  const events_ptr owner(events);
  auto o = c.o;
  o.progress = 1;
  dataflux_operation* op = nullptr;
  REQUIRE(dataflux_download_folder(client.get(), &o, nullptr, 0, &op, why) == DATAFLUX_OK);
  const operation_ptr copying(op);
  std::string lines;
  const auto until = [&](std::string_view what) {
    while (!has(lines, what)) {
      const auto records = next(queue, 1, 10'000'000'000);
      INFO(lines);
      REQUIRE(records.size() == 1);
      lines += bytes_of(records[0]);
      release(records);
    }
  };
  until(R"("verb":"download","bucket":"bkt","object":"p","done":5,"total":5})");
  w.server.faults().clear();
  until(R"("verb":"download","bucket":"bkt","object":"p","done":5,"total":10})");
  REQUIRE(dataflux_operation_wait(op, -1, why) == DATAFLUX_OK);
}

TEST_CASE(
    "dataflux_upload_folder and its like: under way they are cancelled, and their client is "
    "closed",
    "[c_api]") {
  world w;
  copies c;
  write(c.folder.path / "a", "12345");
  w.server.put("bkt", "p/a", "12345");
  w.hold();
  told why;
  const queue_ptr queue = make_queue();
  const removal r;
  c.o.timeout_ns = 20'000'000;
  CHECK(c.run(dataflux_download_folder, w.client, why) == DATAFLUX_DEADLINE_EXCEEDED);
  c.o.timeout_ns = 0;
  dataflux_operation* op = nullptr;
  REQUIRE(dataflux_upload_folder(w.client.get(), &c.o, queue.get(), 1, &op, why) == DATAFLUX_OK);
  const operation_ptr owner(op);
  dataflux_operation_cancel(op);
  CHECK(dataflux_operation_wait(op, -1, why) == DATAFLUX_OK);
  CHECK(dataflux_operation_result(op, why) == DATAFLUX_CANCELLED);
  CHECK(next(queue).size() == 1);
  REQUIRE(dataflux_download_folder(w.client.get(), &c.o, queue.get(), 2, nullptr, why) ==
          DATAFLUX_OK);
  REQUIRE(dataflux_remove_prefix(w.client.get(), &r.o, queue.get(), 3, nullptr, why) ==
          DATAFLUX_OK);
  dataflux_client_close(w.client.get());
  for (std::size_t ended = 0; ended < 2;) {
    for (const auto& each : next(queue)) {
      CHECK(each.status == DATAFLUX_CANCELLED);
      ++ended;
    }
  }
  CHECK(r.run(w.client, why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(c.run(dataflux_upload_folder, w.client, why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(w.server.get("bkt", "p/a") == "12345");
}

TEST_CASE("dataflux_upload_folder and its like: bad input is answered before any request",
          "[c_api]") {
  world w;
  told why;
  const auto refused = [&](const auto& change) {
    copies c;
    change(c.o);
    CHECK(c.run(dataflux_upload_folder, w.client, why) == DATAFLUX_INVALID_ARGUMENT);
    CHECK(c.run(dataflux_download_folder, w.client, why) == DATAFLUX_INVALID_ARGUMENT);
  };
  refused([](auto& o) { o.bucket = nullptr; });
  CHECK(why.message() == "bucket is NULL");
  refused([](auto& o) { o.path = nullptr; });
  CHECK(why.message() == "path is NULL");
  refused([](auto& o) { o.path = ""; });
  refused([](auto& o) { o.bucket = "NO BUCKET"; });
  refused([](auto& o) { o.on_error = 2; });
  refused([](auto& o) { o.struct_size = 1; });
  refused([](auto& o) { o.struct_size = offsetof(dataflux_folder_options, bucket); });
  const auto not_removed = [&](const auto& change) {
    removal r;
    change(r.o);
    CHECK(r.run(w.client, why) == DATAFLUX_INVALID_ARGUMENT);
  };
  not_removed([](auto& o) { o.bucket = nullptr; });
  not_removed([](auto& o) { o.prefix = nullptr; });
  CHECK(why.message() == "prefix is NULL");
  not_removed([](auto& o) { o.struct_size = offsetof(dataflux_remove_prefix_options, prefix); });
  not_removed([](auto& o) { o.older_than_ns = -1; });
  dataflux_operation* op = nullptr;
  const copies c;
  const removal r;
  CHECK(dataflux_upload_folder(nullptr, &c.o, nullptr, 0, &op, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_download_folder(nullptr, &c.o, nullptr, 0, &op, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_remove_prefix(nullptr, &r.o, nullptr, 0, &op, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_upload_folder(w.client.get(), nullptr, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_remove_prefix(w.client.get(), nullptr, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_download_folder(w.client.get(), &c.o, nullptr, 0, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  (dataflux_folder_options_init)(nullptr, sizeof(size_t));
  (dataflux_remove_prefix_options_init)(nullptr, sizeof(size_t));
  CHECK(w.server.counters().of() == 0);
}

}  // namespace c_api_folder_test
