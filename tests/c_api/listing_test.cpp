#include <c_api/harness.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace c_api_listing_test {

using namespace c_api_test;

namespace {

/// Name to size, by the columns.
std::map<std::string, std::uint64_t> rows_of(const dataflux_listing* listing) {
  std::map<std::string, std::uint64_t> rows;
  std::uint64_t expected_row = 0;
  for (std::uint64_t i = 0; i < dataflux_listing_chunks(listing); ++i) {
    dataflux_chunk c;
    told why;
    REQUIRE(dataflux_listing_chunk(listing, i, &c, sizeof c, why) == DATAFLUX_OK);
    CHECK(c.first_row == expected_row);
    expected_row += c.rows;
    for (std::uint64_t k = 0; k < c.rows; ++k) {
      CHECK(c.generations[k] > 0);
      const std::uint64_t bit = c.first_bit + k;
      if (c.crc32c_valid != nullptr) CHECK((c.crc32c_valid[bit / 8] >> (bit % 8) & 1) == 1);
      rows.emplace(std::string(c.names + c.name_offsets[k], c.names + c.name_offsets[k + 1]),
                   c.sizes[k]);
    }
  }
  CHECK(expected_row == dataflux_listing_size(listing));
  return rows;
}

}  // namespace

TEST_CASE("dataflux_list: all rows are there, in columns", "[c_api]") {
  world w;
  w.fill(2500, 10);
  w.server.put("bkt", "other", "x");
  const listing_ptr listing = w.list();
  REQUIRE(dataflux_listing_size(listing.get()) == 2500);
  const auto rows = rows_of(listing.get());
  REQUIRE(rows.size() == 2500);
  int i = 0;
  for (const auto& [name, size] : rows) {
    CHECK(name == world::name_of(i));
    CHECK(size == world::body_of(i, 10).size());
    ++i;
  }
}

TEST_CASE("dataflux_list: its record is there when its listing was taken before", "[c_api]") {
  world w;
  w.fill(20);
  dataflux_list_options o;
  dataflux_list_options_init(&o, sizeof o);
  o.bucket = "bkt";
  told why;
  const queue_ptr queue = make_queue();
  dataflux_operation* op = nullptr;
  REQUIRE(dataflux_list(w.client.get(), &o, queue.get(), 3, &op, why) == DATAFLUX_OK);
  const operation_ptr owner(op);
  REQUIRE(dataflux_operation_wait(op, -1, why) == DATAFLUX_OK);
  dataflux_listing* taken = nullptr;
  REQUIRE(dataflux_operation_take_listing(op, &taken, why) == DATAFLUX_OK);
  const listing_ptr listing(taken);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].tag == 3);
  CHECK(records[0].size == 20);
  CHECK(records[0].flags == DATAFLUX_RECORD_END);
}

TEST_CASE("dataflux_list: filters", "[c_api]") {
  world w;
  for (const char* name : {"o/a.jpg", "o/b.jpg", "o/c.txt", "o/dir/"}) {
    w.server.put("bkt", name, std::string_view(name) == "o/dir/" ? "" : "12345");
  }
  dataflux_list_options o;
  dataflux_list_options_init(&o, sizeof o);
  o.bucket = "bkt";
  const auto names = [&] {
    told why;
    const queue_ptr queue = make_queue();
    dataflux_operation* op = nullptr;
    REQUIRE(dataflux_list(w.client.get(), &o, queue.get(), 8, &op, why) == DATAFLUX_OK);
    const operation_ptr owner(op);
    const auto records = next(queue);
    REQUIRE(records.size() == 1);
    CHECK(records[0].tag == 8);
    dataflux_listing* taken = nullptr;
    REQUIRE(dataflux_operation_take_listing(op, &taken, why) == DATAFLUX_OK);
    const listing_ptr listing(taken);
    CHECK(records[0].size == dataflux_listing_size(taken));
    CHECK(dataflux_operation_take_listing(op, &taken, why) == DATAFLUX_FAILED_PRECONDITION);
    CHECK(taken == nullptr);
    std::string all;
    for (const auto& [name, _] : rows_of(listing.get())) all += name + " ";
    return all;
  };
  CHECK(names() == "o/a.jpg o/b.jpg o/c.txt ");
  o.keep_markers = 1;
  CHECK(names() == "o/a.jpg o/b.jpg o/c.txt o/dir/ ");
  o.min_size = 1;
  o.suffix = ".jpg";
  CHECK(names() == "o/a.jpg o/b.jpg ");
  o.start_offset = "o/b";
  CHECK(names() == "o/b.jpg ");
  o.suffix = nullptr;
  o.start_offset = nullptr;
  o.match_glob = "**.txt";
  CHECK(names() == "o/c.txt ");
  o.match_glob = nullptr;
  o.max_size = 4;
  o.min_size = 0;
  CHECK(names() == "o/dir/ ");
  const char* const classes[] = {"NEARLINE", "STANDARD"};
  o.storage_classes = classes;
  o.storage_class_count = 2;
  CHECK(names() == "o/dir/ ");
  o.storage_class_count = 1;
  CHECK(names().empty());
  told why;
  const char* const holes[] = {"STANDARD", nullptr};
  dataflux_operation* op = nullptr;
  o.storage_class_count = 2;
  for (const char* const* bad : {holes, static_cast<const char* const*>(nullptr)}) {
    o.storage_classes = bad;
    CHECK(dataflux_list(w.client.get(), &o, nullptr, 0, &op, why) == DATAFLUX_INVALID_ARGUMENT);
    CHECK(has(why.message(), "storage_classes"));
  }
}

TEST_CASE("dataflux_listing_json: what was listed, folded, dropped, and what is missing",
          "[c_api]") {
  world w;
  for (const char* name : {"o/a.jpg", "o/c.txt", "o/dir/1", "o/dir/2", "o/e/", "o/\"q\"/x"}) {
    w.server.put("bkt", name, std::string_view(name).ends_with('/') ? "" : "12345");
  }
  dataflux_list_options o;
  dataflux_list_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.prefix = "o/";
  const auto json = [&](std::uint64_t rows) {
    told why;
    dataflux_operation* op = nullptr;
    REQUIRE(dataflux_list(w.client.get(), &o, nullptr, 0, &op, why) == DATAFLUX_OK);
    const operation_ptr owner(op);
    REQUIRE(dataflux_operation_wait(op, -1, why) == DATAFLUX_OK);
    dataflux_listing* taken = nullptr;
    const dataflux_status status = dataflux_operation_take_listing(op, &taken, why);
    INFO(why.text());
    REQUIRE(status == DATAFLUX_OK);
    const listing_ptr listing(taken);
    CHECK(dataflux_listing_size(taken) == rows);
    const char* text = nullptr;
    REQUIRE(dataflux_listing_json(taken, &text, why) == DATAFLUX_OK);
    return std::string(text);
  };
  std::string text = json(5);
  INFO(text);
  CHECK(has(text, R"({"objects":5,"bytes":25,"pages":)"));
  CHECK(has(text, R"("dropped":{"markers":1,"composed":0,"suffix":0,"size":0,)"
                  R"("storage_class":0,"regex":0})"));
  CHECK(has(text, R"("missing":[],"prefixes":[]})"));
  o.delimiter = "/";
  o.suffix = ".jpg";
  text = json(1);
  CHECK(has(text, R"("suffix":1,)"));
  CHECK(has(text, R"("prefixes":["o/\"q\"/","o/dir/","o/e/"]})"));
  // Nothing can be listed: that is said, and is no failure where it was allowed.
  o.delimiter = nullptr;
  o.suffix = nullptr;
  w.server.faults().add(
      {.verb = "objects.list", .count = 0, .action = emulator::fault::refuse{403}});
  o.partial = 1;
  text = json(0);
  CHECK(has(text, R"("missing":[{"start":)"));
  CHECK(has(text, R"(],"cause":")"));
  o.partial = 0;
  told why;
  CHECK(outcome(
            [&](dataflux_operation** op, dataflux_error** err) {
              return dataflux_list(w.client.get(), &o, nullptr, 0, op, err);
            },
            why) == DATAFLUX_PERMISSION_DENIED);
}

TEST_CASE("dataflux_list: bad input is answered", "[c_api]") {
  world w;
  told why;
  dataflux_operation* op = nullptr;
  dataflux_list_options o;
  dataflux_list_options_init(&o, sizeof o);
  CHECK(dataflux_list(w.client.get(), &o, nullptr, 0, &op, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_list(w.client.get(), nullptr, nullptr, 0, &op, why) == DATAFLUX_INVALID_ARGUMENT);
  dataflux_chunk c;
  CHECK(dataflux_listing_chunk(nullptr, 0, &c, sizeof c, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_listing_arrow(nullptr, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  const char* json = "kept";
  CHECK(dataflux_listing_json(nullptr, &json, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(json == nullptr);
  CHECK(dataflux_listing_json(nullptr, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_listing_size(nullptr) == 0);
  CHECK(dataflux_listing_chunks(nullptr) == 0);
  dataflux_listing_free(nullptr);
  const listing_ptr empty = w.list();
  CHECK(dataflux_listing_size(empty.get()) == 0);
  CHECK(dataflux_listing_chunk(empty.get(), dataflux_listing_chunks(empty.get()), &c, sizeof c,
                               why) == DATAFLUX_OUT_OF_RANGE);
  CHECK(dataflux_listing_chunk(empty.get(), 0, &c, 8, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_listing_arrow(empty.get(), nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
}

}  // namespace c_api_listing_test
