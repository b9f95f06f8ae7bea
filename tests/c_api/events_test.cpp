#include <c_api/harness.hpp>
#include <support/authority_file.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace c_api_events_test {

using namespace c_api_test;

namespace {

namespace fault = emulator::fault;

client_ptr make_client(const world& w, std::uint64_t capacity = 100) {
  auto o = w.options();
  o.event_capacity = capacity;
  return world::make_client(o);
}
events_ptr begin(const client_ptr& client, const queue_ptr& queue, std::uint64_t tag = 7) {
  told why;
  dataflux_events* events = nullptr;
  const dataflux_status status =
      dataflux_client_events(client.get(), queue.get(), tag, &events, why);
  INFO(why.text());
  REQUIRE(status == DATAFLUX_OK);
  return events_ptr(events);
}
dataflux_status stat(const client_ptr& client, const char* name) {
  told why;
  const auto o = world::object(name);
  dataflux_operation* op = nullptr;
  REQUIRE(dataflux_stat(client.get(), &o, nullptr, 0, &op, why) == DATAFLUX_OK);
  const operation_ptr owner(op);
  REQUIRE(dataflux_operation_wait(op, -1, why) == DATAFLUX_OK);
  return dataflux_operation_result(op, why);
}
/// `times` attempts fail, and are repeated.
void fail_some(world& w, const client_ptr& client, std::uint64_t times) {
  w.server.put("bkt", "o", "12345");
  for (std::uint64_t i = 0; i < times; ++i) {
    w.server.faults().clear();
    w.server.faults().add({.count = 1, .action = fault::send{}});
    REQUIRE(stat(client, "o") == DATAFLUX_OK);
  }
}
/// What the records have, line by line; their memory is given back.
std::vector<std::string> lines_of(const std::vector<dataflux_record>& records) {
  std::vector<std::string> lines;
  for (const dataflux_record& r : records) {
    CHECK(r.slab != 0);
    std::string_view text = bytes_of(r);
    REQUIRE(text.ends_with('\n'));
    for (; !text.empty(); text.remove_prefix(text.find('\n') + 1)) {
      lines.emplace_back(text.substr(0, text.find('\n')));
    }
  }
  release(records);
  return lines;
}

}  // namespace

TEST_CASE("dataflux_events: what has happened comes in batches, as lines of JSON", "[c_api]") {
  world w;
  const client_ptr client = make_client(w);
  fail_some(w, client, 3);
  const queue_ptr queue = make_queue();
  const events_ptr events = begin(client, queue);
  auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].tag == 7);
  CHECK(records[0].index == 0);
  CHECK(records[0].status == DATAFLUX_OK);
  CHECK(records[0].flags == 0);
  const auto lines = lines_of(records);
  REQUIRE(lines.size() == 3);
  for (const std::string& line : lines) {
    INFO(line);
    CHECK(line.starts_with(R"({"kind":"retry","level":"warning","time_ns":)"));
    CHECK(line.ends_with("}"));
    CHECK(has(line, R"("verb":"objects.get","bucket":"bkt","object":"o","attempt":1,"delay_ns":)"));
    CHECK(has(line, R"("text":"unavailable in objects.get)"));
    CHECK_FALSE(has(line, R"("total")"));
  }
  CHECK(next(queue, 1, 0).empty());
  // One that comes while somebody waits.
  fail_some(w, client, 1);
  CHECK(lines_of(next(queue)).size() == 1);
  // A listing tells its progress.
  dataflux_list_options o;
  dataflux_list_options_init(&o, sizeof o);
  o.bucket = "bkt";
  told why;
  dataflux_operation* op = nullptr;
  REQUIRE(dataflux_list(client.get(), &o, nullptr, 11, &op, why) == DATAFLUX_OK);
  const operation_ptr owner(op);
  REQUIRE(dataflux_operation_wait(op, -1, why) == DATAFLUX_OK);
  const auto told_of = lines_of(next(queue));
  REQUIRE(told_of.size() == 1);
  INFO(told_of[0]);
  CHECK(has(told_of[0], R"("kind":"progress")"));
  CHECK(has(told_of[0], R"("tag":11,)"));
  CHECK(has(told_of[0], R"("verb":"listing","bucket":"bkt","done":1,"total":1})"));
}

TEST_CASE("dataflux_events: a full client drops what is new, and counts it", "[c_api]") {
  world w;
  const client_ptr client = make_client(w, 2);
  fail_some(w, client, 5);
  const queue_ptr queue = make_queue();
  const events_ptr events = begin(client, queue);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].index == 3);
  CHECK(lines_of(records).size() == 2);
}

TEST_CASE("dataflux_events: one stream at a time, and the next one goes on", "[c_api]") {
  world w;
  told why;
  const client_ptr client = make_client(w);
  const queue_ptr queue = make_queue();
  events_ptr first = begin(client, queue, 1);
  dataflux_events* second = nullptr;
  CHECK(dataflux_client_events(client.get(), queue.get(), 2, &second, why) ==
        DATAFLUX_FAILED_PRECONDITION);
  CHECK(second == nullptr);
  CHECK(why.message() == "the client's events have a stream already");
  first.reset();
  fail_some(w, client, 1);
  CHECK(next(queue, 1, 0).empty());
  // By another queue, whose end it outlives.
  queue_ptr other = make_queue();
  events_ptr again = begin(client, other, 3);
  const auto records = next(other);
  REQUIRE(records.size() == 1);
  CHECK(records[0].tag == 3);
  CHECK(lines_of(records).size() == 1);
  other.reset();
  fail_some(w, client, 1);
  again.reset();
  fail_some(w, client, 1);
  const events_ptr last = begin(client, queue, 4);
  CHECK(lines_of(next(queue)).size() == 2);
}

TEST_CASE("dataflux_events: a client that is closed brings what is there, and the end", "[c_api]") {
  world w;
  told why;
  client_ptr client = make_client(w);
  const queue_ptr queue = make_queue();
  const events_ptr events = begin(client, queue);
  fail_some(w, client, 2);
  dataflux_client_close(client.get());
  auto records = next(queue, 1);
  REQUIRE(records.size() == 1);
  CHECK(records[0].status == DATAFLUX_OK);
  CHECK(lines_of(records).size() == 2);
  records = next(queue, 1);
  REQUIRE(records.size() == 1);
  CHECK(records[0].status == DATAFLUX_CANCELLED);
  CHECK(records[0].flags == DATAFLUX_RECORD_END);
  CHECK(records[0].slab == 0);
  CHECK(next(queue, 1, 0).empty());
  dataflux_events* more = nullptr;
  CHECK(dataflux_client_events(client.get(), queue.get(), 7, &more, why) ==
        DATAFLUX_FAILED_PRECONDITION);
  // Freed while it is waited for.
  client = make_client(w);
  const events_ptr idle = begin(client, queue, 8);
  client.reset();
  records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].tag == 8);
  CHECK(records[0].status == DATAFLUX_CANCELLED);
}

TEST_CASE("dataflux_events: bad input is answered", "[c_api]") {
  world w;
  told why;
  const client_ptr client = make_client(w);
  const queue_ptr queue = make_queue();
  dataflux_events* events = nullptr;
  CHECK(dataflux_client_events(client.get(), queue.get(), 1, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_client_events(nullptr, queue.get(), 1, &events, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_client_events(client.get(), nullptr, 1, &events, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_client_events(w.client.get(), queue.get(), 1, &events, why) ==
        DATAFLUX_FAILED_PRECONDITION);
  CHECK(why.message().find("event_capacity") != std::string::npos);
  const queue_ptr closed = make_queue();
  dataflux_queue_close(closed.get());
  CHECK(dataflux_client_events(client.get(), closed.get(), 1, &events, why) ==
        DATAFLUX_FAILED_PRECONDITION);
  CHECK(events == nullptr);
  dataflux_events_free(nullptr);
  // None of them has taken the one place.
  CHECK(begin(client, queue) != nullptr);
}

TEST_CASE("dataflux_events: composing that is given up is told", "[c_api]") {
  world w;
  w.fill(40, 100);
  const client_ptr client = make_client(w);
  const listing_ptr listing = w.list();
  w.server.faults().add(
      {.verb = "objects.compose", .count = 0, .action = emulator::fault::refuse{403}});
  dataflux_get_many_options o;
  dataflux_get_many_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.compose = 1;
  told why;
  const queue_ptr items = make_queue();
  dataflux_getter* made = nullptr;
  REQUIRE(dataflux_get_many(client.get(), &o, listing.get(), nullptr, 0, items.get(), 7, &made,
                            why) == DATAFLUX_OK);
  const getter_ptr getter(made);
  std::size_t good = 0;
  for (bool over = false; !over;) {
    const auto records = next(items);
    for (const auto& r : records) {
      CHECK(r.status == DATAFLUX_OK);
      over = (r.flags & DATAFLUX_RECORD_END) != 0;
      if (!over) ++good;
    }
    release(records);
  }
  CHECK(good == 40);
  const queue_ptr queue = make_queue();
  const events_ptr events = begin(client, queue);
  const auto lines = lines_of(next(queue));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].starts_with(R"({"kind":"log","level":"warning",)"));
  CHECK(lines[0].find("composing is given up") != std::string::npos);
}

TEST_CASE("dataflux_events: a token that is needed is asked for, and never dropped", "[c_api]") {
  emulator::server_options how;
  how.tls = emulator::tls_mode::valid;
  how.service.require_token = true;
  emulator::server server(how);
  server.put("bkt", "o", "12345");
  const authority_file ca(server);
  dataflux_client_options o;
  dataflux_client_options_init(&o, sizeof o);
  o.endpoint = server.endpoint().c_str();
  o.ca_file = ca.path().c_str();
  o.credentials = DATAFLUX_CREDENTIALS_TOKEN;
  o.event_capacity = 1;
  const client_ptr client = world::make_client(o);
  told why;
  const queue_ptr queue = make_queue();
  const events_ptr events = begin(client, queue);
  const auto object = world::object("o");
  REQUIRE(dataflux_stat(client.get(), &object, queue.get(), 1, nullptr, why) == DATAFLUX_OK);
  const auto asked = next(queue);
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].tag == 7);
  const auto lines = lines_of(asked);
  REQUIRE(lines.size() == 1);
  INFO(lines[0]);
  CHECK(lines[0].starts_with(R"({"kind":"token_needed",)"));
  CHECK(next(queue, 1, 20'000'000).empty());
  // One that the service refuses is asked for anew.
  REQUIRE(dataflux_client_set_token(client.get(), "refused", 0, why) == DATAFLUX_OK);
  // The retry is told of, too, by the same record or an earlier one.
  bool needed = false;
  while (!needed) {
    for (const std::string& line : lines_of(next(queue, 1))) {
      needed = needed || line.starts_with(R"({"kind":"token_needed",)");
    }
  }
}

}  // namespace c_api_events_test
