#include <c_api/saving.hpp>

#include <dataflux/codec/crc32c.hpp>

#include <support/run_child.hpp>

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <thread>

namespace c_api_writer_test {

using namespace c_api_test;

namespace {

/// Whose uploads have memory for two parts.
client_ptr narrow_client(const world& w) {
  auto o = w.options();
  o.upload_memory = 2 * least_part;
  return world::make_client(o);
}
/// Needs no request to be opened.
dataflux_writer_options narrow_options() {
  static const dataflux_conditions create = [] {
    dataflux_conditions c;
    dataflux_conditions_init(&c, sizeof c);
    c.has = DATAFLUX_IF_GENERATION_MATCH;
    return c;
  }();
  auto o = writer_of("o");
  o.part_size = least_part;
  o.conditions = &create;
  return o;
}

/// A writer that has no room any more, and never will have.
struct stuck {
  stuck() {
    writer = make_writer(client, narrow_options());
    w.hold();
    // Parts whose requests nobody answers take all memory.
    dataflux_status status = DATAFLUX_OK;
    std::size_t taken = 0;
    while (written < 2 * least_part) {
      const std::string_view rest =
          std::string_view(body).substr(written, 2 * least_part - written);
      status = dataflux_writer_write(writer.get(), rest.data(), rest.size(), -1, &taken, why);
      REQUIRE(status == DATAFLUX_OK);
      written += taken;
    }
  }
  stuck(const stuck&) = delete;
  stuck& operator=(const stuck&) = delete;
  ~stuck() { w.server.faults().clear(); }  // what it has begun can be removed
  dataflux_status write(std::int64_t timeout_ns, std::size_t& taken) {
    return dataflux_writer_write(writer.get(), body.data(), body.size(), timeout_ns, &taken, why);
  }

  world w{};
  client_ptr client{narrow_client(w)};
  std::string body{std::string(3 * least_part, 'x')};
  told why{};
  std::size_t written{0};
  writer_ptr writer{};
};

std::uint32_t crc_of(std::string_view bytes) { return dataflux::crc32c(dataflux::as_bytes(bytes)); }

}  // namespace

TEST_CASE("dataflux_writer: what is written is there, by one request or in parts", "[c_api]") {
  world w;
  const std::size_t size = GENERATE(std::size_t{0}, std::size_t{1000}, 3 * least_part + 12'345);
  const std::string body = size == 0 ? std::string() : world::body_of(0, size);
  dataflux_attributes a;
  dataflux_attributes_init(&a, sizeof a);
  a.content_type = "application/x-state";
  auto o = writer_of("run/state");
  o.attributes = &a;
  o.part_size = least_part;
  const writer_ptr writer = make_writer(w.client, o);
  for (std::size_t at = 0; at < size; at += 700'000) {
    write_all(writer, std::string_view(body).substr(at, 700'000));
  }
  CHECK_FALSE(w.server.get("bkt", "run/state"));
  dataflux_record r{};
  const operation_ptr made = commit(writer, DATAFLUX_OK, &r);
  CHECK(r.size == size);
  CHECK(r.crc32c == crc_of(body));
  CHECK(r.generation > 0);
  CHECK(w.server.get("bkt", "run/state") == body);
  const std::string json = json_of(made);
  INFO(json);
  CHECK(has(json, R"({"object":{"bucket":"bkt","name":"run/state",)"));
  CHECK(has(json, R"("contentType":"application/x-state")"));
  CHECK(has(json, size < least_part ? R"("path":"insert")" : R"("path":"multipart")"));
  CHECK(has(json, R"("fallback":"")"));
  // It is over.
  told why;
  std::size_t taken = 7;
  CHECK(dataflux_writer_write(writer.get(), "x", 1, -1, &taken, why) ==
        DATAFLUX_FAILED_PRECONDITION);
  CHECK(taken == 0);
  commit(writer, DATAFLUX_FAILED_PRECONDITION);
}

TEST_CASE("dataflux_writer: bad input is answered", "[c_api]") {
  world w;
  told why;
  dataflux_operation* op = nullptr;
  const auto open = [&](const dataflux_writer_options* o) {
    return dataflux_writer_open(w.client.get(), o, nullptr, 0, &op, why);
  };
  auto o = writer_of("o");
  CHECK(dataflux_writer_open(nullptr, &o, nullptr, 0, &op, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_writer_open(w.client.get(), &o, nullptr, 0, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(open(nullptr) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "bucket is NULL");
  o.object = nullptr;
  CHECK(open(&o) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "object is NULL");
  o = writer_of("o");
  o.struct_size = 3;
  CHECK(open(&o) == DATAFLUX_INVALID_ARGUMENT);
  struct later {
    dataflux_writer_options known;
    std::uint64_t more;
  } newer{writer_of("o"), 1};
  newer.known.struct_size = sizeof newer;
  CHECK(open(&newer.known) == DATAFLUX_INVALID_ARGUMENT);
  dataflux_conditions c;
  dataflux_conditions_init(&c, sizeof c);
  c.has = DATAFLUX_IF_METAGENERATION_MATCH;
  o = writer_of("o");
  o.conditions = &c;
  CHECK(open(&o) == DATAFLUX_UNIMPLEMENTED);
  dataflux_attributes a;
  dataflux_attributes_init(&a, sizeof a);
  a.metadata_count = 1;
  o = writer_of("o");
  o.attributes = &a;
  CHECK(open(&o) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(op == nullptr);
  open_writer(w.client, writer_of("bad \xff UTF-8"), DATAFLUX_INVALID_ARGUMENT);
  CHECK(w.server.counters().of() == 0);

  const writer_ptr writer = make_writer(w.client, writer_of("o"));
  const queue_ptr queue = make_queue();
  std::size_t taken = 0;
  dataflux_writer* no_writer = nullptr;
  CHECK(dataflux_writer_write(nullptr, "x", 1, 0, &taken, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "writer is NULL");
  CHECK(dataflux_writer_write(writer.get(), nullptr, 1, 0, &taken, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_writer_write(writer.get(), nullptr, 0, 0, &taken, why) == DATAFLUX_OK);
  CHECK(dataflux_writer_write(writer.get(), "x", 1, 0, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_writer_lend(nullptr, "x", 1, 0, &taken, queue.get(), 1, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_writer_lend(writer.get(), nullptr, 1, 0, &taken, queue.get(), 1, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_writer_lend(writer.get(), "x", 1, 0, nullptr, queue.get(), 1, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_writer_lend(writer.get(), "x", 1, 0, &taken, nullptr, 1, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_writer_notify(nullptr, queue.get(), 1, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_writer_notify(writer.get(), nullptr, 1, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_writer_commit(nullptr, queue.get(), 1, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_writer_commit(writer.get(), nullptr, 1, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_writer_abort(nullptr, queue.get(), 1, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_operation_take_writer(nullptr, &no_writer, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(next(queue, 1, 0).empty());
  dataflux_writer_free(nullptr);
  (dataflux_writer_options_init)(nullptr, sizeof(size_t));
  // Nothing of that has ended it.
  commit(writer);
}

TEST_CASE("dataflux_operation_take_writer: once, and of its own kind", "[c_api]") {
  world w;
  told why;
  const operation_ptr op = open_writer(w.client, writer_of("o"));
  const writer_ptr writer = take_writer(op);
  dataflux_writer* again = nullptr;
  CHECK(dataflux_operation_take_writer(op.get(), &again, why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(why.message() == "the writer was taken already");
  const operation_ptr made = commit(writer);
  CHECK(dataflux_operation_take_writer(made.get(), &again, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "the operation gives no writer");
  // One that nobody takes leaves nothing.
  open_writer(w.client, writer_of("other"));
  CHECK(w.server.service().uploads().open() == 0);
}

TEST_CASE("dataflux_writer: what is there decides", "[c_api]") {
  world w;
  dataflux_conditions c;
  dataflux_conditions_init(&c, sizeof c);
  c.has = DATAFLUX_IF_GENERATION_MATCH;  // 0: create only
  auto o = writer_of("o");
  o.conditions = &c;
  const writer_ptr creates = make_writer(w.client, o);
  const writer_ptr replaces = make_writer(w.client, writer_of("o"));
  const auto generation = w.server.put("bkt", "o", "of somebody else");
  write_all(creates, "mine");
  write_all(replaces, "mine");
  commit(creates, DATAFLUX_ALREADY_EXISTS);
  commit(replaces, DATAFLUX_FAILED_PRECONDITION);
  CHECK(w.server.get("bkt", "o") == "of somebody else");
  c.generation_match = generation;
  const writer_ptr named = make_writer(w.client, o);
  write_all(named, "mine");
  commit(named);
  CHECK(w.server.get("bkt", "o") == "mine");
}

TEST_CASE("dataflux_writer: without waiting, a queue tells when there is room", "[c_api]") {
  world w;
  const client_ptr client = narrow_client(w);
  const writer_ptr writer = make_writer(client, narrow_options());
  const std::string body = world::body_of(1, 4 * least_part + 1000);
  const queue_ptr queue = make_queue();
  told why;
  bool waited = false;
  for (std::size_t at = 0; at < body.size();) {
    std::size_t taken = 0;
    REQUIRE(dataflux_writer_write(writer.get(), body.data() + at, body.size() - at, 0, &taken,
                                  why) == DATAFLUX_OK);
    at += taken;
    if (at == body.size()) break;
    waited = true;
    REQUIRE(dataflux_writer_notify(writer.get(), queue.get(), 9, why) == DATAFLUX_OK);
    const auto records = next(queue);
    REQUIRE(records.size() == 1);
    CHECK(records[0].tag == 9);
    CHECK(records[0].status == DATAFLUX_OK);
    CHECK((records[0].flags & DATAFLUX_RECORD_END) != 0);
  }
  CHECK(waited);
  commit(writer);
  CHECK(w.server.get("bkt", "o") == body);
}

TEST_CASE("dataflux_writer_write: a time limit and a signal end the waiting", "[c_api]") {
  stuck s;
  std::size_t taken = 7;
  CHECK(s.write(0, taken) == DATAFLUX_OK);
  CHECK(taken == 0);
  CHECK(s.write(2'000'000, taken) == DATAFLUX_DEADLINE_EXCEEDED);
  CHECK(taken == 0);
  const queue_ptr queue = make_queue();
  CHECK(dataflux_writer_lend(s.writer.get(), s.body.data(), s.body.size(), 2'000'000, &taken,
                             queue.get(), 3, s.why) == DATAFLUX_DEADLINE_EXCEEDED);
  CHECK(taken == 0);

  struct sigaction how {};
  struct sigaction before {};
  how.sa_handler = [](int) {};
  how.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR2, &how, &before);
  std::atomic<bool> over{false};
  std::atomic<int> status{-1};
  std::thread waiting([&] {
    std::size_t some = 0;
    status =
        dataflux_writer_write(s.writer.get(), s.body.data(), s.body.size(), -1, &some, nullptr);
    over = true;
  });
  while (!over) {
    ::pthread_kill(waiting.native_handle(), SIGUSR2);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  waiting.join();
  CHECK(status == DATAFLUX_INTERRUPTED);
  ::sigaction(SIGUSR2, &before, nullptr);
  // Nothing of it was taken, and nobody is told.
  CHECK(next(queue, 1, 0).empty());
}

TEST_CASE("dataflux_writer: closing the client ends it, and who is inside", "[c_api]") {
  stuck s;
  const queue_ptr queue = make_queue();
  CHECK(dataflux_writer_notify(s.writer.get(), queue.get(), 4, s.why) == DATAFLUX_OK);
  CHECK(next(queue, 1, 0).empty());
  std::atomic<int> status{-1};
  std::thread waiting([&] {
    // Until it is this one that is inside.
    do {
      std::size_t taken = 0;
      status =
          dataflux_writer_write(s.writer.get(), s.body.data(), s.body.size(), -1, &taken, nullptr);
    } while (status == DATAFLUX_FAILED_PRECONDITION);
  });
  std::size_t taken = 0;
  while (s.write(0, taken) != DATAFLUX_FAILED_PRECONDITION) std::this_thread::yield();
  CHECK(s.why.message() ==
        "another thread is inside a call on this writer; one thread at a time uses it");
  dataflux_client_close(s.client.get());
  waiting.join();
  CHECK(status == DATAFLUX_CANCELLED);
  CHECK(next(queue)[0].tag == 4);
  CHECK(s.write(-1, taken) == DATAFLUX_CANCELLED);
  dataflux_operation* op = nullptr;
  CHECK(dataflux_writer_commit(s.writer.get(), nullptr, 0, &op, s.why) ==
        DATAFLUX_FAILED_PRECONDITION);
  CHECK(s.why.message() == "the client was closed");
  const auto o = narrow_options();
  CHECK(dataflux_writer_open(s.client.get(), &o, nullptr, 0, &op, s.why) ==
        DATAFLUX_FAILED_PRECONDITION);
}

TEST_CASE("dataflux_writer_lend: a record says when memory is the caller's again", "[c_api]") {
  world w;
  const client_ptr client = narrow_client(w);
  const writer_ptr writer = make_writer(client, narrow_options());
  const std::string body = world::body_of(1, 3 * least_part + 1000);
  const queue_ptr queue = make_queue();
  told why;
  std::set<std::uint64_t> lent;
  std::size_t sent = 0;
  for (std::uint64_t tag = 0; sent < body.size(); ++tag) {
    std::size_t taken = 0;
    REQUIRE(dataflux_writer_lend(writer.get(), body.data() + sent, body.size() - sent,
                                 tag % 2 == 0 ? 0 : -1, &taken, queue.get(), tag,
                                 why) == DATAFLUX_OK);
    sent += taken;
    if (taken > 0) lent.insert(tag);
  }
  commit(writer);
  CHECK(w.server.get("bkt", "o") == body);
  while (!lent.empty()) {
    for (const auto& r : next(queue)) CHECK(lent.erase(r.tag) == 1);
  }
  CHECK(next(queue, 1, 0).empty());
}

TEST_CASE("dataflux_writer_lend: one record for what was taken, and none for nothing", "[c_api]") {
  world w;
  const client_ptr client = narrow_client(w);
  writer_ptr writer = make_writer(client, narrow_options());
  const queue_ptr queue = make_queue();
  told why;
  std::size_t taken = 7;
  const std::string body(2 * least_part, 'b');
  SECTION("what is copied is the caller's at once") {
    CHECK(dataflux_writer_lend(writer.get(), body.data(), 1000, -1, &taken, queue.get(), 5, why) ==
          DATAFLUX_OK);
    CHECK(taken == 1000);
    const auto records = next(queue, 4, 0);
    REQUIRE(records.size() == 1);
    CHECK(records[0].tag == 5);
    CHECK(records[0].status == DATAFLUX_OK);
    CHECK(records[0].flags == DATAFLUX_RECORD_END);
  }
  SECTION("nothing lent, nothing told") {
    CHECK(dataflux_writer_lend(writer.get(), body.data(), 0, -1, &taken, queue.get(), 5, why) ==
          DATAFLUX_OK);
    CHECK(taken == 0);
    CHECK(next(queue, 4, 0).empty());
  }
  SECTION("also where the writer is freed before") {
    w.hold();
    std::string memory = body;
    REQUIRE(dataflux_writer_lend(writer.get(), memory.data(), memory.size(), -1, &taken,
                                 queue.get(), 6, why) == DATAFLUX_OK);
    CHECK(taken == memory.size());
    CHECK(next(queue, 4, 0).empty());
    w.server.faults().clear();
    dataflux_client_close(client.get());
    writer.reset();
    const auto records = next(queue);
    REQUIRE(records.size() == 1);
    CHECK(records[0].tag == 6);
    memory.assign(memory.size(), '\0');
  }
  SECTION("a queue that was closed") {
    dataflux_queue_close(queue.get());
    CHECK(dataflux_writer_lend(writer.get(), body.data(), 10, -1, &taken, queue.get(), 6, why) ==
          DATAFLUX_FAILED_PRECONDITION);
    CHECK(taken == 0);
    CHECK(dataflux_writer_notify(writer.get(), queue.get(), 6, why) ==
          DATAFLUX_FAILED_PRECONDITION);
  }
}

TEST_CASE("dataflux_writer: not committed leaves what was there, and nothing else", "[c_api]") {
  world w;
  w.server.put("bkt", "o", "old");
  auto o = writer_of("o");
  o.part_size = least_part;
  writer_ptr writer = make_writer(w.client, o);
  write_all(writer, std::string(2 * least_part + 100, 'n'));
  SECTION("freed") {}
  SECTION("aborted") {
    ended([&](auto queue, auto tag, auto op, auto err) {
      return dataflux_writer_abort(writer.get(), queue, tag, op, err);
    });
    commit(writer, DATAFLUX_FAILED_PRECONDITION);
  }
  SECTION("after a notify that nobody waits for") {
    const queue_ptr queue = make_queue();
    told why;
    CHECK(dataflux_writer_notify(writer.get(), queue.get(), 4, why) == DATAFLUX_OK);
    writer.reset();
    next(queue, 1, 0);
  }
  writer.reset();
  CHECK(w.server.get("bkt", "o") == "old");
  CHECK(w.server.service().uploads().open() == 0);
}

TEST_CASE("dataflux_writer_commit: it can be cancelled, and outlives the writer", "[c_api]") {
  world w;
  told why;
  const queue_ptr queue = make_queue();
  writer_ptr writer = make_writer(w.client, writer_of("o"));
  write_all(writer, "mine");
  REQUIRE(dataflux_writer_commit(writer.get(), queue.get(), 1, nullptr, why) == DATAFLUX_OK);
  writer.reset();
  CHECK(next(queue)[0].status == DATAFLUX_OK);
  CHECK(w.server.get("bkt", "o") == "mine");

  writer = make_writer(w.client, writer_of("other"));
  write_all(writer, "mine");
  w.hold();
  dataflux_operation* op = nullptr;
  REQUIRE(dataflux_writer_commit(writer.get(), queue.get(), 2, &op, why) == DATAFLUX_OK);
  const operation_ptr owner(op);
  writer.reset();
  dataflux_operation_cancel(op);
  CHECK(next(queue)[0].status == DATAFLUX_CANCELLED);
}

TEST_CASE("dataflux_writer_open: it can be cancelled, and has a time limit", "[c_api]") {
  world w;
  w.hold();
  told why;
  auto o = writer_of("o");
  dataflux_operation* op = nullptr;
  REQUIRE(dataflux_writer_open(w.client.get(), &o, nullptr, 0, &op, why) == DATAFLUX_OK);
  const operation_ptr owner(op);
  dataflux_writer* none = nullptr;
  CHECK(dataflux_operation_take_writer(op, &none, why) == DATAFLUX_FAILED_PRECONDITION);
  dataflux_operation_cancel(op);
  REQUIRE(dataflux_operation_wait(op, -1, why) == DATAFLUX_OK);
  CHECK(dataflux_operation_take_writer(op, &none, why) == DATAFLUX_CANCELLED);
  CHECK(none == nullptr);
  o.timeout_ns = 20'000'000;
  open_writer(w.client, o, DATAFLUX_DEADLINE_EXCEEDED);
}

#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes

TEST_CASE("dataflux_writer: in the child of a fork it answers, and is freed", "[c_api]") {
  world w(2);
  const writer_ptr writer = make_writer(w.client, writer_of("o"));
  const operation_ptr op = open_writer(w.client, writer_of("other"));
  const queue_ptr queue = make_queue();
  write_all(writer, "of the parent");
  CHECK(run_child([&] {
          constexpr dataflux_status refused = DATAFLUX_FAILED_PRECONDITION;
          std::size_t taken = 0;
          dataflux_operation* none = nullptr;
          dataflux_writer* no_writer = nullptr;
          const auto o = writer_of("o");
          if (dataflux_writer_write(writer.get(), "x", 1, -1, &taken, nullptr) != refused) return 1;
          if (dataflux_writer_lend(writer.get(), "x", 1, -1, &taken, queue.get(), 1, nullptr) !=
              refused) {
            return 2;
          }
          if (dataflux_writer_notify(writer.get(), queue.get(), 1, nullptr) != refused) return 3;
          if (dataflux_writer_commit(writer.get(), nullptr, 1, &none, nullptr) != refused) return 4;
          if (dataflux_writer_abort(writer.get(), nullptr, 1, &none, nullptr) != refused) return 5;
          if (dataflux_operation_take_writer(op.get(), &no_writer, nullptr) != refused) return 6;
          if (dataflux_writer_open(w.client.get(), &o, nullptr, 0, &none, nullptr) != refused) {
            return 7;
          }
          dataflux_writer_free(writer.get());
          dataflux_operation_free(op.get());
          return 0;
        }) == 0);
  commit(writer);
  CHECK(w.server.get("bkt", "o") == "of the parent");
}

#endif

}  // namespace c_api_writer_test
