#include <c_api/harness.hpp>

#include <support/run_child.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace c_api_lister_test {

using namespace c_api_test;

namespace {

dataflux_list_options in_bucket() {
  dataflux_list_options o;
  dataflux_list_options_init(&o, sizeof o);
  o.bucket = "bkt";
  return o;
}

struct stream {
  stream(const world& w, const dataflux_list_options& o) {
    told why;
    dataflux_lister* made = nullptr;
    const dataflux_status status =
        dataflux_list_stream(w.client.get(), &o, queue.get(), 7, &made, why);
    INFO(why.text());
    REQUIRE(status == DATAFLUX_OK);
    lister.reset(made);
  }
  listing_ptr take() const {
    told why;
    dataflux_listing* taken = nullptr;
    const dataflux_status status = dataflux_lister_take(lister.get(), &taken, why);
    INFO(why.text());
    REQUIRE(status == DATAFLUX_OK);
    return listing_ptr(taken);
  }
  /// Takes all batches, hands each to `use`, and gives the last record.
  template <class Use>
  dataflux_record read(Use use) const {
    for (std::uint64_t batch = 0;; ++batch) {
      const auto records = next(queue);
      REQUIRE(records.size() == 1);
      CHECK(records[0].tag == 7);
      if ((records[0].flags & DATAFLUX_RECORD_END) != 0) return records[0];
      CHECK(records[0].index == batch);
      const listing_ptr rows = take();
      CHECK(records[0].size == dataflux_listing_size(rows.get()));
      use(rows);
    }
  }

  queue_ptr queue = make_queue();
  lister_ptr lister{};
};

std::vector<std::string> names_of(const listing_ptr& listing) {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < dataflux_listing_chunks(listing.get()); ++i) {
    dataflux_chunk c;
    told why;
    REQUIRE(dataflux_listing_chunk(listing.get(), i, &c, sizeof c, why) == DATAFLUX_OK);
    for (std::uint64_t k = 0; k < c.rows; ++k) {
      names.emplace_back(c.names + c.name_offsets[k], c.names + c.name_offsets[k + 1]);
    }
  }
  return names;
}

}  // namespace

TEST_CASE("dataflux_list_stream: batches have every row once", "[c_api]") {
  world w(2);
  w.fill(5200, 10);
  auto o = in_bucket();
  o.by_name = GENERATE(0U, 1U);
  o.memory_cap = 1;  // a page at a time
  const stream s(w, o);
  std::vector<std::string> all;
  const dataflux_record end = s.read([&](const listing_ptr& batch) {
    const auto names = names_of(batch);
    CHECK(std::is_sorted(names.begin(), names.end()));
    all.insert(all.end(), names.begin(), names.end());
    const char* json = nullptr;
    told why;
    REQUIRE(dataflux_listing_json(batch.get(), &json, why) == DATAFLUX_OK);
    CHECK(std::string(json) == R"({"prefixes":[]})");
  });
  CHECK(end.status == DATAFLUX_OK);
  CHECK(end.size == 5200);
  REQUIRE(all.size() == 5200);
  if (o.by_name == 1) CHECK(std::is_sorted(all.begin(), all.end()));
  std::sort(all.begin(), all.end());
  for (int i = 0; i < 5200; ++i) CHECK(all[static_cast<std::size_t>(i)] == world::name_of(i));
  char* json = nullptr;
  told why;
  REQUIRE(dataflux_lister_json(s.lister.get(), &json, why) == DATAFLUX_OK);
  CHECK(has(json, R"("objects":5200,)"));
  CHECK(has(json, R"("missing":[]})"));
  dataflux_text_free(json);
  // After the end there is nothing to take.
  dataflux_listing* none = nullptr;
  CHECK(dataflux_lister_take(s.lister.get(), &none, why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(none == nullptr);
}

TEST_CASE("dataflux_list_stream: folded prefixes are in the batches' JSON", "[c_api]") {
  world w;
  for (const char* name : {"a/1", "a/2", "b/1"}) w.server.put("bkt", name, "x");
  auto o = in_bucket();
  o.delimiter = "/";
  const stream s(w, o);
  std::string seen;
  const dataflux_record end = s.read([&](const listing_ptr& batch) {
    CHECK(dataflux_listing_size(batch.get()) == 0);
    const char* json = nullptr;
    REQUIRE(dataflux_listing_json(batch.get(), &json, nullptr) == DATAFLUX_OK);
    seen += json;
  });
  CHECK(end.status == DATAFLUX_OK);
  CHECK(end.size == 0);
  CHECK(has(seen, R"("a/")"));
  CHECK(has(seen, R"("b/")"));
}

TEST_CASE("dataflux_list_stream: a stream that nobody takes from stops the network", "[c_api]") {
  world w;
  w.fill(12'000, 1);
  auto o = in_bucket();
  o.memory_cap = 1;
  o.parallelism = 1;
  const stream s(w, o);
  // It was told of a batch, and of no other before that is taken.
  const auto told_of = next(s.queue);
  REQUIRE(told_of.size() == 1);
  CHECK(next(s.queue, 64, 300'000'000).empty());
  // The pages of the batch, of which some may have come while it was made, and what is ahead.
  CHECK(w.server.counters().of("objects.list") <= told_of[0].size / 1000 + 3);
  std::uint64_t rows = dataflux_listing_size(s.take().get());
  for (;;) {
    const auto records = next(s.queue);
    REQUIRE(records.size() == 1);
    if ((records[0].flags & DATAFLUX_RECORD_END) != 0) break;
    rows += dataflux_listing_size(s.take().get());
  }
  CHECK(rows == 12'000);
}

TEST_CASE("dataflux_list_stream: failures are the last record", "[c_api]") {
  world w;
  auto o = in_bucket();
  o.bucket = "no-such-bucket";
  const stream missing(w, o);
  dataflux_record end = missing.read([](const listing_ptr&) {});
  CHECK(end.status == DATAFLUX_NOT_FOUND);
  const error_ptr why(dataflux_queue_error(missing.queue.get(), end.error));
  CHECK(std::string_view(dataflux_error_bucket(why.get())) == "no-such-bucket");
  o = in_bucket();
  o.regex = "(";
  end = stream(w, o).read([](const listing_ptr&) {});
  CHECK(end.status == DATAFLUX_INVALID_ARGUMENT);
  w.hold();
  o = in_bucket();
  o.timeout_ns = 20'000'000;
  end = stream(w, o).read([](const listing_ptr&) {});
  CHECK(end.status == DATAFLUX_DEADLINE_EXCEEDED);
}

TEST_CASE("dataflux_list_stream: cancelled, with and without a batch told of", "[c_api]") {
  world w;
  w.fill(3000, 1);
  const bool told_of = GENERATE(true, false);
  const bool by_client = GENERATE(true, false);
  auto o = in_bucket();
  o.memory_cap = 1;
  if (!told_of) w.hold();
  const stream s(w, o);
  if (told_of) REQUIRE(next(s.queue).size() == 1);
  by_client ? dataflux_client_close(w.client.get()) : dataflux_lister_cancel(s.lister.get());
  dataflux_lister_cancel(s.lister.get());
  const auto records = next(s.queue);
  REQUIRE(records.size() == 1);
  CHECK((records[0].flags & DATAFLUX_RECORD_END) != 0);
  CHECK(records[0].status == DATAFLUX_CANCELLED);
  CHECK(next(s.queue, 64, 0).empty());
  if (told_of) CHECK(dataflux_listing_size(s.take().get()) > 0);
  told why;
  dataflux_listing* none = nullptr;
  CHECK(dataflux_lister_take(s.lister.get(), &none, why) == DATAFLUX_FAILED_PRECONDITION);
  dataflux_lister* refused = nullptr;
  if (by_client) {
    CHECK(dataflux_list_stream(w.client.get(), &o, s.queue.get(), 8, &refused, why) ==
          DATAFLUX_FAILED_PRECONDITION);
  }
}

TEST_CASE("dataflux_list_stream: freed under way, it brings no record", "[c_api]") {
  world w;
  w.fill(3000, 1);
  auto o = in_bucket();
  o.memory_cap = 1;
  const queue_ptr queue = make_queue();
  dataflux_lister* lister = nullptr;
  told why;
  REQUIRE(dataflux_list_stream(w.client.get(), &o, queue.get(), 7, &lister, why) == DATAFLUX_OK);
  REQUIRE(next(queue).size() == 1);
  dataflux_listing* taken = nullptr;
  REQUIRE(dataflux_lister_take(lister, &taken, why) == DATAFLUX_OK);
  const listing_ptr batch(taken);
  dataflux_lister_free(lister);
  CHECK(next(queue, 64, 0).empty());
  CHECK_FALSE(names_of(batch).empty());  // it outlives the stream
}

TEST_CASE("dataflux_list_stream: bad input is answered", "[c_api]") {
  world w;
  told why;
  const queue_ptr queue = make_queue();
  dataflux_lister* lister = nullptr;
  const auto o = in_bucket();
  CHECK(dataflux_list_stream(nullptr, &o, queue.get(), 7, &lister, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_list_stream(w.client.get(), nullptr, queue.get(), 7, &lister, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_list_stream(w.client.get(), &o, nullptr, 7, &lister, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_list_stream(w.client.get(), &o, queue.get(), 7, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  auto bad = o;
  bad.struct_size = 0;
  CHECK(dataflux_list_stream(w.client.get(), &bad, queue.get(), 7, &lister, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(lister == nullptr);
  dataflux_listing* none = nullptr;
  CHECK(dataflux_lister_take(nullptr, &none, why) == DATAFLUX_INVALID_ARGUMENT);
  char* text = nullptr;
  CHECK(dataflux_lister_json(nullptr, &text, why) == DATAFLUX_INVALID_ARGUMENT);
  dataflux_lister_cancel(nullptr);
  dataflux_lister_free(nullptr);
  const stream s(w, o);
  CHECK(dataflux_lister_take(s.lister.get(), nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_lister_json(s.lister.get(), nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  dataflux_queue_close(queue.get());
  CHECK(dataflux_list_stream(w.client.get(), &o, queue.get(), 7, &lister, why) ==
        DATAFLUX_FAILED_PRECONDITION);
}

#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes
TEST_CASE("dataflux_list_stream: in the child of a fork it answers, and is freed", "[c_api]") {
  world w;
  w.fill(3000, 1);
  auto o = in_bucket();
  o.memory_cap = 1;
  const stream s(w, o);
  REQUIRE(next(s.queue).size() == 1);
  CHECK(
      run_child([&] {
        dataflux_listing* none = nullptr;
        char* text = nullptr;
        if (dataflux_lister_take(s.lister.get(), &none, nullptr) != DATAFLUX_FAILED_PRECONDITION) {
          return 1;
        }
        if (dataflux_lister_json(s.lister.get(), &text, nullptr) != DATAFLUX_FAILED_PRECONDITION) {
          return 2;
        }
        dataflux_lister_cancel(s.lister.get());
        dataflux_lister_free(s.lister.get());
        return 0;
      }) == 0);
  // The parent goes on.
  CHECK(dataflux_listing_size(s.take().get()) > 0);
}
#endif

}  // namespace c_api_lister_test
