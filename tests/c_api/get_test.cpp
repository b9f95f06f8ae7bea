#include <c_api/harness.hpp>
#include <support/run_child.hpp>

#include <dataflux/codec/crc32c.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <thread>

namespace c_api_get_test {

using namespace c_api_test;

namespace {

constexpr std::uint64_t to_end = UINT64_MAX;

operation_ptr begin(const client_ptr& client, const queue_ptr& queue, const char* name,
                    std::uint64_t offset = 0, std::uint64_t length = to_end) {
  const auto o = world::object(name);
  told why;
  dataflux_operation* made = nullptr;
  const dataflux_status status =
      dataflux_get(client.get(), &o, offset, length, queue.get(), 7, &made, why);
  INFO(why.text());
  REQUIRE(status == DATAFLUX_OK);
  return operation_ptr(made);
}

/// The record of one get, which is the caller's to release.
dataflux_record get(const world& w, const char* name, std::uint64_t offset = 0,
                    std::uint64_t length = to_end) {
  const queue_ptr queue = make_queue();
  const operation_ptr op = begin(w.client, queue, name, offset, length);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].tag == 7);
  CHECK(records[0].flags >= DATAFLUX_RECORD_END);
  CHECK(next(queue, 1, 0).empty());
  if (records[0].status != DATAFLUX_OK) {
    CHECK(records[0].data == nullptr);
    CHECK(records[0].slab == 0);
    const error_ptr e(dataflux_queue_error(queue.get(), records[0].error));
    CHECK(dataflux_error_status(e.get()) == records[0].status);
    CHECK(std::string_view(dataflux_error_bucket(e.get())) == "bkt");
    CHECK(std::string_view(dataflux_error_object(e.get())) == name);
  }
  return records[0];
}

std::uint64_t metric(const client_ptr& client, const std::string& name) {
  told why;
  char* text = nullptr;
  REQUIRE(dataflux_client_metrics(client.get(), &text, why) == DATAFLUX_OK);
  const std::string json(text);
  dataflux_text_free(text);
  const std::size_t at = json.find("\"" + name + "\":");
  REQUIRE(at != std::string::npos);
  return std::stoull(json.substr(at + name.size() + 3));
}

/// Whether it comes to nothing. What a read has is let go of by the client's threads, after its end
/// was told.
bool let_go(const client_ptr& client, const std::string& name = "borrowed") {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (metric(client, name) != 0) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

void wait(const operation_ptr& op) {
  REQUIRE(dataflux_operation_wait(op.get(), -1, nullptr) == DATAFLUX_OK);
}

}  // namespace

TEST_CASE("dataflux_get: whole objects of any size", "[c_api]") {
  world w(2);
  for (const std::size_t size :
       {1U, 2'000U, 16'384U, 100'000U, 1U << 20U, (1U << 20U) + 1, 9'000'000U, 20'000'000U}) {
    INFO(size);
    const std::string body = world::body_of(0, size);
    w.server.put("bkt", "o", body);
    const dataflux_record r = get(w, "o");
    CHECK(r.status == DATAFLUX_OK);
    CHECK(r.generation > 0);
    CHECK(r.flags == (DATAFLUX_RECORD_END | DATAFLUX_RECORD_VERIFIED));
    CHECK(r.crc32c == dataflux::crc32c(dataflux::as_bytes(std::string_view(body))));
    CHECK((bytes_of(r) == body));
    void* memory = nullptr;
    std::uint64_t all = 0;
    dataflux_slab_memory(r.slab, &memory, &all);
    CHECK(static_cast<const char*>(memory) <= r.data);
    // Small ones share 128 KiB; others have memory of their own, which is not much more.
    CHECK(all <= std::max<std::uint64_t>(128U << 10U, size + size / 4));
    release({r});
    CHECK(let_go(w.client));
  }
}

TEST_CASE("dataflux_get: an object of no bytes is none", "[c_api]") {
  world w;
  w.server.put("bkt", "empty", "");
  for (const std::uint64_t length : {to_end, std::uint64_t{5}}) {
    const dataflux_record r = get(w, "empty", 0, length);
    CHECK(r.status == DATAFLUX_OK);
    CHECK(r.size == 0);
    CHECK(r.slab == 0);
    CHECK(r.crc32c == 0);
    CHECK((r.flags & DATAFLUX_RECORD_VERIFIED) != 0);
  }
  CHECK(get(w, "empty", 1).status == DATAFLUX_OUT_OF_RANGE);
}

TEST_CASE("dataflux_get: ranges, and those that the object has not", "[c_api]") {
  world w;
  const std::string body = world::body_of(0, 9'000'000);
  w.server.put("bkt", "o", body);
  struct row {
    std::uint64_t offset;
    std::uint64_t length;
  };
  for (const row& each : std::initializer_list<row>{{0, 5},
                                                    {10, 2'000'000},
                                                    {10, 8'900'000},
                                                    {1'000, to_end},
                                                    {8'999'000, to_end},
                                                    {8'999'000, 5'000},
                                                    {8'999'000, 50'000'000}}) {
    INFO(each.offset << " " << each.length);
    const dataflux_record r = get(w, "o", each.offset, each.length);
    CHECK(r.status == DATAFLUX_OK);
    CHECK((r.flags & DATAFLUX_RECORD_VERIFIED) == 0);
    CHECK((bytes_of(r) == std::string_view(body).substr(each.offset, each.length)));
    release({r});
  }
  CHECK(get(w, "o", 9'000'000).status == DATAFLUX_OUT_OF_RANGE);
  CHECK(get(w, "o", 9'000'000, 1).status == DATAFLUX_OUT_OF_RANGE);
  CHECK(get(w, "o", 9'000'001).status == DATAFLUX_OUT_OF_RANGE);
  CHECK(get(w, "o", 90'000'000, 50'000'000).status == DATAFLUX_OUT_OF_RANGE);
  CHECK(get(w, "o", 5, 0).status == DATAFLUX_INVALID_ARGUMENT);
  CHECK(get(w, "gone").status == DATAFLUX_NOT_FOUND);
  CHECK(let_go(w.client));
}

TEST_CASE("dataflux_get: one generation, or the live one", "[c_api]") {
  world w;
  w.server.put("bkt", "o", "first");
  const dataflux_record first = get(w, "o");
  release({first});
  auto o = world::object("o");
  o.generation = first.generation;
  const queue_ptr queue = make_queue();
  told why;
  const auto status_of = [&] {
    REQUIRE(dataflux_get(w.client.get(), &o, 0, to_end, queue.get(), 7, nullptr, why) ==
            DATAFLUX_OK);
    const auto records = next(queue);
    release(records);
    return records.at(0).status;
  };
  CHECK(status_of() == DATAFLUX_OK);
  w.server.put("bkt", "o", "second");
  CHECK(status_of() == DATAFLUX_NOT_FOUND);
  const dataflux_record second = get(w, "o");
  CHECK(second.generation > first.generation);
  CHECK(bytes_of(second) == "second");
  release({second});
}

TEST_CASE("dataflux_get: bytes that do not match their checksum are none", "[c_api]") {
  world w;
  w.fill(1);
  w.server.faults().add({.count = 0, .action = emulator::fault::wrong_hash{}});
  CHECK(get(w, "o/000000").status == DATAFLUX_DATA_LOSS);
  CHECK(let_go(w.client));
}

TEST_CASE("dataflux_get: bad input is answered before any request", "[c_api]") {
  world w;
  told why;
  const queue_ptr queue = make_queue();
  const auto refused = [&](const dataflux_client* of, const dataflux_object_options* o,
                           dataflux_queue* to, dataflux_status with = DATAFLUX_INVALID_ARGUMENT) {
    auto* made = reinterpret_cast<dataflux_operation*>(&w);
    CHECK(dataflux_get(const_cast<dataflux_client*>(of), o, 0, to_end, to, 7, &made, why) == with);
    CHECK(made == nullptr);
    CHECK(why.any());
  };
  const auto good = world::object("o");
  refused(w.client.get(), &good, nullptr);
  CHECK(why.message() == "queue is NULL");
  refused(nullptr, &good, queue.get());
  refused(w.client.get(), nullptr, queue.get());
  CHECK(why.message() == "bucket is NULL");
  auto o = world::object(nullptr);
  refused(w.client.get(), &o, queue.get());
  o = good;
  o.struct_size = 3;
  refused(w.client.get(), &o, queue.get());
  struct {
    dataflux_object_options known = world::object("o");
    std::uint64_t later{1};
  } longer;
  longer.known.struct_size = sizeof longer;
  refused(w.client.get(), &longer.known, queue.get());
  o = good;
  o.fields = DATAFLUX_FIELD_BASIC;
  refused(w.client.get(), &o, queue.get());
  dataflux_conditions c;
  dataflux_conditions_init(&c, sizeof c);
  o = good;
  o.conditions = &c;
  refused(w.client.get(), &o, queue.get(), DATAFLUX_UNIMPLEMENTED);
  const queue_ptr closed = make_queue();
  dataflux_queue_close(closed.get());
  refused(w.client.get(), &good, closed.get(), DATAFLUX_FAILED_PRECONDITION);
  CHECK(w.server.counters().of() == 0);
  dataflux_client_close(w.client.get());
  refused(w.client.get(), &good, queue.get(), DATAFLUX_FAILED_PRECONDITION);
  CHECK(next(queue, 1, 0).empty());
}

TEST_CASE("dataflux_get: options of an older header", "[c_api]") {
  world w;
  w.fill(1);
  struct {
    dataflux_object_options of = world::object("o/000000");
  } older;
  older.of.struct_size = offsetof(dataflux_object_options, generation);
  older.of.generation = 5;  // not his
  const queue_ptr queue = make_queue();
  told why;
  REQUIRE(dataflux_get(w.client.get(), &older.of, 0, to_end, queue.get(), 7, nullptr, why) ==
          DATAFLUX_OK);
  const auto records = next(queue);
  CHECK(bytes_of(records.at(0)) == world::body_of(0));
  release(records);
}

TEST_CASE("dataflux_get: it ends early when it is cancelled, or late, or its client closes",
          "[c_api]") {
  world w;
  w.hold();
  told why;
  const queue_ptr queue = make_queue();
  const auto status = [&] {
    const auto records = next(queue);
    REQUIRE(records.size() == 1);
    CHECK(records[0].slab == 0);
    const error_ptr e(dataflux_queue_error(queue.get(), records[0].error));
    REQUIRE(e != nullptr);
    CHECK(std::string(dataflux_error_bucket(e.get())) == "bkt");
    CHECK(std::string(dataflux_error_object(e.get())) == "o");
    return records[0].status;
  };
  const operation_ptr cancelled = begin(w.client, queue, "o");
  dataflux_operation_cancel(cancelled.get());
  CHECK(status() == DATAFLUX_CANCELLED);
  auto o = world::object("o");
  o.timeout_ns = 20'000'000;
  REQUIRE(dataflux_get(w.client.get(), &o, 0, to_end, queue.get(), 7, nullptr, why) == DATAFLUX_OK);
  CHECK(status() == DATAFLUX_DEADLINE_EXCEEDED);
  { const operation_ptr freed = begin(w.client, queue, "o"); }
  CHECK(next(queue, 1, 0).empty());
  const operation_ptr of_closed = begin(w.client, queue, "o");
  dataflux_client_close(w.client.get());
  CHECK(status() == DATAFLUX_CANCELLED);
}

TEST_CASE("dataflux_get: a timeout that passes tells what was met", "[c_api]") {
  world w;
  w.server.put("bkt", "o", "bytes");
  w.server.faults().add({.verb = "objects.media", .action = emulator::fault::refuse{503}});
  w.server.faults().add(
      {.verb = "objects.media",
       .count = 0,
       .action = emulator::fault::stall{.where = emulator::fault::point::before_reply}});
  told why;
  const queue_ptr queue = make_queue();
  auto o = world::object("o");
  o.timeout_ns = 3'000'000'000;
  REQUIRE(dataflux_get(w.client.get(), &o, 0, to_end, queue.get(), 7, nullptr, why) == DATAFLUX_OK);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].status == DATAFLUX_DEADLINE_EXCEEDED);
  const error_ptr late(dataflux_queue_error(queue.get(), records[0].error));
  CHECK(dataflux_error_http_status(late.get()) == 503);
  CHECK(dataflux_error_attempts(late.get()) > 1);
  CHECK(has(dataflux_error_message(late.get()), " met: "));
}

TEST_CASE("dataflux_get: freed or cancelled at any time it leaves nothing", "[c_api]") {
  world w(2);
  w.fill(40, 60'000);
  for (int round = 0; round < 200; ++round) {
    const queue_ptr queue = make_queue();
    std::vector<operation_ptr> all;
    for (int i = 0; i < 4; ++i) {
      all.push_back(begin(w.client, queue, world::name_of((round + i) % 40).c_str()));
    }
    if (round % 3 == 0) wait(all[static_cast<std::size_t>(round) % 4]);
    dataflux_operation_cancel(all[0].get());
    if (round % 2 == 0) release(next(queue, 1));
    if (round % 5 == 0) dataflux_queue_close(queue.get());
  }
  CHECK(let_go(w.client));
  CHECK(let_go(w.client, "held"));
}

TEST_CASE("dataflux_get: memory is given away once, with the record", "[c_api]") {
  world w;
  w.fill(1, 60'000);
  const char* const name = "o/000000";
  const auto borrowed = [&w] { return metric(w.client, "borrowed"); };
  const bool handled = GENERATE(true, false);
  queue_ptr queue = make_queue();
  operation_ptr op = begin(w.client, queue, name);
  wait(op);
  CHECK(borrowed() >= 60'000);
  SECTION("which is taken") {
    const auto records = next(queue);
    REQUIRE(records.size() == 1);
    if (handled) op.reset();
    CHECK(next(queue, 1, 0).empty());
    CHECK(bytes_of(records[0]) == world::body_of(0, 60'000));
    CHECK(borrowed() >= 60'000);
    release(records);
    CHECK(let_go(w.client));
    op.reset();
  }
  SECTION("or ends with the operation") {
    op.reset();
    CHECK(let_go(w.client));
    CHECK(next(queue, 1, 0).empty());
  }
  SECTION("or with the queue") {
    if (handled) {
      dataflux_queue_close(queue.get());
    } else {
      queue.reset();
    }
    // The operation has it still: who asks it is told that it has ended well.
    CHECK(dataflux_operation_result(op.get(), nullptr) == DATAFLUX_OK);
    op.reset();
  }
  SECTION("or has outlived its client") {
    w.client.reset();
    const auto records = next(queue);
    op.reset();
    queue.reset();
    CHECK(bytes_of(records.at(0)) == world::body_of(0, 60'000));
    release(records);
    w.client = w.make_client();
  }
  CHECK(let_go(w.client));
}

TEST_CASE("dataflux_get: a queue that is closed drops what nobody has a handle of", "[c_api]") {
  world w;
  w.fill(30, 60'000);
  told why;
  queue_ptr queue = make_queue();
  for (int i = 0; i < 30; ++i) {
    const std::string name = world::name_of(i);
    const auto o = world::object(name.c_str());
    REQUIRE(dataflux_get(w.client.get(), &o, 0, to_end, queue.get(), 7, nullptr, why) ==
            DATAFLUX_OK);
  }
  while (metric(w.client, "borrowed") < 300'000) std::this_thread::yield();
  if (GENERATE(true, false)) dataflux_queue_close(queue.get());
  queue.reset();
  CHECK(let_go(w.client));
  CHECK(let_go(w.client, "held"));
}

TEST_CASE("dataflux_get: it gives its record, and nothing else", "[c_api]") {
  world w;
  w.fill(1);
  told why;
  const queue_ptr queue = make_queue();
  const operation_ptr op = begin(w.client, queue, "o/000000");
  wait(op);
  const char* json = "kept";
  CHECK(dataflux_operation_json(op.get(), &json, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(json == nullptr);
  dataflux_listing* listing = nullptr;
  CHECK(dataflux_operation_take_listing(op.get(), &listing, why) == DATAFLUX_INVALID_ARGUMENT);
}

TEST_CASE("dataflux_get: many at a time stay below the cap; more than that is refused", "[c_api]") {
  world w(2);
  w.fill(40, 700'000);
  const std::string large = world::body_of(0, 3'500'000);
  w.server.put("bkt", "large", large);
  w.server.put("bkt", "too large", std::string(5'000'000, 'x'));
  auto with = w.options();
  with.memory_cap = 4'000'000;
  const client_ptr client = world::make_client(with);
  const queue_ptr queue = make_queue();
  std::vector<operation_ptr> all;
  for (int i = 0; i < 40; ++i) {
    const std::string name = world::name_of(i);
    all.push_back(begin(client, queue, name.c_str()));
    if (i % 10 == 0) all.push_back(begin(client, queue, "large"));
  }
  for (std::size_t n = 0; n < all.size();) {
    CHECK(metric(client, "held") <= 4'000'000);
    const auto records = next(queue);
    for (const auto& r : records) {
      CHECK(r.status == DATAFLUX_OK);
      CHECK(r.size >= 700'000);
    }
    release(records);
    n += records.size();
  }
  const operation_ptr refused = begin(client, queue, "too large");
  CHECK(next(queue).at(0).status == DATAFLUX_RESOURCE_EXHAUSTED);
  const operation_ptr asked = begin(client, queue, "large", 0, 5'000'000);
  CHECK(next(queue).at(0).status == DATAFLUX_RESOURCE_EXHAUSTED);
  CHECK(let_go(client));
  CHECK(let_go(client, "held"));
}

TEST_CASE("dataflux_get: a stream that nobody takes from does not hold it up", "[c_api]") {
  world w;
  w.fill(200, 50'000);
  const listing_ptr listing = w.list();
  auto with = w.options();
  with.memory_cap = 4'000'000;
  const client_ptr client = world::make_client(with);
  const queue_ptr stream = make_queue();
  dataflux_get_many_options many;
  dataflux_get_many_options_init(&many, sizeof many);
  many.bucket = "bkt";
  told why;
  dataflux_getter* made = nullptr;
  REQUIRE(dataflux_get_many(client.get(), &many, listing.get(), nullptr, 0, stream.get(), 1, &made,
                            why) == DATAFLUX_OK);
  const getter_ptr items(made);
  while (metric(client, "held") < 3'000'000) std::this_thread::yield();
  const queue_ptr queue = make_queue();
  const operation_ptr op = begin(client, queue, "o/000005");
  const auto records = next(queue);
  CHECK(bytes_of(records.at(0)) == world::body_of(5, 50'000));
  release(records);
}

TEST_CASE("dataflux_get: threads share a queue, and each record is somebody's", "[c_api]") {
  world w(2);
  w.fill(50);
  const queue_ptr queue = make_queue();
  constexpr int reads = 400;
  std::atomic<int> left{reads};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t; i < reads; i += 4) {
        const std::string name = world::name_of(i % 50);
        const auto o = world::object(name.c_str());
        if (dataflux_get(w.client.get(), &o, 0, to_end, queue.get(),
                         static_cast<std::uint64_t>(i % 50), nullptr, nullptr) != DATAFLUX_OK) {
          ++wrong;
        }
      }
      while (left > 0) {
        std::array<dataflux_record, 8> records{};
        std::size_t count = 0;
        static_cast<void>(dataflux_queue_next(queue.get(), records.data(), sizeof records[0],
                                              records.size(), 10'000'000, &count));
        for (std::size_t i = 0; i < count; ++i) {
          const dataflux_record& r = records[i];
          if (bytes_of(r) != world::body_of(static_cast<int>(r.tag))) ++wrong;
          dataflux_slabs_release(&r.slab, 1);
          --left;
        }
      }
    });
  }
  for (auto& each : threads) each.join();
  CHECK(left == 0);
  CHECK(wrong == 0);
  CHECK(let_go(w.client));
}

#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes

TEST_CASE("dataflux_get: in the child of a fork", "[c_api]") {
  world w;
  w.fill(2, 60'000);
  const queue_ptr queue = make_queue();
  const operation_ptr had = begin(w.client, queue, "o/000000");
  const auto lent = next(queue);
  REQUIRE(lent.size() == 1);
  const operation_ptr waits = begin(w.client, queue, "o/000001");
  wait(waits);
  const int in_child = run_child([&] {
    const auto o = world::object("o/000000");
    dataflux_operation* none = nullptr;
    if (dataflux_get(w.client.get(), &o, 0, to_end, queue.get(), 7, &none, nullptr) !=
        DATAFLUX_FAILED_PRECONDITION) {
      return 1;
    }
    if (none != nullptr) return 2;
    if (bytes_of(lent[0]) != world::body_of(0, 60'000)) return 3;
    dataflux_operation_free(had.get());
    dataflux_operation_free(waits.get());
    dataflux_queue_close(queue.get());
    dataflux_queue_free(queue.get());
    release(lent);
    const client_ptr client = w.make_client();
    const queue_ptr own = make_queue();
    if (dataflux_get(client.get(), &o, 0, to_end, own.get(), 7, nullptr, nullptr) != DATAFLUX_OK) {
      return 4;
    }
    const auto records = next(own);
    return records.size() == 1 && bytes_of(records[0]) == world::body_of(0, 60'000) ? 0 : 5;
  });
  CHECK(in_child == 0);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(bytes_of(records[0]) == world::body_of(1, 60'000));
  release(records);
  release(lent);
  CHECK(let_go(w.client));
}

#endif

}  // namespace c_api_get_test
