#include <c_api/sets.hpp>

#include <atomic>
#include <thread>

namespace c_api_operation_test {

using namespace c_api_test;

namespace {

operation_ptr begin_stat(const world& w, const char* name, dataflux_queue* queue = nullptr,
                         std::uint64_t tag = 0) {
  told why;
  const auto o = world::object(name);
  dataflux_operation* op = nullptr;
  REQUIRE(dataflux_stat(w.client.get(), &o, queue, tag, &op, why) == DATAFLUX_OK);
  return operation_ptr(op);
}

}  // namespace

TEST_CASE("dataflux_operation: bad input is answered", "[c_api]") {
  told why;
  CHECK(dataflux_operation_wait(nullptr, 0, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "operation is NULL");
  CHECK(dataflux_operation_result(nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  const char* json = "kept";
  CHECK(dataflux_operation_json(nullptr, &json, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(json == nullptr);
  CHECK(dataflux_operation_json(nullptr, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_operation_take_listing(nullptr, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  dataflux_operation_cancel(nullptr);
  dataflux_operation_free(nullptr);
  world w;
  const auto o = world::object("o");
  CHECK(dataflux_stat(w.client.get(), &o, nullptr, 0, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_stat(nullptr, &o, nullptr, 0, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
}

TEST_CASE("dataflux_operation: what gives something to be taken of it needs a handle", "[c_api]") {
  world w;
  told why;
  w.fill(1);
  save(w.client, "run");
  const auto client = w.client.get();
  const set_ptr set = make_set(w.client, "run");
  const set_reader_ptr saved = take_set(open_set(set));
  const listing_ptr listing = w.list();
  dataflux_manifest_options at;
  dataflux_manifest_options_init(&at, sizeof at);
  at.bucket = "bkt";
  at.object = "manifest";
  ended([&](auto queue, auto tag, auto op, auto err) {
    return dataflux_manifest_save(client, &at, listing.get(), queue, tag, op, err);
  });
  const operation_ptr loaded = ended([&](auto queue, auto tag, auto op, auto err) {
    return dataflux_manifest_open(client, &at, queue, tag, op, err);
  });
  dataflux_manifest* taken = nullptr;
  REQUIRE(dataflux_operation_take_manifest(loaded.get(), &taken, why) == DATAFLUX_OK);
  const manifest_ptr manifest(taken);
  const auto before = w.server.counters().of();

  const queue_ptr queue = make_queue();
  const auto refused = [&why](dataflux_status status) {
    CHECK(status == DATAFLUX_INVALID_ARGUMENT);
    CHECK(why.message() == "out is NULL");
  };
  dataflux_list_options list;
  dataflux_list_options_init(&list, sizeof list);
  list.bucket = "bkt";
  refused(dataflux_list(client, &list, queue.get(), 1, nullptr, why));
  refused(dataflux_manifest_open(client, &at, queue.get(), 1, nullptr, why));
  refused(dataflux_manifest_rows(client, manifest.get(), 0, 1, queue.get(), 1, nullptr, why));
  refused(dataflux_manifest_refresh(client, manifest.get(), nullptr, queue.get(), 1, nullptr, why));
  const auto writer = writer_of("o/000000");
  refused(dataflux_writer_open(client, &writer, queue.get(), 1, nullptr, why));
  dataflux_reader_options reader;
  dataflux_reader_options_init(&reader, sizeof reader);
  reader.bucket = "bkt";
  reader.object = "o/000000";
  refused(dataflux_reader_open(client, &reader, queue.get(), 1, nullptr, why));
  refused(dataflux_set_open_member(set.get(), "m", nullptr, queue.get(), 1, nullptr, why));
  refused(dataflux_set_open(set.get(), nullptr, queue.get(), 1, nullptr, why));
  const auto run = below("run");
  refused(dataflux_latest_set(client, &run, queue.get(), 1, nullptr, why));
  refused(dataflux_set_reader_open(saved.get(), "rank-0", nullptr, queue.get(), 1, nullptr, why));
  refused(dataflux_set_begin_over(set.get(), queue.get(), 1, nullptr, why));
  CHECK(next(queue, 1, 0).empty());
  CHECK(w.server.counters().of() == before);
}

TEST_CASE("dataflux_operation: its result is there when it has ended", "[c_api]") {
  world w;
  w.server.put("bkt", "o", "12345");
  told why;
  const operation_ptr good = begin_stat(w, "o");
  const operation_ptr bad = begin_stat(w, "missing");
  CHECK(dataflux_operation_wait(good.get(), -1, why) == DATAFLUX_OK);
  CHECK(dataflux_operation_wait(good.get(), 0, why) == DATAFLUX_OK);
  CHECK(dataflux_operation_result(good.get(), why) == DATAFLUX_OK);
  CHECK_FALSE(why.any());
  CHECK(dataflux_operation_wait(bad.get(), -1, why) == DATAFLUX_OK);
  CHECK(dataflux_operation_result(bad.get(), why) == DATAFLUX_NOT_FOUND);
  CHECK(dataflux_operation_result(bad.get(), why) == DATAFLUX_NOT_FOUND);
  CHECK(std::string_view(dataflux_error_object(why.get())) == "missing");
  const char* json = nullptr;
  CHECK(dataflux_operation_json(bad.get(), &json, why) == DATAFLUX_NOT_FOUND);
  // Of another kind.
  dataflux_listing* listing = nullptr;
  CHECK(dataflux_operation_take_listing(good.get(), &listing, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "the operation gives no listing");
}

TEST_CASE("dataflux_operation: under way it can be waited for, and cancelled", "[c_api]") {
  world w;
  w.hold();
  told why;
  const queue_ptr queue = make_queue();
  const operation_ptr op = begin_stat(w, "o", queue.get(), 5);
  CHECK(dataflux_operation_wait(op.get(), 0, why) == DATAFLUX_DEADLINE_EXCEEDED);
  CHECK(dataflux_operation_wait(op.get(), 2'000'000, why) == DATAFLUX_DEADLINE_EXCEEDED);
  CHECK(dataflux_operation_result(op.get(), why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(why.message() == "the operation has not ended yet");
  std::vector<std::thread> waiting;
  std::atomic<int> ended{0};
  for (int i = 0; i < 3; ++i) {
    waiting.emplace_back([&] {
      if (dataflux_operation_wait(op.get(), -1, nullptr) == DATAFLUX_OK) ++ended;
    });
  }
  dataflux_operation_cancel(op.get());
  dataflux_operation_cancel(op.get());
  for (auto& each : waiting) each.join();
  CHECK(ended == 3);
  CHECK(dataflux_operation_result(op.get(), why) == DATAFLUX_CANCELLED);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].tag == 5);
  CHECK(records[0].status == DATAFLUX_CANCELLED);
}

TEST_CASE("dataflux_operation: one that is freed under way ends, and brings no record", "[c_api]") {
  world w;
  w.hold();
  const queue_ptr queue = make_queue();
  { const operation_ptr op = begin_stat(w, "o", queue.get(), 5); }
  CHECK(next(queue, 1, 0).empty());
  // Its memory is the caller's again.
  told why;
  std::vector<char> memory(1'000'000);
  const auto o = world::object("o");
  dataflux_operation* op = nullptr;
  REQUIRE(dataflux_get_one(w.client.get(), &o, 0, memory.data(), memory.size(), nullptr, 0, &op,
                           why) == DATAFLUX_OK);
  dataflux_operation_free(op);
  memory = {};
}

TEST_CASE("dataflux_operation: a time limit ends it", "[c_api]") {
  world w;
  w.hold();
  told why;
  auto o = world::object("o");
  o.timeout_ns = 20'000'000;
  dataflux_operation* op = nullptr;
  REQUIRE(dataflux_stat(w.client.get(), &o, nullptr, 0, &op, why) == DATAFLUX_OK);
  const operation_ptr owner(op);
  REQUIRE(dataflux_operation_wait(op, -1, why) == DATAFLUX_OK);
  CHECK(dataflux_operation_result(op, why) == DATAFLUX_DEADLINE_EXCEEDED);
}

}  // namespace c_api_operation_test
