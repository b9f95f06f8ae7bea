#include <c_api/saving.hpp>
#include <support/short_memory.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace c_api_short_memory_test {

using namespace c_api_test;
using dataflux::test::short_memory;

namespace {

/// More than anything here allocates: what is short of memory for ever has a fault.
constexpr std::int64_t most_allocations = 10'000;

/// Waits for something, and asks for it with ever more memory, until there is enough. True if it
/// was short before.
bool next_of_little(const queue_ptr& queue, std::vector<dataflux_record>& into,
                    std::size_t capacity = 4) {
  std::vector<dataflux_record> records(capacity);
  bool short_before = false;
  for (std::int64_t allocations = 0; allocations < most_allocations; ++allocations) {
    std::size_t count = 0;
    dataflux_status status = DATAFLUX_INTERRUPTED;
    bool felt = false;
    while (status == DATAFLUX_INTERRUPTED) {
      const short_memory now(allocations);
      status =
          dataflux_queue_next(queue.get(), records.data(), sizeof records[0], capacity, -1, &count);
      felt = short_memory::felt();
    }
    into.insert(into.end(), records.begin(), records.begin() + static_cast<std::ptrdiff_t>(count));
    short_before = short_before || felt;
    if (status == DATAFLUX_OK && !felt) return short_before;
    // What comes although memory was short is as good as any other.
    REQUIRE((status == DATAFLUX_OK) == (count > 0));
    REQUIRE((status == DATAFLUX_OK || status == DATAFLUX_RESOURCE_EXHAUSTED));
  }
  FAIL("it is short of memory for ever");
  return short_before;
}
/// Until the end of a stream.
std::vector<dataflux_record> all_of_little(const queue_ptr& queue, bool& short_before) {
  std::vector<dataflux_record> all;
  for (std::size_t before = 0; all.empty() || (all.back().flags & DATAFLUX_RECORD_END) == 0;) {
    short_before = next_of_little(queue, all) || short_before;
    REQUIRE(all.size() > before);
    before = all.size();
  }
  return all;
}

}  // namespace

TEST_CASE("dataflux_queue_next: what is short of memory is told when there is some", "[c_api]") {
  if (!short_memory::works()) return;
  world w;
  w.fill(40, 100);
  const queue_ptr queue = make_queue();
  told why;
  bool short_before = false;

  // Operations, more than one fetch of news.
  const auto o = world::object("missing");
  std::vector<operation_ptr> all;
  for (std::uint64_t i = 0; i < 100; ++i) {
    dataflux_operation* op = nullptr;
    REQUIRE(dataflux_stat(w.client.get(), &o, queue.get(), i, &op, why) == DATAFLUX_OK);
    all.emplace_back(op);
  }
  for (const operation_ptr& each : all) {
    REQUIRE(dataflux_operation_wait(each.get(), -1, why) == DATAFLUX_OK);
  }
  std::vector<dataflux_record> records;
  for (std::size_t before = 0; records.size() < all.size(); before = records.size()) {
    short_before = next_of_little(queue, records, 80) || short_before;
    REQUIRE(records.size() > before);
  }
  CHECK(short_before);
  std::vector<int> told_of(all.size());
  for (const dataflux_record& r : records) {
    CHECK(r.status == DATAFLUX_NOT_FOUND);
    ++told_of[r.tag];
  }
  CHECK(told_of == std::vector<int>(all.size(), 1));
  CHECK(next(queue, 1, 0).empty());

  // Ranges.
  std::array<char, 60> memory{};
  std::array<std::uint64_t, 6> offsets{};
  std::array<std::uint64_t, 6> sizes{};
  std::array<void*, 6> into{};
  for (std::size_t i = 0; i < 6; ++i) {
    offsets[i] = 10 * i;
    sizes[i] = 10;
    into[i] = &memory[10 * i];
  }
  dataflux_range_columns ranges;
  dataflux_range_columns_init(&ranges, sizeof ranges);
  ranges.offsets = offsets.data();
  ranges.sizes = sizes.data();
  ranges.into = into.data();
  dataflux_reader_options of;
  dataflux_reader_options_init(&of, sizeof of);
  of.bucket = "bkt";
  of.object = "o/000001";
  const reader_ptr reader = take_reader(ended([&](auto q, auto tag, auto op, auto err) {
    return dataflux_reader_open(w.client.get(), &of, q, tag, op, err);
  }));
  REQUIRE(dataflux_reader_read_ranges(reader.get(), &ranges, 6, queue.get(), 9, nullptr, why) ==
          DATAFLUX_OK);
  records = all_of_little(queue, short_before);
  CHECK(records.size() == 7);
  CHECK(std::string(memory.data(), memory.size()) == world::body_of(1, 100).substr(0, 60));
}

TEST_CASE("dataflux_queue_next: events that are short of memory come when there is some",
          "[c_api]") {
  if (!short_memory::works()) return;
  world w;
  auto o = w.options();
  o.event_capacity = 100;
  const client_ptr client = world::make_client(o);
  w.server.put("bkt", "o", "12345");
  told why;
  for (int i = 0; i < 3; ++i) {
    w.server.faults().clear();
    w.server.faults().add({.count = 1, .action = emulator::fault::send{}});
    const auto object = world::object("o");
    ended([&](auto queue, auto tag, auto op, auto err) {
      return dataflux_stat(client.get(), &object, queue, tag, op, err);
    });
  }
  const queue_ptr queue = make_queue();
  dataflux_events* events = nullptr;
  REQUIRE(dataflux_client_events(client.get(), queue.get(), 7, &events, why) == DATAFLUX_OK);
  const events_ptr owner(events);
  std::vector<dataflux_record> records;
  CHECK(next_of_little(queue, records));
  REQUIRE(records.size() == 1);
  CHECK(records[0].index == 0);
  const std::string_view lines = bytes_of(records[0]);
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 3);
  release(records);
}

TEST_CASE("dataflux_lister: of rows that no memory is there for it says so", "[c_api]") {
  if (!short_memory::works()) return;
  world w;
  w.fill(40, 1);
  w.server.put("bkt", "o/folded/x", "1");
  told why;
  dataflux_list_options o;
  dataflux_list_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.prefix = "o/";
  o.delimiter = "/";
  const queue_ptr queue = make_queue();
  bool felt = true;
  bool lost = false;
  for (std::int64_t allocations = 0; felt; ++allocations) {
    REQUIRE(allocations < most_allocations);
    dataflux_lister* made = nullptr;
    REQUIRE(dataflux_list_stream(w.client.get(), &o, queue.get(), 7, &made, why) == DATAFLUX_OK);
    const lister_ptr lister(made);
    std::uint64_t rows = 0;
    bool folded = false;
    dataflux_record last{};
    std::size_t count = 0;
    {
      const short_memory now(allocations);
      dataflux_queue_next(queue.get(), &last, sizeof last, 1, -1, &count);
      felt = short_memory::felt();
    }
    for (;; last = next(queue, 1).at(0), count = 1) {
      if (count == 0) continue;
      if ((last.flags & DATAFLUX_RECORD_END) != 0) break;
      // A batch is there until it was taken.
      for (std::int64_t more = 0;; ++more) {
        REQUIRE(more < most_allocations);
        dataflux_listing* batch = nullptr;
        dataflux_status status = DATAFLUX_OK;
        {
          const short_memory now(more);
          status = dataflux_lister_take(lister.get(), &batch, why);
        }
        const listing_ptr taken(batch);
        REQUIRE((status == DATAFLUX_OK) == (batch != nullptr));
        if (status != DATAFLUX_OK) {
          REQUIRE(status == DATAFLUX_RESOURCE_EXHAUSTED);
          continue;
        }
        CHECK(dataflux_listing_size(batch) == last.size);
        const char* json = nullptr;
        REQUIRE(dataflux_listing_json(batch, &json, why) == DATAFLUX_OK);
        folded = folded || has(json, R"("prefixes":["o/folded/"])");
        rows += last.size;
        break;
      }
    }
    INFO(allocations);
    const bool whole = last.status == DATAFLUX_OK;
    CHECK((whole ? rows == 40 && folded : last.status == DATAFLUX_RESOURCE_EXHAUSTED));
    lost = lost || !whole;
  }
  CHECK(lost);
}

TEST_CASE("dataflux_lister_cancel: short of memory it brings the end when there is some",
          "[c_api]") {
  world w;
  w.fill(40, 1);
  auto with = w.options();
  with.io_threads = 1;
  const client_ptr client = world::make_client(with);
  told why;
  dataflux_list_options o;
  dataflux_list_options_init(&o, sizeof o);
  o.bucket = "bkt";
  const auto object = world::object("o/000001");
  const bool by_taking = GENERATE(false, true);
  bool short_before = false;
  // Until the queue of events has no room for one more.
  for (std::size_t others = 0; others < 20; ++others) {
    const queue_ptr queue = make_queue();
    dataflux_lister* made = nullptr;
    REQUIRE(dataflux_list_stream(client.get(), &o, queue.get(), 7, &made, why) == DATAFLUX_OK);
    const lister_ptr lister(made);
    REQUIRE(next(queue, 1).size() == 1);
    // The listing has ended, and so it is not told of the cancel.
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    for (bool ended = false; !ended; std::this_thread::yield()) {
      REQUIRE(std::chrono::steady_clock::now() < give_up);
      char* json = nullptr;
      REQUIRE(dataflux_lister_json(made, &json, why) == DATAFLUX_OK);
      ended = has(json, R"("objects":40,)") && !has(json, R"("ranges":0,)");
      dataflux_text_free(json);
    }
    std::vector<operation_ptr> all;
    for (std::size_t i = 0; i <= others; ++i) {
      dataflux_operation* op = nullptr;
      REQUIRE(dataflux_stat(client.get(), &object, i == 0 ? nullptr : queue.get(), 8, &op, why) ==
              DATAFLUX_OK);
      all.emplace_back(op);
      REQUIRE(dataflux_operation_wait(op, -1, why) == DATAFLUX_OK);
    }
    bool felt = false;
    {
      const short_memory now(0);
      dataflux_lister_cancel(made);
      felt = short_memory::felt();
    }
    short_before = short_before || felt;
    dataflux_listing* taken = nullptr;
    if (by_taking) {
      REQUIRE(dataflux_lister_take(made, &taken, why) == DATAFLUX_OK);
    } else {
      dataflux_lister_cancel(made);
    }
    const listing_ptr owner(taken);
    std::vector<dataflux_record> records;
    while (records.size() <= others) {
      const auto some = next(queue, 64, 10'000'000'000);
      INFO(others);
      REQUIRE_FALSE(some.empty());
      records.insert(records.end(), some.begin(), some.end());
    }
    const auto& last = records.back();
    CHECK(records.size() == others + 1);
    CHECK(last.tag == 7);
    CHECK(last.flags == DATAFLUX_RECORD_END);
    CHECK(last.status == DATAFLUX_CANCELLED);
    CHECK(next(queue, 1, 0).empty());
  }
  CHECK(short_before);
}

TEST_CASE("dataflux_operation_wait: what rings at the end has its memory before", "[c_api]") {
  world w;
  w.server.put("bkt", "o", "12345");
  told why;
  const auto o = world::object("o");
  // With how little memory an operation, that is freed under way, can be waited for.
  const auto least = [&](bool waited_before) {
    for (std::int64_t allocations = 0; allocations < most_allocations; ++allocations) {
      w.server.faults().clear();
      w.hold();
      dataflux_operation* op = nullptr;
      REQUIRE(dataflux_stat(w.client.get(), &o, nullptr, 0, &op, why) == DATAFLUX_OK);
      const operation_ptr owner(op);
      if (waited_before) {
        REQUIRE(dataflux_operation_wait(op, 1, why) == DATAFLUX_DEADLINE_EXCEEDED);
      }
      bool felt = false;
      {
        const short_memory now(allocations);
        dataflux_operation_wait(op, 1, nullptr);
        felt = short_memory::felt();
      }
      // It is none the worse for that.
      dataflux_operation_cancel(op);
      REQUIRE(dataflux_operation_wait(op, 10'000'000'000, why) == DATAFLUX_OK);
      CHECK(dataflux_operation_result(op, why) == DATAFLUX_CANCELLED);
      if (!felt) return allocations;
    }
    FAIL("it is short of memory for ever");
    return most_allocations;
  };
  // The queue that it rings by, and room for the event.
  CHECK(least(false) == least(true) + 2);
}

TEST_CASE("dataflux_writer_lend: short of memory it brings a record if it has taken something",
          "[c_api]") {
  if (!short_memory::works()) return;
  world w;
  told why;
  const std::string body = world::body_of(1, 12'000'000);
  auto o = writer_of("o");
  o.part_size = least_part;
  bool felt = true;
  for (std::int64_t allocations = 0; felt; ++allocations) {
    REQUIRE(allocations < most_allocations);
    const queue_ptr queue = make_queue();
    writer_ptr writer = make_writer(w.client, o);
    std::size_t taken = 77;
    dataflux_status status = DATAFLUX_OK;
    {
      const short_memory now(allocations);
      status = dataflux_writer_lend(writer.get(), body.data(), body.size(), -1, &taken, queue.get(),
                                    3, why);
      felt = short_memory::felt();
    }
    INFO(allocations << ' ' << taken);
    REQUIRE((status == DATAFLUX_OK || status == DATAFLUX_RESOURCE_EXHAUSTED));
    REQUIRE((felt || taken == body.size()));
    writer.reset();
    if (taken == 0) {
      CHECK(next(queue, 1, 0).empty());
    } else {
      CHECK(next(queue).size() == 1);
    }
  }
}

}  // namespace c_api_short_memory_test
