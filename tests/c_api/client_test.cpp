#include <c_api/harness.hpp>
#include <support/authority_file.hpp>
#include <support/prometheus_text.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace c_api_client_test {

using namespace c_api_test;

namespace {

dataflux_status create(const dataflux_client_options* o, told& why) {
  dataflux_client* made = nullptr;
  const dataflux_status status = dataflux_client_create(o, &made, why);
  CHECK((made != nullptr) == (status == DATAFLUX_OK));
  dataflux_client_free(made);
  return status;
}

/// One that it accepts.
std::string token_of(emulator::server& server) {
  const emulator::http_reply granted = server.tokens().metadata(
      {.method = "GET",
       .target = "/computeMetadata/v1/instance/service-accounts/default/token",
       .headers = {{"Metadata-Flavor", "Google"}}});
  const std::string reply(granted.body.to_string());
  const std::size_t begin = reply.find(':', reply.find("access_token")) + 1;
  const std::size_t first = reply.find('"', begin) + 1;
  std::string token = reply.substr(first, reply.find('"', first) - first);
  REQUIRE(server.tokens().accepts(token));
  return token;
}

}  // namespace

TEST_CASE("dataflux_client: options of another version", "[c_api]") {
  world w;
  told why;
  struct later {
    dataflux_client_options known;
    std::uint64_t more;
  };
  later o{w.options(), 0};
  o.known.struct_size = sizeof o;
  CHECK(create(&o.known, why) == DATAFLUX_OK);
  o.more = 1;
  CHECK(create(&o.known, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message().find("later version") != std::string::npos);
  for (const std::size_t wrong : {std::size_t{0}, std::size_t{4}, sizeof o - 3}) {
    o.known.struct_size = wrong;
    CHECK(create(&o.known, why) == DATAFLUX_INVALID_ARGUMENT);
    CHECK(why.message().find("struct_size") != std::string::npos);
  }
  // An older program: what it does not name is 0, whatever lies behind its struct.
  auto older = w.options();
  older.struct_size = offsetof(dataflux_client_options, max_attempts);
  older.max_attempts = 0xffffffffU;
  older.memory_cap = ~std::uint64_t{0};
  older.connect_timeout_ns = -5;
  CHECK(create(&older, why) == DATAFLUX_OK);
}

TEST_CASE("dataflux_client: bad input is answered before any request", "[c_api]") {
  world w;
  told why;
  CHECK(dataflux_client_create(nullptr, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  auto o = w.options();
  o.credentials = 77;
  CHECK(create(&o, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message().find("77") != std::string::npos);
  o = w.options();
  o.credentials_file = "/somewhere.json";
  CHECK(create(&o, why) == DATAFLUX_INVALID_ARGUMENT);
  o.credentials = DATAFLUX_CREDENTIALS_FILE;
  o.emulator = 0;
  CHECK(create(&o, why) != DATAFLUX_OK);
  o = w.options();
  o.endpoint = "no URL";
  CHECK(create(&o, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_client_set_token(nullptr, "t", 0, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_client_set_token(w.client.get(), nullptr, 0, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_client_fail_token(nullptr, DATAFLUX_UNAVAILABLE, "m", why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_client_fail_token(w.client.get(), DATAFLUX_UNAVAILABLE, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  for (const int none : {+DATAFLUX_OK, -1, 17, +DATAFLUX_INTERRUPTED}) {
    CHECK(dataflux_client_fail_token(w.client.get(), none, "m", why) == DATAFLUX_INVALID_ARGUMENT);
  }
  // Of an emulator there is no token to be had.
  CHECK(dataflux_client_fail_token(w.client.get(), DATAFLUX_UNAVAILABLE, "m", why) ==
        DATAFLUX_FAILED_PRECONDITION);
  char* text = nullptr;
  CHECK(dataflux_client_metrics(nullptr, &text, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_client_metrics(w.client.get(), nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_client_prometheus(nullptr, &text, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_client_prometheus(w.client.get(), nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_client_forget(nullptr, "b", "o", 1, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_client_forget(w.client.get(), nullptr, "o", 1, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_client_forget(w.client.get(), "b", nullptr, 1, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_client_forget(w.client.get(), "b", "o", 1, why) == DATAFLUX_OK);  // no cache
  dataflux_client_close(nullptr);
  dataflux_client_free(nullptr);
  (dataflux_client_options_init)(nullptr, sizeof(size_t));
  dataflux_text_free(nullptr);
  CHECK(w.server.counters().of() == 0);
}

TEST_CASE("dataflux_client: its metrics are a JSON object, or text for Prometheus", "[c_api]") {
  world w;
  w.fill(3);
  static_cast<void>(w.list());
  told why;
  char* text = nullptr;
  REQUIRE(dataflux_client_metrics(w.client.get(), &text, why) == DATAFLUX_OK);
  const std::string json(text);
  dataflux_text_free(text);
  CHECK(json.front() == '{');
  CHECK(json.back() == '}');
  CHECK(json.find("\"requests_a\":") != std::string::npos);
  CHECK(json.find("\"requests_a\":0") == std::string::npos);
  CHECK(json.find("\"memory\":{\"cap\":268435456,") != std::string::npos);
  CHECK(json.find("\"cache\":null") != std::string::npos);
  REQUIRE(dataflux_client_prometheus(w.client.get(), &text, why) == DATAFLUX_OK);
  const prometheus_text seen(text);
  dataflux_text_free(text);
  CHECK(seen[R"(dataflux_requests_total{class="a"})"] > 0);
  CHECK(seen[R"(dataflux_memory_cap_bytes{use="read"})"] == 268'435'456);
}

TEST_CASE("dataflux_client: closed under its operations and streams", "[c_api]") {
  world w;
  w.fill(20);
  const listing_ptr listing = w.list();
  w.hold();
  told why;
  const queue_ptr queue = make_queue();
  const auto o = world::object("o/000001");
  dataflux_operation* op = nullptr;
  REQUIRE(dataflux_stat(w.client.get(), &o, queue.get(), 1, &op, why) == DATAFLUX_OK);
  const operation_ptr owner(op);
  REQUIRE(dataflux_stat(w.client.get(), &o, queue.get(), 2, nullptr, why) == DATAFLUX_OK);
  dataflux_get_many_options many;
  dataflux_get_many_options_init(&many, sizeof many);
  many.bucket = "bkt";
  dataflux_getter* getter = nullptr;
  REQUIRE(dataflux_get_many(w.client.get(), &many, listing.get(), nullptr, 0, queue.get(), 3,
                            &getter, why) == DATAFLUX_OK);
  const getter_ptr items(getter);
  dataflux_client_close(w.client.get());
  dataflux_client_close(w.client.get());
  std::vector<bool> ended(4);
  for (int left = 3; left > 0;) {
    for (const auto& r : next(queue)) {
      CHECK(r.status == DATAFLUX_CANCELLED);
      if ((r.flags & DATAFLUX_RECORD_END) == 0) continue;
      CHECK_FALSE(ended.at(r.tag));
      ended.at(r.tag) = true;
      --left;
    }
  }
  CHECK(dataflux_stat(w.client.get(), &o, queue.get(), 9, nullptr, why) ==
        DATAFLUX_FAILED_PRECONDITION);
  CHECK(why.message() == "the client was closed");
  CHECK(dataflux_get_many(w.client.get(), &many, listing.get(), nullptr, 0, queue.get(), 3, &getter,
                          why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(getter == nullptr);
  CHECK(dataflux_client_set_token(w.client.get(), "t", 0, why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(dataflux_client_fail_token(w.client.get(), DATAFLUX_UNAVAILABLE, "m", why) ==
        DATAFLUX_FAILED_PRECONDITION);
  char* text = nullptr;
  CHECK(dataflux_client_metrics(w.client.get(), &text, why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(dataflux_client_prometheus(w.client.get(), &text, why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(dataflux_client_forget(w.client.get(), "b", "o", 1, why) == DATAFLUX_FAILED_PRECONDITION);
}

TEST_CASE("dataflux_client: handles may be freed in any order", "[c_api]") {
  world w;
  w.fill(50);
  told why;
  for (int order = 0; order < 6; ++order) {
    client_ptr client = w.make_client();
    queue_ptr queue = make_queue();
    listing_ptr listing = w.list();
    dataflux_get_many_options many;
    dataflux_get_many_options_init(&many, sizeof many);
    many.bucket = "bkt";
    dataflux_getter* made = nullptr;
    REQUIRE(dataflux_get_many(client.get(), &many, listing.get(), nullptr, 0, queue.get(), 3, &made,
                              why) == DATAFLUX_OK);
    getter_ptr getter(made);
    const auto o = world::object("o/000001");
    dataflux_operation* op = nullptr;
    REQUIRE(dataflux_stat(client.get(), &o, queue.get(), 1, &op, why) == DATAFLUX_OK);
    operation_ptr operation(op);
    const auto records = next(queue, 8);
    switch (order) {
      case 0:
        client.reset();
        queue.reset();
        break;
      case 1:
        queue.reset();
        getter.reset();
        break;
      case 2:
        listing.reset();
        client.reset();
        break;
      case 3:
        operation.reset();
        client.reset();
        getter.reset();
        break;
      case 4:
        getter.reset();
        break;
      default:
        break;
    }
    if (order == 5) {
      client.reset();
      queue.reset();
      getter.reset();
      operation.reset();
    }
    for (const auto& r : records) {
      if (r.data == nullptr) continue;
      const int i = static_cast<int>(r.index);
      CHECK(bytes_of(r) == world::body_of(i));
    }
    release(records);
  }
}

TEST_CASE("dataflux_client: a token that the caller sets", "[c_api]") {
  emulator::server_options how;
  how.tls = emulator::tls_mode::valid;
  how.service.require_token = true;
  emulator::server server(how);
  server.put("bkt", "o", "12345");
  const authority_file ca(server);
  const std::string token = token_of(server);

  dataflux_client_options o;
  dataflux_client_options_init(&o, sizeof o);
  const std::string path = ca.path();
  o.endpoint = server.endpoint().c_str();
  o.ca_file = path.c_str();
  o.credentials = DATAFLUX_CREDENTIALS_TOKEN;
  const client_ptr client = world::make_client(o);
  told why;
  const queue_ptr queue = make_queue();
  const auto object = world::object("o");
  // None can be had: it ends at once, in the words of who was asked.
  REQUIRE(dataflux_stat(client.get(), &object, queue.get(), 2, nullptr, why) == DATAFLUX_OK);
  CHECK(next(queue, 1, 20'000'000).empty());
  REQUIRE(dataflux_client_fail_token(client.get(), DATAFLUX_UNAUTHENTICATED, "no vault", why) ==
          DATAFLUX_OK);
  const auto failed = next(queue);
  REQUIRE(failed.size() == 1);
  CHECK(failed[0].status == DATAFLUX_UNAUTHENTICATED);
  const error_ptr said(dataflux_queue_error(queue.get(), failed[0].error));
  CHECK(std::string(dataflux_error_message(said.get())).find("no vault") != std::string::npos);
  CHECK(std::string(dataflux_error_object(said.get())) == "o");
  CHECK(dataflux_error_retryable(said.get()) == 0);
  // So does what comes within a second. Then one waits for a token again.
  for (bool waits = false; !waits;) {
    REQUIRE(dataflux_stat(client.get(), &object, queue.get(), 1, nullptr, why) == DATAFLUX_OK);
    const auto again = next(queue, 1, 200'000'000);
    waits = again.empty();
    for (const dataflux_record& r : again) CHECK(r.status == DATAFLUX_UNAUTHENTICATED);
  }
  REQUIRE(dataflux_client_set_token(client.get(), token.c_str(), 0, why) == DATAFLUX_OK);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].status == DATAFLUX_OK);
  CHECK(records[0].size == 5);
  // No text of it is a token that can be sent.
  CHECK(dataflux_client_set_token(client.get(), "a\nb", 0, why) == DATAFLUX_INVALID_ARGUMENT);
  // Nor is a file's path or content.
  for (const char* file : {"{\"type\":1}", "file:///x", "/dev/null"}) {
    CHECK(dataflux_client_set_token(client.get(), file, 0, why) == DATAFLUX_INVALID_ARGUMENT);
    CHECK(why.message().find("credentials file") != std::string::npos);
  }
  CHECK(dataflux_client_set_token(client.get(), "/no+such/file==", 0, why) == DATAFLUX_OK);
}

TEST_CASE("dataflux_client: an emulator gets tokens where that is asked for", "[c_api]") {
  emulator::server_options how;
  how.service.require_token = true;
  emulator::server server(how);
  server.put("bkt", "o", "12345");
  dataflux_client_options o;
  dataflux_client_options_init(&o, sizeof o);
  o.endpoint = server.endpoint().c_str();
  o.emulator = 1;
  o.credentials = DATAFLUX_CREDENTIALS_TOKEN;
  const std::string token = token_of(server);
  told why;
  const auto stat_by = [&](const client_ptr& client) {
    const auto object = world::object("o");
    return outcome(
        [&](dataflux_operation** out, dataflux_error** err) {
          return dataflux_stat(client.get(), &object, nullptr, 0, out, err);
        },
        why);
  };
  const client_ptr without = world::make_client(o);
  CHECK(dataflux_client_set_token(without.get(), token.c_str(), 0, why) ==
        DATAFLUX_FAILED_PRECONDITION);
  CHECK(why.message().find("tokens_to_emulator") != std::string::npos);
  CHECK(stat_by(without) == DATAFLUX_UNAUTHENTICATED);

  o.tokens_to_emulator = 1;
  const client_ptr with = world::make_client(o);
  REQUIRE(dataflux_client_set_token(with.get(), token.c_str(), 0, why) == DATAFLUX_OK);
  CHECK(stat_by(with) == DATAFLUX_OK);

  // They would be shown to the network: nothing is asked, and nobody is there.
  for (const char* const away : {"http://192.0.2.1:80", "http://storage.example:80"}) {
    o.endpoint = away;
    CHECK(create(&o, why) == DATAFLUX_INVALID_ARGUMENT);
    CHECK(why.message().find("tokens_to_emulator") != std::string::npos);
  }
  o.endpoint = "https://192.0.2.1";
  CHECK(create(&o, why) == DATAFLUX_OK);
}

TEST_CASE("dataflux_client: a reply that does not begin is given up in time", "[c_api]") {
  world w;
  w.server.put("bkt", "o", "12345");
  emulator::fault_rule silent;
  silent.action = emulator::fault::stall{};
  w.server.faults().add(silent);
  auto o = w.options();
  o.first_byte_timeout_ns = 50'000'000;
  const client_ptr client = world::make_client(o);
  auto object = world::object("o");
  // Less than the default.
  object.timeout_ns = 40'000'000'000;
  told why;
  CHECK(outcome(
            [&](dataflux_operation** out, dataflux_error** err) {
              return dataflux_stat(client.get(), &object, nullptr, 0, out, err);
            },
            why) == DATAFLUX_OK);
  CHECK(w.server.faults().hits() == 1);
}

}  // namespace c_api_client_test
