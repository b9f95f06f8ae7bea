#include <dataflux/auth/detail/service_account.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/authority_file.hpp>
#include <support/catch.hpp>
#include <support/raw_server.hpp>
#include <support/run_child.hpp>

#include <chrono>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace client_limits_test {

// Reads that break, tokens, time limits, cancels, and ends of the client, over a socket.
namespace {

using namespace std::chrono_literals;
using dataflux::errc;
namespace fault = emulator::fault;
namespace gcs = dataflux::gcs;

std::string pattern(std::size_t size) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<char>((i * 2654435761U) >> 13U);
  return out;
}

gcs::client_options quick(const emulator::server& server) {
  gcs::client_options o{.endpoint = server.endpoint(), .emulator = true};
  o.retry = {.max_attempts = 4, .first = 1ms, .cap = 5ms};
  o.stall_timeout = 150ms;
  o.first_byte_timeout = 150ms;
  o.transport.io_threads = 1;
  return o;
}

std::shared_ptr<gcs::client> make(gcs::client_options o) {
  auto made = gcs::client::create(std::move(o));
  INFO((made ? std::string() : made.error().to_string()));
  REQUIRE(made);
  return std::move(*made);
}

struct received {
  dataflux::result<dataflux::read_summary> summary;
  std::string bytes;
};
received read(dataflux::object_store& store, dataflux::read_request request,
              std::size_t room = 1 << 20) {
  std::vector<std::byte> memory(room);
  dataflux::span_sink sink(memory);
  auto summary = store.read(std::move(request), sink);
  return {std::move(summary), std::string(dataflux::as_text(sink.filled()))};
}

/// A secure emulator that wants tokens, and a client with a key that it trusts.
gcs::client_options secured(const emulator::server& server, const authority_file& ca,
                            bool exchange) {
  gcs::client_options o = quick(server);
  o.emulator = false;
  o.transport.ca_file = ca.path();
  auto made = dataflux::detail::auth::parse_service_account(server.service_account_json(),
                                                            "key.json", {.exchange = exchange});
  REQUIRE(made);
  o.credentials = *made;
  return o;
}

}  // namespace

TEST_CASE("client: a read resumes at the byte reached, of the same generation", "[integration]") {
  emulator::server server;
  const std::string bytes = pattern(900000);
  const auto generation = server.put("reads", "o", bytes);
  server.faults().add(
      {.verb = "objects.media",
       .count = 3,
       .action = fault::cut{.where = fault::point::in_body, .body_bytes = 200000, .reset = false}});
  const auto client = make(quick(server));
  const auto got = read(*client, {.bucket = "reads", .object = "o"});
  REQUIRE(got.summary);
  CHECK(got.bytes == bytes);
  CHECK(got.summary->attempts == 4);
  CHECK(got.summary->verified);
  CHECK(got.summary->crc32c == dataflux::crc32c(dataflux::as_bytes(bytes)));
  const auto log = server.log();
  REQUIRE(log.size() == 4);
  for (std::size_t i = 1; i < log.size(); ++i) {
    CHECK(log[i].header("Range") == "bytes=" + std::to_string(i * 200000) + "-899999");
    CHECK(log[i].target.find("generation=" + std::to_string(generation)) != std::string::npos);
  }
}

TEST_CASE("client: an object overwritten in the middle of a read is not mixed", "[integration]") {
  emulator::server server;
  server.put("reads", "o", std::string(500000, 'a'));
  server.faults().add(
      {.verb = "objects.media",
       .count = 1,
       .action = fault::stall{.where = fault::point::in_body, .body_bytes = 100000}});
  auto options = quick(server);
  options.stall_timeout = 400ms;
  const auto client = make(options);
  std::vector<std::byte> memory(1 << 20);
  dataflux::span_sink sink(memory);
  auto op = client->submit_read({.bucket = "reads", .object = "o"}, sink);
  while (server.counters().of("objects.media") == 0) std::this_thread::sleep_for(1ms);
  server.put("reads", "o", std::string(500000, 'b'));
  auto outcome = op.take();
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code() == errc::not_found);
  CHECK(outcome.error().generation() != 0);
  CHECK(dataflux::as_text(sink.filled()).find('b') == std::string_view::npos);
}

TEST_CASE("client: damage on the way is found and read again, damage that stays is an error",
          "[integration]") {
  emulator::server server;
  const std::string bytes = pattern(300000);
  server.put("reads", "o", bytes);
  const auto client = make(quick(server));
  server.faults().add({.verb = "objects.media", .count = 1, .action = fault::flip_byte{250000}});
  auto got = read(*client, {.bucket = "reads", .object = "o"});
  REQUIRE(got.summary);
  CHECK(got.bytes == bytes);
  CHECK(got.summary->attempts == 2);
  server.faults().clear();
  server.faults().add({.verb = "objects.media", .count = 0, .action = fault::flip_byte{250000}});
  got = read(*client, {.bucket = "reads", .object = "o"});
  REQUIRE_FALSE(got.summary);
  CHECK(got.summary.error().code() == errc::data_loss);
  CHECK(got.summary.error().attempts() == 2);
}

TEST_CASE("client: odd objects", "[integration]") {
  emulator::server server;
  const auto client = make(quick(server));
  server.put("odd", "empty", "");
  auto got = read(*client, {.bucket = "odd", .object = "empty"}, 0);
  REQUIRE(got.summary);
  CHECK(got.summary->bytes == 0);
  CHECK(got.summary->verified);
  // Compressed objects come as they are stored.
  const std::string packed = "\x1f\x8b\x08" + pattern(5000);
  server.put("odd", "packed", packed, {.content_encoding = "gzip"});
  got = read(*client, {.bucket = "odd", .object = "packed"});
  INFO((got.summary ? std::string() : got.summary.error().to_string()));
  CHECK(got.bytes == packed);
  CHECK((got.summary && got.summary->verified));
  got = read(*client, {.bucket = "odd", .object = "packed"}, packed.size() - 1);
  REQUIRE_FALSE(got.summary);
  CHECK(got.summary.error().code() == errc::out_of_range);
  CHECK(got.summary.error().attempts() == 1);
}

TEST_CASE("client: bad names never reach the network", "[integration]") {
  emulator::server server;
  const auto client = make(quick(server));
  for (const std::string& name :
       {std::string(1025, 'n'), std::string(), std::string("a\nb"), std::string("."),
        std::string(".."), std::string("\xff\xfe"), std::string("a\rb")}) {
    const auto found = client->stat({.bucket = "bucket", .object = name});
    REQUIRE_FALSE(found);
    CHECK(found.error().code() == errc::invalid_argument);
    CHECK(found.error().attempts() == 0);
  }
  CHECK_FALSE(client->stat({.bucket = "UPPER", .object = "o"}));
  CHECK_FALSE(client->stat({.bucket = "a/b", .object = "o"}));
  CHECK_FALSE(
      read(*client, {.bucket = "bucket", .object = "o", .range = dataflux::byte_range::span(5, 0)})
          .summary);
  CHECK(server.log().empty());
  CHECK(server.counters().connections_accepted == 0);
}

TEST_CASE("client: a dead endpoint is named", "[integration]") {
  const std::string where = "127.0.0.1:" + std::to_string(unused_port());
  gcs::client_options o{.endpoint = "http://" + where, .emulator = true};
  o.retry = {.max_attempts = 3, .first = 1ms, .cap = 2ms};
  const auto client = make(o);
  const auto found = client->stat({.bucket = "bucket", .object = "o"});
  REQUIRE_FALSE(found);
  CHECK(found.error().code() == errc::unavailable);
  CHECK(found.error().attempts() == 3);
  CHECK(found.error().message().find(where) != std::string::npos);
}

TEST_CASE("client: service accounts, self-signed and exchanged, over TLS", "[integration]") {
  for (const bool exchange : {false, true}) {
    emulator::server server({.tls = emulator::tls_mode::valid, .service = {.require_token = true}});
    server.put("secured", "o", "bytes");
    const authority_file ca(server);
    const auto client = make(secured(server, ca, exchange));
    CHECK(read(*client, {.bucket = "secured", .object = "o"}).bytes == "bytes");
    CHECK(server.counters().of("token") == (exchange ? 1 : 0));
    CHECK(server.counters().of("objects.media") == 1);
  }
}

TEST_CASE("client: a refused token is refreshed once", "[integration]") {
  emulator::server server({.tls = emulator::tls_mode::valid, .service = {.require_token = true}});
  server.put("secured", "o", "bytes");
  const authority_file ca(server);
  const auto client = make(secured(server, ca, true));
  CHECK(client->stat({.bucket = "secured", .object = "o"}));
  server.tokens().revoke_all();
  CHECK(client->stat({.bucket = "secured", .object = "o"}));
  CHECK(server.counters().of("token") == 2);
  CHECK(server.counters().of("objects.get", 401) == 1);
  server.faults().add({.verb = "objects.get", .count = 0, .action = fault::send{.status = 401}});
  const auto refused = client->stat({.bucket = "secured", .object = "o"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::unauthenticated);
  CHECK(refused.error().attempts() == 2);
  const std::string text = refused.error().to_string();
  for (const auto& request : server.log()) {
    const std::string_view header = request.header("Authorization");
    if (header.size() > 7) CHECK(text.find(header.substr(7)) == std::string::npos);
  }
}

TEST_CASE("client: TLS that does not satisfy is an error at once", "[integration]") {
  for (const auto mode :
       {emulator::tls_mode::valid, emulator::tls_mode::wrong_host, emulator::tls_mode::expired}) {
    emulator::server server({.tls = mode});
    emulator::server other({.tls = emulator::tls_mode::valid});
    const bool wrong_authority = mode == emulator::tls_mode::valid;
    const authority_file ca(wrong_authority ? other : server);
    auto o = quick(server);
    o.transport.ca_file = ca.path();
    const auto client = make(o);
    const auto found = client->stat({.bucket = "bucket", .object = "o"});
    REQUIRE_FALSE(found);
    INFO(found.error().to_string());
    CHECK(found.error().code() == errc::unavailable);
    CHECK(found.error().attempts() == 1);
    CHECK(found.error().message().find("127.0.0.1") != std::string::npos);
    CHECK(server.log().empty());
  }
}

TEST_CASE("client: credentials from the environment", "[integration]") {
  SECTION("never to an emulator") {
    emulator::server server;
    server.put("environment", "o", "bytes");
    ::setenv("STORAGE_EMULATOR_HOST", server.endpoint().c_str(), 1);
    gcs::client_options o;
    auto key =
        dataflux::detail::auth::parse_service_account(server.service_account_json(), "key.json");
    REQUIRE(key);
    o.credentials = *key;
    const auto client = make(o);
    ::unsetenv("STORAGE_EMULATOR_HOST");
    CHECK(client->stat({.bucket = "environment", .object = "o"}));
    REQUIRE(server.log().size() == 1);
    CHECK(server.log()[0].header("Authorization").empty());
  }
  SECTION("the metadata server") {
    emulator::server metadata;
    emulator::server server({.tls = emulator::tls_mode::valid});
    server.put("environment", "o", "bytes");
    const authority_file ca(server);
    const std::string host = metadata.endpoint().substr(7);
    ::setenv("GCE_METADATA_HOST", host.c_str(), 1);
    ::setenv("CLOUDSDK_CONFIG", "/nonexistent", 1);
    gcs::client_options o = quick(server);
    o.emulator = false;
    o.transport.ca_file = ca.path();
    const auto client = make(o);
    const auto found = client->stat({.bucket = "environment", .object = "o"});
    ::unsetenv("GCE_METADATA_HOST");
    ::unsetenv("CLOUDSDK_CONFIG");
    INFO((found ? std::string() : found.error().to_string()));
    CHECK(found);
    REQUIRE(server.log().size() == 1);
    CHECK(server.log()[0].header("Authorization").substr(0, 7) == "Bearer ");
  }
}

namespace {

/// A client whose next call gets stuck where `where` says, and the server behind it.
struct held_back {
  enum phase { token, backoff, pacing, transfer, all_phases };
  explicit held_back(phase where)
      : server({.tls = emulator::tls_mode::valid, .service = {.require_token = true}}),
        ca(server),
        client(make(options(where))) {
    server.put("held", "o", std::string(300000, 'x'));
    if (where == token) {
      server.faults().add({.verb = "token", .count = 0, .action = fault::stall{}});
    } else if (where == backoff) {
      server.faults().add(
          {.verb = "objects.media", .count = 0, .action = fault::send{.status = 503}});
    } else if (where == pacing) {
      server.faults().add(
          {.verb = "objects.media", .count = 0, .action = fault::send{.status = 429}});
    } else {
      server.faults().add(
          {.verb = "objects.media",
           .count = 0,
           .action = fault::stall{.where = fault::point::in_body, .body_bytes = 1000}});
    }
  }
  gcs::client_options options(phase where) {
    auto o = secured(server, ca, where == token);
    o.retry = {.max_attempts = std::numeric_limits<int>::max(), .first = 10s, .cap = 10s};
    o.stall_timeout = o.first_byte_timeout = 30s;
    return o;
  }
  emulator::server server;
  authority_file ca;
  std::shared_ptr<gcs::client> client;
};

}  // namespace

TEST_CASE("client: a time limit holds in every phase", "[integration]") {
  for (int p = 0; p < held_back::all_phases; ++p) {
    held_back h(static_cast<held_back::phase>(p));
    const auto got =
        read(*h.client, {.bucket = "held", .object = "o", .limits = {.timeout = 60ms}});
    INFO("phase " << p);
    REQUIRE_FALSE(got.summary);
    INFO(got.summary.error().to_string());
    // Where waiting any longer is known to be in vain, the cause is told at once.
    const errc code = got.summary.error().code();
    CHECK((code == errc::deadline_exceeded ||
           (p == held_back::backoff && code == errc::unavailable) ||
           (p == held_back::pacing && code == errc::resource_exhausted)));
  }
}

TEST_CASE("client: a stop works in every phase", "[integration]") {
  for (int p = 0; p < held_back::all_phases; ++p) {
    held_back h(static_cast<held_back::phase>(p));
    std::stop_source stop;
    std::vector<std::byte> memory(1 << 20);
    dataflux::span_sink sink(memory);
    auto op = h.client->submit_read(
        {.bucket = "held", .object = "o", .limits = {.stop = stop.get_token()}}, sink);
    while (h.server.log().empty()) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(2ms);
    stop.request_stop();
    const auto outcome = op.take();
    INFO("phase " << p);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code() == errc::cancelled);
  }
}

TEST_CASE("client: destroyed with calls in every phase", "[integration]") {
  for (int p = 0; p < held_back::all_phases; ++p) {
    held_back h(static_cast<held_back::phase>(p));
    std::vector<std::vector<std::byte>> memory(100, std::vector<std::byte>(4096));
    std::vector<std::unique_ptr<dataflux::span_sink>> sinks;
    std::atomic<int> ends{0};
    std::atomic<int> cancelled{0};
    for (auto& m : memory) {
      sinks.push_back(std::make_unique<dataflux::span_sink>(m));
      h.client->start_read(
          {.bucket = "held", .object = "o", .range = dataflux::byte_range::span(0, 4096)},
          *sinks.back(), [&](dataflux::result<dataflux::read_summary> r) {
            ++ends;
            if (!r && r.error().code() == errc::cancelled) ++cancelled;
          });
    }
    if (p % 2 == 0) std::this_thread::sleep_for(5ms);
    h.client.reset();
    CHECK(ends == 100);
    CHECK(cancelled == 100);
  }
}

#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes
TEST_CASE("client: in the child of a fork every call is refused", "[integration]") {
  emulator::server server;
  server.put("forked", "o", "bytes");
  auto client = make(quick(server));
  CHECK(client->stat({.bucket = "forked", .object = "o"}));
  const int bad = run_child([&] {
    const auto found = client->stat({.bucket = "forked", .object = "o"});
    if (found || found.error().code() != errc::failed_precondition) return 1;
    std::vector<std::byte> memory(16);
    dataflux::span_sink sink(memory);
    const auto got = client->read({.bucket = "forked", .object = "o"}, sink);
    if (got || got.error().code() != errc::failed_precondition) return 2;
    client.reset();
    auto fresh = gcs::client::create(quick(server));
    if (!fresh || !(*fresh)->stat({.bucket = "forked", .object = "o"})) return 3;
    return 0;
  });
  CHECK(bad == 0);
  CHECK(client->stat({.bucket = "forked", .object = "o"}));
}
#endif

}  // namespace client_limits_test
