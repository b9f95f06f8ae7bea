#include <dataflux/auth/credentials.hpp>
#include <dataflux/exec/event_ring.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/prometheus_text.hpp>
#include <support/verb_driver.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace client_snapshot_test {

namespace {

using namespace std::chrono_literals;
namespace fault = emulator::fault;
namespace gcs = dataflux::gcs;
using dataflux::event_kind;
using dataflux::event_ring;

constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

bool read(gcs::client& client, const std::string& object) {
  std::vector<std::byte> memory(2'000'000);
  dataflux::span_sink sink(memory);
  return static_cast<bool>(client.read({.bucket = "data", .object = object}, sink));
}

}  // namespace

TEST_CASE("client_snapshot: its counts are those that the service has, and phases add up",
          "[integration]") {
  emulator::server server({.service = {.network = {.round_trip = 2ms}}});
  server.create_bucket("data");
  const auto client = gcs::client::create(quick_options(server, 30s)).value();
  const std::string small(1'000, 's');
  const std::string large(2'000'000, 'l');
  for (int i = 0; i < 3; ++i) {
    const std::string& bytes = i == 0 ? large : small;
    REQUIRE(client->insert(
        {.bucket = "data", .object = "o" + std::to_string(i), .data = dataflux::as_bytes(bytes)}));
  }
  server.faults().add({.verb = "objects.media", .count = 2, .action = fault::refuse{503}});
  for (int i = 0; i < 5; ++i) REQUIRE(read(*client, "o" + std::to_string(i % 3)));
  for (int i = 0; i < 4; ++i) REQUIRE(client->stat({.bucket = "data", .object = "o1"}));
  REQUIRE_FALSE(client->stat({.bucket = "data", .object = "none"}));
  REQUIRE(client->list_page({.bucket = "data"}));

  auto seen = client->snapshot();
  const std::map<std::string_view, std::uint64_t> sent{
      {"objects.list", 1}, {"objects.get", 5}, {"objects.media", 7}, {"objects.insert", 3}};
  std::map<std::string_view, std::uint64_t> answered;
  const auto served = server.counters();
  for (const auto& verb : seen.verbs) {
    CHECK(verb.body.count() == served.of(verb.verb));
    answered[verb.verb] = verb.body.count();
    CHECK(verb.queued.count() == verb.body.count());
    CHECK(verb.first_byte.count() == verb.body.count());
    // The service took its time.
    CHECK(verb.first_byte.sum >= static_cast<std::int64_t>(verb.body.count()) * 2ms);
    CHECK(verb.first_byte.quantile(0) >= 2ms);
  }
  CHECK(answered == sent);
  CHECK(seen.totals.requests_a + seen.totals.requests_b == 16);
  CHECK(seen.totals.retries == 2);
  CHECK(seen.connections.open == 1);
  CHECK(seen.connections.idle == 1);
  CHECK(seen.connections.connecting == 0);
  CHECK(seen.connections.waiting == 0);
  CHECK(seen.connections.connect.count() == 1);
  std::map<std::string_view, std::uint64_t> started;
  for (const auto& lane : seen.pacing) {
    CHECK(lane.bucket == "data");
    CHECK(lane.in_flight == 0);
    started[lane.kind] = lane.started;
  }
  CHECK(started ==
        std::map<std::string_view, std::uint64_t>{{"metadata", 6}, {"read", 7}, {"write", 3}});

  const dataflux::transfer_context context(*client, {.memory_cap = 64ULL << 20U});
  seen.memory = context.memory();
  const prometheus_text text(to_prometheus(seen));
  CHECK(text[R"(dataflux_request_seconds_count{verb="objects.media",phase="body"})"] == 7);
  CHECK(text[R"(dataflux_memory_cap_bytes{use="read"})"] == 64ULL << 20U);
  CHECK(text[R"(dataflux_memory_cap_bytes{use="upload"})"] == 256ULL << 20U);
}

TEST_CASE("client_snapshot: connections that wait, work and idle", "[integration]") {
  emulator::server server;
  server.create_bucket("data");
  server.put("data", "o", "bytes");
  auto options = quick_options(server, 60s);
  options.transport.max_connections_per_host = 2;
  const auto client = gcs::client::create(options).value();
  server.faults().add({.verb = "objects.get", .count = 0, .action = fault::stall{}});
  std::vector<dataflux::operation<dataflux::object_metadata>> calls;
  for (int i = 0; i < 5; ++i) {
    calls.push_back(client->submit(dataflux::stat_request{.bucket = "data", .object = "o"}));
  }
  const auto during = [&] {
    const auto now = client->snapshot().connections;
    return now.open == 2 && now.connecting == 0 && now.idle == 0 && now.waiting == 3;
  };
  const auto end = dataflux::clock::now() + 50s;
  while (!during() && dataflux::clock::now() < end) std::this_thread::yield();
  CHECK(during());
  for (auto& call : calls) call.cancel();
  for (auto& call : calls) CHECK_FALSE(call.take());
  const auto after = client->snapshot().connections;
  CHECK(after.waiting == 0);
  CHECK(after.idle + after.connecting == after.open);  // one may be made for who has left
}

TEST_CASE("event_ring: retries of a client fill it, and what is dropped is counted",
          "[integration]") {
  emulator::server server;
  server.create_bucket("data");
  server.put("data", "o", "bytes");
  event_ring events({.capacity = 4});
  dataflux::completion_queue queue;
  events.notify(queue, 5);
  auto options = quick_options(server, 30s);
  options.observer = &events;
  const auto client = gcs::client::create(options).value();
  server.faults().add({.verb = "objects.get", .count = 9, .action = fault::refuse{503}});
  for (int i = 0; i < 3; ++i) {
    static_cast<void>(client->stat({.bucket = "data", .object = "o"}));
  }
  const std::uint64_t retries = client->totals().retries;
  CHECK(retries > 4);
  CHECK(events.dropped() == retries - 4);
  std::array<dataflux::completion_event, 4> heard;
  REQUIRE(queue.next(heard, 0s) == 1);
  CHECK(heard[0].tag == 5);
  const auto kept = events.take(all);
  REQUIRE(kept.size() == 4);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    CHECK(kept[i].kind == event_kind::retry);
    CHECK(kept[i].verb == "objects.get");
    CHECK(kept[i].bucket == "data");
    CHECK(kept[i].object == "o");
    CHECK(kept[i].text.find("503") != std::string::npos);
  }
  CHECK(kept[0].attempt == 1);
  CHECK(kept[1].attempt == 2);
}

TEST_CASE("event_ring: asks for a token, and a call waits for it", "[integration]") {
  emulator::server server;
  server.create_bucket("data");
  server.put("data", "o", "bytes");
  event_ring events;
  dataflux::completion_queue queue;
  events.notify(queue, 1);
  auto options = quick_options(server, 30s);
  options.credentials = dataflux::make_set_tokens([&events] { events.need_token(); });
  options.tokens_to_emulator = true;
  const auto client = gcs::client::create(options).value();
  auto call = client->submit(dataflux::stat_request{.bucket = "data", .object = "o"});
  std::array<dataflux::completion_event, 4> heard;
  REQUIRE(queue.next(heard, 60s) == 1);
  const auto asked = events.take(all);
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].kind == event_kind::token_needed);
  REQUIRE(client->set_token({"a-token-of-mine", std::chrono::system_clock::now() + 1h}));
  CHECK(call.take());
}

}  // namespace client_snapshot_test
