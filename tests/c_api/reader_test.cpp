#include <c_api/saving.hpp>

#include <support/run_child.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace c_api_reader_test {

using namespace c_api_test;

namespace {

dataflux_reader_options reader_of(const char* object) {
  dataflux_reader_options o;
  dataflux_reader_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.object = object;
  return o;
}
operation_ptr open_reader(const client_ptr& client, const dataflux_reader_options& o,
                          dataflux_status expected = DATAFLUX_OK,
                          dataflux_record* record = nullptr) {
  return ended(
      [&](auto queue, auto tag, auto op, auto err) {
        return dataflux_reader_open(client.get(), &o, queue, tag, op, err);
      },
      expected, record);
}
reader_ptr make_reader(const client_ptr& client, const dataflux_reader_options& o) {
  return take_reader(open_reader(client, o));
}

/// Ranges, each with memory of its own.
struct ranges {
  void add(std::uint64_t offset, std::uint64_t size) {
    offsets.push_back(offset);
    sizes.push_back(size);
    memory.emplace_back(size, '\0');
  }
  dataflux_range_columns view() {
    into.clear();
    for (std::string& each : memory) into.push_back(each.data());
    dataflux_range_columns c;
    dataflux_range_columns_init(&c, sizeof c);
    c.offsets = offsets.data();
    c.sizes = sizes.data();
    c.into = into.data();
    return c;
  }
  std::vector<std::uint64_t> offsets{};
  std::vector<std::uint64_t> sizes{};
  std::vector<std::string> memory{};
  std::vector<void*> into{};
};

/// All records of ranges, the last one included.
std::vector<dataflux_record> all_of(const queue_ptr& queue, std::size_t capacity = 3) {
  std::vector<dataflux_record> all;
  while (all.empty() || (all.back().flags & DATAFLUX_RECORD_END) == 0) {
    for (const auto& r : next(queue, capacity)) all.push_back(r);
  }
  return all;
}

}  // namespace

TEST_CASE("dataflux_reader: reads from anywhere, and says when all was right", "[c_api]") {
  world w;
  const std::string body = world::body_of(0, 3'000'000);
  const auto generation = w.server.put("bkt", "o", body);
  dataflux_record r{};
  const operation_ptr opened = open_reader(w.client, reader_of("o"), DATAFLUX_OK, &r);
  CHECK(r.size == body.size());
  CHECK(r.generation == generation);
  const reader_ptr reader = take_reader(opened);
  CHECK(dataflux_reader_size(reader.get()) == body.size());
  CHECK(dataflux_reader_generation(reader.get()) == generation);
  CHECK(dataflux_reader_verified(reader.get()) == 0);
  w.server.put("bkt", "other", "more");
  std::string memory(body.size(), '\0');
  const auto read = [&](std::uint64_t offset, std::size_t size, dataflux_status expected) {
    ended(
        [&](auto queue, auto tag, auto op, auto err) {
          return dataflux_reader_read(reader.get(), offset, memory.data(), size, queue, tag, op,
                                      err);
        },
        expected, &r);
  };
  read(2'999'000, 1000, DATAFLUX_OK);
  CHECK(r.size == 1000);
  CHECK(r.generation == generation);
  CHECK((r.flags & DATAFLUX_RECORD_VERIFIED) == 0);
  CHECK(memory.substr(0, 1000) == body.substr(2'999'000));
  read(body.size() - 10, 11, DATAFLUX_OUT_OF_RANGE);
  read(5, 0, DATAFLUX_OK);
  read(0, body.size(), DATAFLUX_OK);
  CHECK((r.flags & DATAFLUX_RECORD_VERIFIED) != 0);
  CHECK(memory == body);
}

TEST_CASE("dataflux_reader_read_ranges: a record for each as it is ready, then the end",
          "[c_api]") {
  world w;
  const std::string body = world::body_of(0, 9'000'000);
  const auto generation = w.server.put("bkt", "o", body);
  const reader_ptr reader = make_reader(w.client, reader_of("o"));
  ranges all;
  for (std::uint64_t i = 0; i < 50; ++i) all.add(i * 90'000, 1000 + i);
  all.add(0, body.size());
  all.add(77, 0);
  const queue_ptr queue = make_queue();
  told why;
  const auto columns = all.view();
  REQUIRE(dataflux_reader_read_ranges(reader.get(), &columns, all.sizes.size(), queue.get(), 6,
                                      nullptr, why) == DATAFLUX_OK);
  const auto records = all_of(queue);
  REQUIRE(records.size() == all.sizes.size() + 1);
  std::vector<bool> seen(all.sizes.size());
  for (const auto& r : records) {
    CHECK(r.tag == 6);
    CHECK(r.status == DATAFLUX_OK);
    CHECK(r.generation == generation);
    CHECK(r.slab == 0);
    if (&r == &records.back()) continue;
    CHECK(r.flags == 0);
    CHECK_FALSE(seen.at(r.index));
    seen.at(r.index) = true;
    CHECK(r.data == all.into.at(r.index));
    CHECK(bytes_of(r) == std::string_view(body).substr(all.offsets.at(r.index), r.size));
    CHECK(r.size == all.sizes.at(r.index));
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t size : all.sizes) sum += size;
  CHECK(records.back().size == sum);
  CHECK((records.back().flags & DATAFLUX_RECORD_VERIFIED) != 0);
  CHECK(next(queue, 1, 0).empty());
  // None at all.
  REQUIRE(dataflux_reader_read_ranges(reader.get(), nullptr, 0, queue.get(), 7, nullptr, why) ==
          DATAFLUX_OK);
  CHECK(all_of(queue).size() == 1);
}

TEST_CASE("dataflux_reader_read_ranges: without a queue its end is waited for", "[c_api]") {
  world w;
  const std::string body = world::body_of(0, 100'000);
  w.server.put("bkt", "o", body);
  const reader_ptr reader = make_reader(w.client, reader_of("o"));
  ranges all;
  all.add(5, 10'000);
  all.add(60'000, 40'000);
  told why;
  dataflux_operation* op = nullptr;
  const auto columns = all.view();
  REQUIRE(dataflux_reader_read_ranges(reader.get(), &columns, 2, nullptr, 0, &op, why) ==
          DATAFLUX_OK);
  const operation_ptr owner(op);
  REQUIRE(dataflux_operation_wait(op, -1, why) == DATAFLUX_OK);
  CHECK(dataflux_operation_result(op, why) == DATAFLUX_OK);
  CHECK(all.memory[0] == body.substr(5, 10'000));
  CHECK(all.memory[1] == body.substr(60'000));
}

TEST_CASE("dataflux_reader_read_ranges: the first failure is every other's", "[c_api]") {
  world w;
  w.server.put("bkt", "o", world::body_of(0, 100'000));
  const reader_ptr reader = make_reader(w.client, reader_of("o"));
  ranges all;
  for (std::uint64_t i = 0; i < 9; ++i) all.add(i * 10'000, 10'000);
  const queue_ptr queue = make_queue();
  told why;
  dataflux_status expected = DATAFLUX_OUT_OF_RANGE;
  dataflux_operation* op = nullptr;
  const bool beyond = GENERATE(true, false);
  if (beyond) {
    // What is not there needs no memory.
    all.add(99'999, 0);
    all.sizes.back() = GENERATE(std::uint64_t{100}, std::uint64_t{1} << 50U);
  } else {
    expected = DATAFLUX_CANCELLED;
    w.hold();
  }
  const auto columns = all.view();
  if (beyond) all.into.back() = nullptr;
  REQUIRE(dataflux_reader_read_ranges(reader.get(), &columns, all.sizes.size(), queue.get(), 6, &op,
                                      why) == DATAFLUX_OK);
  const operation_ptr owner(op);
  if (!beyond) {
    CHECK(next(queue, 1, 0).empty());
    dataflux_client_close(w.client.get());
  }
  const auto records = all_of(queue);
  CHECK(records.size() == all.sizes.size() + 1);
  for (const auto& r : records) {
    CHECK(r.status == expected);
    const error_ptr e(dataflux_queue_error(queue.get(), r.error));
    REQUIRE(e != nullptr);
    CHECK(std::string_view(dataflux_error_object(e.get())) == "o");
  }
  CHECK(dataflux_operation_result(op, why) == expected);
  char byte = 0;
  dataflux_operation* none = nullptr;
  if (beyond) return;
  CHECK(dataflux_reader_read(reader.get(), 0, &byte, 1, nullptr, 0, &none, why) ==
        DATAFLUX_FAILED_PRECONDITION);
}

TEST_CASE("dataflux_reader: freed and closed under way", "[c_api]") {
  world w;
  const std::string body = world::body_of(0, 200'000);
  w.server.put("bkt", "o", body);
  reader_ptr reader = make_reader(w.client, reader_of("o"));
  told why;
  queue_ptr queue = make_queue();
  ranges all;
  all.add(0, 100'000);
  all.add(150'000, 1000);
  const auto columns = all.view();
  SECTION("the reader: reads go on") {
    REQUIRE(dataflux_reader_read_ranges(reader.get(), &columns, 2, queue.get(), 6, nullptr, why) ==
            DATAFLUX_OK);
    reader.reset();
    CHECK(all_of(queue).size() == 3);
    CHECK(all.memory[0] == body.substr(0, 100'000));
  }
  SECTION("the operation: no record comes, and memory is the caller's") {
    w.hold();
    dataflux_operation* op = nullptr;
    REQUIRE(dataflux_reader_read_ranges(reader.get(), &columns, 2, queue.get(), 6, &op, why) ==
            DATAFLUX_OK);
    dataflux_operation_free(op);
    all.memory.clear();
    CHECK(next(queue, 1, 0).empty());
  }
  SECTION("the queue: what nobody has a handle of ends") {
    w.hold();
    REQUIRE(dataflux_reader_read_ranges(reader.get(), &columns, 2, queue.get(), 6, nullptr, why) ==
            DATAFLUX_OK);
    queue.reset();
    all.memory.clear();
  }
}

TEST_CASE("dataflux_reader: bad input is answered", "[c_api]") {
  world w;
  told why;
  dataflux_operation* op = nullptr;
  auto o = reader_of("o");
  const auto open = [&](const dataflux_reader_options* given) {
    return dataflux_reader_open(w.client.get(), given, nullptr, 0, &op, why);
  };
  CHECK(dataflux_reader_open(nullptr, &o, nullptr, 0, &op, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_reader_open(w.client.get(), &o, nullptr, 0, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(open(nullptr) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "bucket is NULL");
  o.object = nullptr;
  CHECK(open(&o) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "object is NULL");
  o = reader_of("o");
  o.struct_size = 1;
  CHECK(open(&o) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(w.server.counters().of() == 0);
  open_reader(w.client, reader_of("o"), DATAFLUX_NOT_FOUND);

  const auto generation = w.server.put("bkt", "o", "12345");
  o = reader_of("o");
  o.generation = generation + 1;
  open_reader(w.client, o, DATAFLUX_NOT_FOUND);
  o.generation = generation;
  // An older program's options end before its time limit.
  o.struct_size = offsetof(dataflux_reader_options, timeout_ns);
  o.timeout_ns = 1;
  const reader_ptr reader = make_reader(w.client, o);
  char memory[5];
  CHECK(dataflux_reader_read(nullptr, 0, memory, 5, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "reader is NULL");
  CHECK(dataflux_reader_read(reader.get(), 0, nullptr, 5, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_reader_read(reader.get(), 0, memory, 5, nullptr, 0, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  ranges all;
  all.add(0, 5);
  const auto good = all.view();
  const auto read = [&](const dataflux_range_columns* c) {
    return dataflux_reader_read_ranges(reader.get(), c, 1, nullptr, 0, &op, why);
  };
  CHECK(dataflux_reader_read_ranges(nullptr, &good, 1, nullptr, 0, &op, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(read(nullptr) == DATAFLUX_INVALID_ARGUMENT);
  auto c = good;
  c.offsets = nullptr;
  CHECK(read(&c) == DATAFLUX_INVALID_ARGUMENT);
  c = good;
  c.sizes = nullptr;
  CHECK(read(&c) == DATAFLUX_INVALID_ARGUMENT);
  c = good;
  c.into = nullptr;
  CHECK(read(&c) == DATAFLUX_INVALID_ARGUMENT);
  void* const nowhere[]{nullptr};
  c = good;
  c.into = nowhere;
  CHECK(read(&c) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "`into` is NULL at 0");
  c = good;
  c.struct_size = 0;
  CHECK(read(&c) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(op == nullptr);
  dataflux_reader* none = nullptr;
  CHECK(dataflux_operation_take_reader(nullptr, &none, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_reader_size(nullptr) == 0);
  CHECK(dataflux_reader_generation(nullptr) == 0);
  CHECK(dataflux_reader_verified(nullptr) == 0);
  dataflux_reader_free(nullptr);
}

#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes

TEST_CASE("dataflux_reader: in the child of a fork it answers, and is freed", "[c_api]") {
  world w(2);
  w.server.put("bkt", "o", "12345");
  const reader_ptr reader = make_reader(w.client, reader_of("o"));
  char memory[5];
  CHECK(run_child([&] {
          constexpr dataflux_status refused = DATAFLUX_FAILED_PRECONDITION;
          dataflux_operation* none = nullptr;
          const auto o = reader_of("o");
          if (dataflux_reader_read(reader.get(), 0, memory, 5, nullptr, 0, &none, nullptr) !=
              refused) {
            return 1;
          }
          if (dataflux_reader_read_ranges(reader.get(), nullptr, 0, nullptr, 0, &none, nullptr) !=
              refused) {
            return 2;
          }
          if (dataflux_reader_open(w.client.get(), &o, nullptr, 0, &none, nullptr) != refused) {
            return 3;
          }
          if (dataflux_reader_size(reader.get()) != 5) return 4;  // plain memory
          dataflux_reader_free(reader.get());
          return 0;
        }) == 0);
  ended([&](auto queue, auto tag, auto op, auto err) {
    return dataflux_reader_read(reader.get(), 0, memory, 5, queue, tag, op, err);
  });
  CHECK(std::string(memory, 5) == "12345");
}

#endif

}  // namespace c_api_reader_test
