#include <c_api/harness.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace c_api_getter_test {

using namespace c_api_test;

namespace {

dataflux_get_many_options in_bucket() {
  dataflux_get_many_options o;
  dataflux_get_many_options_init(&o, sizeof o);
  o.bucket = "bkt";
  return o;
}

struct reading {
  explicit reading(const world& w) : of(w) {}
  void begin(const dataflux_get_many_options& o, const listing_ptr& listing,
             const std::vector<std::uint64_t>* rows = nullptr) {
    told why;
    dataflux_getter* made = nullptr;
    const dataflux_status status = dataflux_get_many(
        of.client.get(), &o, listing.get(), rows == nullptr ? nullptr : rows->data(),
        rows == nullptr ? 0 : rows->size(), queue.get(), 7, &made, why);
    INFO(why.text());
    REQUIRE(status == DATAFLUX_OK);
    getter.reset(made);
  }
  /// Reads to the end, hands each item to `use`, and gives the status of the end.
  template <class Use>
  dataflux_status read(Use use, std::size_t capacity = 16) {
    for (;;) {
      const auto records = next(queue, capacity);
      dataflux_status end = -1;
      for (const auto& r : records) {
        CHECK(r.tag == 7);
        CHECK(end == -1);
        if ((r.flags & DATAFLUX_RECORD_END) != 0) {
          end = r.status;
        } else {
          use(r);
        }
      }
      release(records);
      if (end != -1) return end;
    }
  }

  const world& of;
  queue_ptr queue = make_queue();
  getter_ptr getter{};
};

/// Of names that lie behind each other.
struct columns {
  void add(std::string_view name) {
    names += name;
    offsets.push_back(names.size());
  }
  dataflux_get_columns view() const {
    dataflux_get_columns c;
    dataflux_get_columns_init(&c, sizeof c);
    c.names = names.data();
    c.name_offsets = offsets.data();
    return c;
  }
  std::string names{};
  std::vector<std::uint64_t> offsets{0};
};

}  // namespace

TEST_CASE("dataflux_get_many: all rows of a listing", "[c_api]") {
  world w(2);
  w.fill(500);
  const listing_ptr listing = w.list();
  auto o = in_bucket();
  o.order = GENERATE(0U, 1U);
  reading r(w);
  r.begin(o, listing);
  std::vector<bool> seen(500);
  std::uint64_t n = 0;
  CHECK(r.read([&](const dataflux_record& item) {
    INFO(item.index);
    if (o.order == 0) CHECK(item.index == n);
    ++n;
    CHECK_FALSE(seen.at(item.index));
    seen.at(item.index) = true;
    CHECK(item.status == DATAFLUX_OK);
    CHECK(item.slab != 0);
    CHECK((item.flags & DATAFLUX_RECORD_VERIFIED) != 0);
    CHECK(bytes_of(item) == world::body_of(static_cast<int>(item.index)));
    void* memory = nullptr;
    std::uint64_t size = 0;
    dataflux_slab_memory(item.slab, &memory, &size);
    const auto* const begin = static_cast<const char*>(memory);
    const auto* const data = static_cast<const char*>(item.data);
    CHECK(data >= begin);
    CHECK(data + item.size <= begin + size);
  }) == DATAFLUX_OK);
  CHECK(n == 500);
}

TEST_CASE("dataflux_get_many: rows by number, and one that is not there", "[c_api]") {
  world w;
  w.fill(50);
  const listing_ptr listing = w.list();
  const std::vector<std::uint64_t> rows{49, 3, 3, 50, 0};
  reading r(w);
  r.begin(in_bucket(), listing, &rows);
  std::size_t n = 0;
  CHECK(r.read([&](const dataflux_record& item) {
    REQUIRE(item.index == n);
    if (rows[n] == 50) {
      CHECK(item.status == DATAFLUX_OUT_OF_RANGE);
      CHECK(item.data == nullptr);
      CHECK(item.slab == 0);
      const error_ptr e(dataflux_queue_error(r.queue.get(), item.error));
      CHECK(std::string_view(dataflux_error_message(e.get())) == "row 50 of a listing of 50");
    } else {
      CHECK(bytes_of(item) == world::body_of(static_cast<int>(rows[n])));
    }
    ++n;
  }) == DATAFLUX_OK);
  CHECK(n == 5);
}

TEST_CASE("dataflux_get_many: requests in columns, pushed while it reads", "[c_api]") {
  world w;
  w.fill(30);
  auto o = in_bucket();
  o.feed = 1;
  o.feed_capacity = 10;
  reading r(w);
  r.begin(o, nullptr);
  told why;
  columns c;
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> lengths;
  std::vector<std::string> memory(30, std::string(100, '\0'));
  std::vector<void*> into;
  for (int i = 0; i < 30; ++i) {
    c.add(world::name_of(i));
    offsets.push_back(static_cast<std::uint64_t>(i));
    lengths.push_back(100);
    into.push_back(i % 2 == 0 ? memory[static_cast<std::size_t>(i)].data() : nullptr);
  }
  dataflux_get_columns all = c.view();
  std::size_t pushed = 0;
  std::size_t n = 0;
  while (n < 30) {
    all.name_offsets = c.offsets.data() + pushed;
    all.offsets = offsets.data() + pushed;
    all.lengths = lengths.data() + pushed;
    all.into = into.data() + pushed;
    std::size_t taken = 99;
    REQUIRE(dataflux_getter_push(r.getter.get(), &all, 30 - pushed, &taken, why) == DATAFLUX_OK);
    CHECK(taken <= 10);
    pushed += taken;
    const auto records = next(r.queue, 64);
    for (const auto& item : records) {
      REQUIRE(item.index == n);
      const std::string right = world::body_of(static_cast<int>(n)).substr(n, 100);
      CHECK(bytes_of(item) == right);
      CHECK((item.slab == 0) == (n % 2 == 0));
      if (n % 2 == 0) CHECK(memory[n] == right);
      ++n;
    }
    release(records);
  }
  dataflux_getter_finish(r.getter.get());
  CHECK(r.read([](const dataflux_record&) { FAIL("no more was asked for"); }) == DATAFLUX_OK);
  const dataflux_get_columns late = c.view();
  std::size_t taken = 99;
  REQUIRE(dataflux_getter_push(r.getter.get(), &late, 1, &taken, why) == DATAFLUX_OK);
  CHECK(taken == 0);
}

TEST_CASE("dataflux_get_many: rows of a listing, pushed", "[c_api]") {
  world w;
  w.fill(30);
  const listing_ptr listing = w.list();
  auto o = in_bucket();
  o.feed = 1;
  reading r(w);
  r.begin(o, listing);
  told why;
  const std::uint64_t rows[]{5, 4, 29};
  std::size_t taken = 0;
  REQUIRE(dataflux_getter_push_rows(r.getter.get(), rows, 3, &taken, why) == DATAFLUX_OK);
  CHECK(taken == 3);
  dataflux_getter_finish(r.getter.get());
  std::size_t n = 0;
  CHECK(r.read([&](const dataflux_record& item) {
    CHECK(bytes_of(item) == world::body_of(static_cast<int>(rows[n++])));
  }) == DATAFLUX_OK);
  CHECK(n == 3);
}

TEST_CASE("dataflux_get_many: a failed item, and a stream that stops at it", "[c_api]") {
  world w;
  w.fill(20);
  const listing_ptr listing = w.list();
  w.server.faults().add(
      {.object = world::name_of(10), .count = 0, .action = emulator::fault::refuse{403}});
  auto o = in_bucket();
  std::size_t failed = 0;
  std::size_t n = 0;
  const auto use = [&](const dataflux_record& item) {
    ++n;
    if (item.status != DATAFLUX_OK) {
      ++failed;
      CHECK(item.status == DATAFLUX_PERMISSION_DENIED);
      CHECK(item.index == 10);
      CHECK(item.error != 0);
    }
  };
  {
    reading r(w);
    r.begin(o, listing);
    CHECK(r.read(use) == DATAFLUX_OK);
    CHECK(n == 20);
    CHECK(failed == 1);
  }
  n = failed = 0;
  o.on_error = DATAFLUX_ON_ERROR_STOP;
  reading r(w);
  r.begin(o, listing);
  CHECK(r.read(use) == DATAFLUX_PERMISSION_DENIED);
  CHECK(n == 10);
  CHECK(failed == 0);
}

TEST_CASE("dataflux_get_many: a timeout that passes tells what was met", "[c_api]") {
  world w;
  w.fill(1);
  const listing_ptr listing = w.list();
  w.server.faults().add({.verb = "objects.media", .action = emulator::fault::refuse{503}});
  w.server.faults().add(
      {.verb = "objects.media",
       .count = 0,
       .action = emulator::fault::stall{.where = emulator::fault::point::before_reply}});
  auto o = in_bucket();
  o.timeout_ns = 3'000'000'000;
  reading r(w);
  r.begin(o, listing);
  const auto records = next(r.queue);
  REQUIRE(records.size() == 1);
  CHECK((records[0].flags & DATAFLUX_RECORD_END) != 0);
  CHECK(records[0].status == DATAFLUX_DEADLINE_EXCEEDED);
  const error_ptr why(dataflux_queue_error(r.queue.get(), records[0].error));
  CHECK(dataflux_error_http_status(why.get()) == 503);
  CHECK(dataflux_error_attempts(why.get()) > 1);
  CHECK(std::string_view(dataflux_error_object(why.get())) == world::name_of(0));
  CHECK(has(dataflux_error_message(why.get()), " met: "));
}

TEST_CASE("dataflux_getter: cancelled, or freed, at any time", "[c_api]") {
  world w(2);
  w.fill(200);
  const listing_ptr listing = w.list();
  for (std::size_t round = 0; round < 30; ++round) {
    reading r(w);
    r.begin(in_bucket(), listing);
    std::vector<dataflux_record> kept;
    while (kept.size() < round * 5) {
      const auto records = next(r.queue, 5);
      kept.insert(kept.end(), records.begin(), records.end());
    }
    if (round % 2 == 0) {
      dataflux_getter_cancel(r.getter.get());
      const dataflux_status end = r.read([](const dataflux_record&) {});
      CHECK((end == DATAFLUX_CANCELLED || end == DATAFLUX_OK));
    }
    r.getter.reset();
    CHECK(next(r.queue, 1, 0).empty());
    for (const auto& item : kept) {
      if (item.data != nullptr) {
        CHECK(bytes_of(item) == world::body_of(static_cast<int>(item.index)));
      }
    }
    release(kept);
  }
}

TEST_CASE("dataflux_get_many: a queue that nobody asks holds no more than the cap", "[c_api]") {
  world w;
  w.fill(400, 50'000);
  const listing_ptr listing = w.list();
  auto with = w.options();
  with.memory_cap = 4'000'000;
  const client_ptr small = world::make_client(with);
  const queue_ptr queue = make_queue();
  told why;
  const auto o = in_bucket();
  dataflux_getter* made = nullptr;
  REQUIRE(dataflux_get_many(small.get(), &o, listing.get(), nullptr, 0, queue.get(), 7, &made,
                            why) == DATAFLUX_OK);
  const getter_ptr getter(made);
  const auto metric = [&](const std::string& name) {
    char* text = nullptr;
    REQUIRE(dataflux_client_metrics(small.get(), &text, why) == DATAFLUX_OK);
    const std::string json(text);
    dataflux_text_free(text);
    const std::size_t at = json.find("\"" + name + "\":");
    REQUIRE(at != std::string::npos);
    return std::stoull(json.substr(at + name.size() + 3));
  };
  // Until it is full, or nothing moves any more.
  while (metric("held") < 3'000'000) std::this_thread::yield();
  CHECK(metric("held") <= 4'000'000);
  CHECK(metric("borrowed") == 0);
  CHECK(metric("bytes_received") <= 4'000'000);
  std::vector<dataflux_record> kept = next(queue, 20);
  CHECK(metric("borrowed") >= kept.size() * 50'000);
  release(kept);
  CHECK(metric("borrowed") == 0);
}

TEST_CASE("dataflux_slabs_release: by other threads, when all else is gone", "[c_api]") {
  std::vector<dataflux_record> kept;
  {
    world w;
    w.fill(100);
    reading r(w);
    r.begin(in_bucket(), w.list());
    while (kept.size() < 100) {
      for (const auto& item : next(r.queue)) {
        if ((item.flags & DATAFLUX_RECORD_END) == 0) kept.push_back(item);
      }
    }
  }
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < kept.size(); i += 4) {
        if (bytes_of(kept[i]) != world::body_of(static_cast<int>(kept[i].index))) std::abort();
        dataflux_slabs_release(&kept[i].slab, 1);
      }
    });
  }
  for (auto& each : threads) each.join();
  const std::uint64_t none[]{0, 0};
  dataflux_slabs_release(none, 2);
  dataflux_slabs_release(nullptr, 5);
  dataflux_slab_memory(0, nullptr, nullptr);
}

TEST_CASE("dataflux_get_many: bad input is answered", "[c_api]") {
  world w;
  w.fill(3);
  const listing_ptr listing = w.list();
  const queue_ptr queue = make_queue();
  told why;
  dataflux_getter* made = nullptr;
  const auto begin = [&](const dataflux_get_many_options& o, dataflux_listing* rows_of,
                         const std::uint64_t* rows = nullptr) {
    return dataflux_get_many(w.client.get(), &o, rows_of, rows, 1, queue.get(), 7, &made, why);
  };
  auto o = in_bucket();
  CHECK(begin(o, nullptr) == DATAFLUX_INVALID_ARGUMENT);
  o.order = 9;
  CHECK(begin(o, listing.get()) == DATAFLUX_INVALID_ARGUMENT);
  o = in_bucket();
  o.on_error = 9;
  CHECK(begin(o, listing.get()) == DATAFLUX_INVALID_ARGUMENT);
  o = in_bucket();
  o.bucket = nullptr;
  CHECK(begin(o, listing.get()) == DATAFLUX_INVALID_ARGUMENT);
  o = in_bucket();
  o.feed = 1;
  const std::uint64_t row = 0;
  CHECK(begin(o, listing.get(), &row) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_get_many(nullptr, &o, listing.get(), nullptr, 0, queue.get(), 7, &made, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_get_many(w.client.get(), &o, listing.get(), nullptr, 0, nullptr, 7, &made, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_get_many(w.client.get(), &o, listing.get(), nullptr, 0, queue.get(), 7, nullptr,
                          why) == DATAFLUX_INVALID_ARGUMENT);
  std::size_t taken = 9;
  CHECK(dataflux_getter_push_rows(nullptr, &row, 1, &taken, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(taken == 0);

  reading without(w);
  without.begin(in_bucket(), listing);
  CHECK(dataflux_getter_push_rows(without.getter.get(), &row, 1, &taken, why) ==
        DATAFLUX_FAILED_PRECONDITION);
  reading fed(w);
  fed.begin(o, nullptr);
  CHECK(dataflux_getter_push(fed.getter.get(), nullptr, 1, &taken, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  columns c;
  c.add("b");
  c.offsets = {1, 0};
  const auto descending = c.view();
  CHECK(dataflux_getter_push(fed.getter.get(), &descending, 1, &taken, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "name_offsets descend at 0");
  c.offsets = {0, 1};
  auto no_lengths = c.view();
  void* const into[]{&c};
  no_lengths.into = into;
  CHECK(dataflux_getter_push(fed.getter.get(), &no_lengths, 1, &taken, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(taken == 0);
  dataflux_getter_finish(nullptr);
  dataflux_getter_cancel(nullptr);
  dataflux_getter_free(nullptr);
}

}  // namespace c_api_getter_test
