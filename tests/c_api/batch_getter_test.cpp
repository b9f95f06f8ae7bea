#include <c_api/harness.hpp>

#include <support/run_child.hpp>
#include <support/tar_bytes.hpp>
#include <support/temporary_folder.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace c_api_batch_getter_test {

using namespace c_api_test;

namespace {

using batches_ptr = std::unique_ptr<dataflux_batch_getter, freer<dataflux_batch_getter_free>>;

dataflux_get_many_options in_bucket() {
  dataflux_get_many_options o;
  dataflux_get_many_options_init(&o, sizeof o);
  o.bucket = "bkt";
  return o;
}
dataflux_batch batch_of(std::string& memory, const std::vector<std::uint64_t>& numbers) {
  dataflux_batch b;
  dataflux_batch_init(&b, sizeof b);
  b.count = numbers.size();
  b.numbers = numbers.data();
  b.data = memory.data();
  b.size = memory.size();
  return b;
}
std::vector<std::uint64_t> numbers(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

struct reading {
  reading(const world& w, const listing_ptr& listing, dataflux_get_many_options o = in_bucket()) {
    told why;
    dataflux_batch_getter* made = nullptr;
    const dataflux_status status =
        dataflux_get_batches(w.client.get(), &o, listing.get(), queue.get(), 7, &made, why);
    INFO(why.text());
    REQUIRE(status == DATAFLUX_OK);
    batches.reset(made);
  }
  std::uint64_t push(const dataflux_batch& b) const {
    told why;
    std::uint64_t number = 99;
    const dataflux_status status = dataflux_batch_getter_push(batches.get(), &b, &number, why);
    INFO(why.text());
    REQUIRE(status == DATAFLUX_OK);
    return number;
  }
  dataflux_status refused(const dataflux_batch& b, told& why) const {
    return dataflux_batch_getter_push(batches.get(), &b, nullptr, why);
  }
  void finish() const { dataflux_batch_getter_finish(batches.get()); }
  dataflux_record one() const {
    const auto records = next(queue, 1);
    REQUIRE(records.size() == 1);
    CHECK(records[0].tag == 7);
    CHECK(records[0].slab == 0);
    return records[0];
  }

  queue_ptr queue = make_queue();
  batches_ptr batches{};
};

}  // namespace

TEST_CASE("dataflux_get_batches: rows of a listing, a record a batch", "[c_api]") {
  world w(2);
  w.fill(400);
  const listing_ptr listing = w.list();
  const reading r(w, listing);
  std::vector<std::string> memory(8, std::string(50 * 2'010, '#'));
  for (std::size_t b = 0; b < 8; ++b) {
    std::vector<std::uint64_t> sizes(50, 7);
    const auto rows = numbers(b * 50, 50);
    dataflux_batch batch = batch_of(memory[b], rows);
    batch.sizes = sizes.data();
    batch.stride = b % 2 == 0 ? 0 : 2'010;
    CHECK(r.push(batch) == b);
    for (std::size_t i = 0; i < 50; ++i) {
      CHECK(sizes[i] == world::body_of(static_cast<int>(b * 50 + i)).size());
    }
  }
  r.finish();
  for (std::size_t b = 0; b < 8; ++b) {
    const dataflux_record record = r.one();
    CHECK(record.index == b);
    CHECK(record.status == DATAFLUX_OK);
    CHECK(record.flags == DATAFLUX_RECORD_VERIFIED);
    CHECK(record.data == memory[b].data());
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < 50; ++i) {
      const std::string body = world::body_of(static_cast<int>(b * 50 + i));
      bytes += body.size();
      const std::string_view row = std::string_view(memory[b]).substr(i * 2'010, 2'010);
      CHECK(row.substr(0, body.size()) == body);
      CHECK(row.find_first_not_of('#', body.size()) == std::string_view::npos);
    }
    CHECK(record.size == bytes);
  }
  const dataflux_record last = r.one();
  CHECK(last.flags == DATAFLUX_RECORD_END);
  CHECK(last.status == DATAFLUX_OK);
}

TEST_CASE("dataflux_get_batches: failed rows come before their batch", "[c_api]") {
  world w;
  w.fill(30, 100);
  const listing_ptr listing = w.list();
  w.server.faults().add(
      {.object = world::name_of(10), .count = 0, .action = emulator::fault::refuse{403}});
  const reading r(w, listing);
  std::string memory(3'300, '#');
  auto rows = numbers(0, 30);
  rows[20] = 30;
  const std::size_t capacity = GENERATE(1U, 64U);
  r.push(batch_of(memory, rows));
  r.push(batch_of(memory, {}));
  std::vector<dataflux_record> records;
  while (records.size() < 4) {
    for (const auto& each : next(r.queue, capacity)) records.push_back(each);
  }
  REQUIRE(records.size() == 4);
  for (std::size_t i = 0; i < 2; ++i) {
    const dataflux_record& row = records[i];
    CHECK(row.flags == DATAFLUX_RECORD_ROW);
    CHECK(row.index == 0);
    CHECK(row.data == nullptr);
    const error_ptr e(dataflux_queue_error(r.queue.get(), row.error));
    REQUIRE(e);
    if (row.size == 20) {
      CHECK(row.status == DATAFLUX_OUT_OF_RANGE);
    } else {
      CHECK(row.size == 10);
      CHECK(row.status == DATAFLUX_PERMISSION_DENIED);
      CHECK(std::string_view(dataflux_error_object(e.get())) == world::name_of(10));
    }
  }
  CHECK(records[2].flags == DATAFLUX_RECORD_VERIFIED);
  CHECK(records[2].index == 0);
  CHECK(records[3].index == 1);
  CHECK(records[3].size == 0);
}

TEST_CASE("dataflux_get_batches: requests in columns, and what they lack", "[c_api]") {
  world w;
  w.fill(3, 1'000);
  const reading r(w, nullptr);
  const std::string names = "o/000000o/000001o/000002";
  const std::array<std::uint64_t, 4> ends{0, 8, 16, 24};
  const std::array<std::uint64_t, 3> begins{10, 0, 500};
  std::array<std::uint64_t, 3> lengths{100, 50, UINT64_MAX};
  dataflux_get_columns c;
  dataflux_get_columns_init(&c, sizeof c);
  c.names = names.data();
  c.name_offsets = ends.data();
  c.offsets = begins.data();
  c.lengths = lengths.data();
  std::string memory(1'000, '#');
  const std::array<std::uint64_t, 3> offsets{0, 100, 150};
  std::array<std::uint64_t, 3> sizes{};
  dataflux_batch b = batch_of(memory, {});
  b.numbers = nullptr;
  b.count = 3;
  b.requests = &c;
  b.offsets = offsets.data();
  b.sizes = sizes.data();
  r.push(b);
  const dataflux_record lost = r.one();
  CHECK(lost.flags == DATAFLUX_RECORD_ROW);
  CHECK(lost.size == 2);  // of unknown size
  CHECK(lost.status == DATAFLUX_INVALID_ARGUMENT);
  const dataflux_record record = r.one();
  CHECK(record.flags == 0);  // ranges without a checksum
  CHECK(record.size == 150);
  CHECK(sizes == std::array<std::uint64_t, 3>{100, 50, 0});
  CHECK(std::string_view(memory).substr(0, 150) ==
        world::body_of(0, 1'000).substr(10, 100) + world::body_of(1, 1'000).substr(0, 50));
  CHECK(memory.find_first_not_of('#', 150) == std::string::npos);
}

TEST_CASE("dataflux_get_batches: samples of an index", "[c_api]") {
  world w;
  const temporary_folder folder;
  std::vector<std::string> bodies;
  std::string shard;
  for (int i = 0; i < 10; ++i) {
    const std::string sample =
        dataflux::test::tar_members({{.name = std::to_string(i) + ".txt",
                                      .data = std::string(300, static_cast<char>('a' + i))}});
    bodies.push_back(sample);
    shard += sample;
  }
  w.server.put("bkt", "s/0.tar", shard.append(1024, '\0'));
  const std::string path = (folder.path / "index").string();
  dataflux_index_shards_options how;
  dataflux_index_shards_options_init(&how, sizeof how);
  how.bucket = "bkt";
  how.path = path.c_str();
  const listing_ptr shards = w.list("s/");
  told why;
  REQUIRE(outcome(
              [&](auto op, auto err) {
                return dataflux_index_shards(w.client.get(), &how, shards.get(), nullptr, 0, op,
                                             err);
              },
              why) == DATAFLUX_OK);
  dataflux_shard_index* opened = nullptr;
  REQUIRE(dataflux_shard_index_open(path.c_str(), &opened, why) == DATAFLUX_OK);
  const std::unique_ptr<dataflux_shard_index, freer<dataflux_shard_index_free>> index(opened);
  const reading r(w, nullptr);
  std::string memory(5 * 1'024, '#');
  const std::vector<std::uint64_t> wanted{7, 3, 4, 5, 0};
  dataflux_batch b = batch_of(memory, wanted);
  b.index = opened;
  r.push(b);
  const dataflux_record record = r.one();
  CHECK(record.flags == DATAFLUX_RECORD_VERIFIED);
  CHECK(record.size == 5 * 1'024);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(std::string_view(memory).substr(i * 1'024, 1'024) == bodies[wanted[i]]);
  }
  const std::vector<std::uint64_t> beyond{1, 10};
  b.numbers = beyond.data();
  b.count = 2;
  CHECK(r.refused(b, why) == DATAFLUX_OUT_OF_RANGE);
}

TEST_CASE("dataflux_batch_getter: a stream that stops, is cancelled, or freed", "[c_api]") {
  world w(2);
  w.fill(200);
  const listing_ptr listing = w.list();
  std::string memory(200 * 2'010, '#');
  const auto rows = numbers(0, 200);
  SECTION("by its first failed row") {
    w.server.faults().add(
        {.object = world::name_of(10), .count = 0, .action = emulator::fault::refuse{403}});
    auto o = in_bucket();
    o.on_error = DATAFLUX_ON_ERROR_STOP;
    const reading r(w, listing, o);
    r.push(batch_of(memory, rows));
    const dataflux_record last = r.one();
    CHECK(last.flags == DATAFLUX_RECORD_END);
    CHECK(last.status == DATAFLUX_PERMISSION_DENIED);
    told why;
    CHECK(r.refused(batch_of(memory, rows), why) == DATAFLUX_PERMISSION_DENIED);
  }
  SECTION("by its client's end") {
    w.hold();
    const reading r(w, listing);
    r.push(batch_of(memory, rows));
    dataflux_client_close(w.client.get());
    CHECK(r.one().status == DATAFLUX_CANCELLED);
  }
  SECTION("by a cancel, or just so: nothing is written after it was freed") {
    for (int round = 0; round < 30; ++round) {
      reading r(w, listing);
      r.push(batch_of(memory, rows));
      std::this_thread::sleep_for(std::chrono::microseconds(round * 200));
      if (round % 2 == 0) {
        dataflux_batch_getter_cancel(r.batches.get());
        r.finish();
        const auto records = next(r.queue, 1);
        REQUIRE(records.size() == 1);
        CHECK((records[0].status == DATAFLUX_CANCELLED || records[0].status == DATAFLUX_OK));
      }
      r.batches.reset();
      CHECK(next(r.queue, 1, 0).empty());
      const std::string then = memory;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      CHECK(memory == then);
      std::fill(memory.begin(), memory.end(), '#');
    }
  }
}

#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes
TEST_CASE("dataflux_batch_getter: in the child of a fork it answers, and is freed", "[c_api]") {
  world w(2);
  w.fill(100);
  const listing_ptr listing = w.list();
  const reading r(w, listing);
  std::string memory(100 * 2'010, '#');
  const auto rows = numbers(0, 100);
  const dataflux_batch b = batch_of(memory, rows);
  r.push(b);
  const int in_child = run_child([&] {
    constexpr dataflux_status refused = DATAFLUX_FAILED_PRECONDITION;
    if (dataflux_batch_getter_push(r.batches.get(), &b, nullptr, nullptr) != refused) return 1;
    auto o = in_bucket();
    dataflux_batch_getter* none = nullptr;
    if (dataflux_get_batches(w.client.get(), &o, nullptr, r.queue.get(), 8, &none, nullptr) !=
        refused) {
      return 2;
    }
    dataflux_batch_getter_finish(r.batches.get());
    dataflux_batch_getter_cancel(r.batches.get());
    dataflux_batch_getter_free(r.batches.get());
    return 0;
  });
  CHECK(in_child == 0);
  CHECK(r.one().status == DATAFLUX_OK);
}
#endif

TEST_CASE("dataflux_get_batches: bad input is answered", "[c_api]") {
  world w;
  w.fill(3);
  const listing_ptr listing = w.list();
  told why;
  dataflux_batch_getter* made = nullptr;
  const queue_ptr queue = make_queue();
  auto o = in_bucket();
  const auto begin = [&] {
    return dataflux_get_batches(w.client.get(), &o, nullptr, queue.get(), 7, &made, why);
  };
  o.order = 9;
  CHECK(begin() == DATAFLUX_INVALID_ARGUMENT);
  o = in_bucket();
  o.bucket = nullptr;
  CHECK(begin() == DATAFLUX_INVALID_ARGUMENT);
  o = in_bucket();
  CHECK(dataflux_get_batches(nullptr, &o, nullptr, queue.get(), 7, &made, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_get_batches(w.client.get(), &o, nullptr, nullptr, 7, &made, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_get_batches(w.client.get(), &o, nullptr, queue.get(), 7, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_batch_getter_push(nullptr, nullptr, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);

  const reading r(w, listing);
  CHECK(dataflux_batch_getter_push(r.batches.get(), nullptr, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  std::string memory(30, '#');
  const auto rows = numbers(0, 3);
  auto b = batch_of(memory, rows);
  b.data = nullptr;
  CHECK(r.refused(b, why) == DATAFLUX_INVALID_ARGUMENT);
  b = batch_of(memory, rows);
  b.numbers = nullptr;
  CHECK(r.refused(b, why) == DATAFLUX_INVALID_ARGUMENT);
  b = batch_of(memory, rows);
  b.stride = 16;
  CHECK(r.refused(b, why) == DATAFLUX_INVALID_ARGUMENT);
  const std::array<std::uint64_t, 3> descending{0, 20, 10};
  b.offsets = descending.data();
  CHECK(r.refused(b, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(has(why.message(), "descend at row 2"));
  dataflux_get_columns c;
  dataflux_get_columns_init(&c, sizeof c);
  b = batch_of(memory, rows);
  b.requests = &c;
  CHECK(r.refused(b, why) == DATAFLUX_INVALID_ARGUMENT);
  b.numbers = nullptr;
  CHECK(r.refused(b, why) == DATAFLUX_INVALID_ARGUMENT);  // without names
  r.finish();
  CHECK(r.refused(batch_of(memory, rows), why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(memory == std::string(30, '#'));
  dataflux_batch_getter_finish(nullptr);
  dataflux_batch_getter_cancel(nullptr);
  dataflux_batch_getter_free(nullptr);
}

}  // namespace c_api_batch_getter_test
