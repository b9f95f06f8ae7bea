#include <dataflux/gcs/client.hpp>
#include <dataflux/transfer/detail/ranged_read.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ranged_read_test {

// Reads over a socket, where bytes of the slices, and of a read's two requests, arrive on several
// I/O threads.
namespace {

using namespace std::chrono_literals;
using dataflux::errc;
using dataflux::ranged_read_summary;
using dataflux::result;
using dataflux::detail::ranged_read_request;
using dataflux::detail::read_engine;
namespace fault = emulator::fault;
namespace gcs = dataflux::gcs;

struct harness {
  explicit harness(std::size_t size, dataflux::duration hedge_after = 1s) : server({.threads = 2}) {
    server.service().store().create_bucket("bkt", {});
    body.resize(size);
    for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>(i * 7 + i / 251);
    server.put("bkt", "o", body);
    gcs::client_options o{.endpoint = server.endpoint(), .emulator = true};
    o.retry = {.max_attempts = 6, .first = 1ms, .cap = 5ms};
    o.stall_timeout = 300ms;
    o.first_byte_timeout = 60s;
    o.transport.io_threads = 2;
    client = gcs::client::create(o).value();
    engine = std::make_unique<read_engine>(
        *client, client->executor(),
        dataflux::detail::read_engine_options{.concurrency = {.max = 16},
                                              .hedge = {.floor = hedge_after}});
  }
  /// What the engine says must be read on its strand.
  template <class F>
  auto on_strand(F f) {
    std::promise<decltype(f())> promise;
    engine->strand().post([&] { promise.set_value(f()); });
    return promise.get_future().get();
  }
  result<ranged_read_summary> read(std::vector<std::byte>& memory,
                                   ranged_read_request request = {.slice = 5'000}) {
    request.bucket = "bkt";
    request.object = "o";
    std::promise<result<ranged_read_summary>> promise;
    engine->strand().post([&] {
      start_ranged_read(*engine, std::move(request), memory,
                        [&](result<ranged_read_summary> r) { promise.set_value(std::move(r)); });
    });
    return promise.get_future().get();
  }
  bool right(const std::vector<std::byte>& memory) const {
    return dataflux::as_text(memory) == body;
  }

  emulator::server server;
  std::string body{};
  std::shared_ptr<gcs::client> client{};
  std::unique_ptr<read_engine> engine{};
};

}  // namespace

TEST_CASE("ranged_read: over a socket, whatever becomes of single requests", "[integration]") {
  harness h(200'000);
  const emulator::fault::action actions[]{
      fault::refuse{503},
      fault::cut{.where = fault::point::before_reply},
      fault::cut{.where = fault::point::in_head},
      fault::cut{.where = fault::point::in_body, .body_bytes = 0},
      fault::cut{.where = fault::point::in_body, .body_bytes = 700},
      fault::cut{.where = fault::point::in_body, .body_bytes = 300, .reset = false},
      fault::stall{.where = fault::point::in_body, .body_bytes = 3'000},
      fault::drip{.bytes = 100, .interval = 1ms},
      fault::delay{20ms}};
  for (std::size_t i = 0; i < std::size(actions); ++i) {
    INFO(i);
    h.server.faults().clear();
    h.server.faults().add(
        {.verb = "objects.media", .count = 0, .probability = 0.1, .seed = i, .action = actions[i]});
    std::vector<std::byte> memory(h.body.size());
    const auto done = h.read(memory);
    INFO((done ? std::string() : done.error().to_string()));
    REQUIRE(done);
    CHECK(done->verified);
    CHECK(h.right(memory));
    CHECK(h.server.faults().hits() > 0);
  }
}

TEST_CASE("read_engine: over a socket, refusals that were mended count as such", "[integration]") {
  harness h(20'000);
  const int before = h.on_strand([&] { return h.engine->limit(); });
  h.server.faults().add({.verb = "objects.media", .action = fault::refuse{429}});
  h.server.faults().add({.verb = "objects.media", .from = 2, .action = fault::refuse{429}});
  h.server.faults().add({.verb = "objects.media", .from = 3, .action = fault::refuse{503}});
  std::vector<std::byte> memory(h.body.size());
  dataflux::span_sink sink(memory);
  std::promise<result<dataflux::read_summary>> promise;
  h.engine->strand().post([&] {
    h.engine->start({.bucket = "bkt", .object = "o"}, sink,
                    [&](result<dataflux::read_summary> r) { promise.set_value(std::move(r)); });
  });
  const auto done = promise.get_future().get();
  REQUIRE(done);
  CHECK(done->attempts == 4);
  CHECK(done->refusals == 2);
  CHECK(h.on_strand([&] { return h.engine->limit(); }) < before);
}

TEST_CASE("ranged_read: over a socket, a flipped byte is found", "[integration]") {
  harness h(200'000);
  h.server.faults().add({.verb = "objects.media", .from = 7, .action = fault::flip_byte{50}});
  std::vector<std::byte> memory(h.body.size());
  const auto done = h.read(memory);
  REQUIRE_FALSE(done);
  CHECK(done.error().code() == errc::data_loss);
  CHECK(done.error().object() == "o");
}

TEST_CASE("ranged_read: over a socket, stragglers are asked for twice and nothing mixes",
          "[integration]") {
  // Where one in twenty waits longer than that, nothing is asked for twice: a busy machine is not
  // so slow.
  harness h(200'000, 500ms);
  std::vector<std::byte> memory(h.body.size());
  for (int i = 0; i < 8; ++i) REQUIRE(h.read(memory));
  // Some that the second request wins, and some where both come at nearly the same time.
  for (const auto late : {60'000ms, 60'000ms, 520ms, 505ms, 501ms}) {
    h.server.faults().clear();
    h.server.faults().add(
        {.verb = "objects.media", .from = 3, .count = 1, .action = fault::delay{late}});
    std::fill(memory.begin(), memory.end(), std::byte{0});
    const auto done = h.read(memory);
    REQUIRE(done);
    CHECK(done->verified);
    CHECK(h.right(memory));
  }
  const auto hedges = h.on_strand([&] { return h.engine->hedges(); });
  CHECK(hedges.asked > 0);
  CHECK(hedges.won > 0);
}

TEST_CASE("ranged_read: over a socket, an object that is replaced meanwhile", "[integration]") {
  harness h(100'000);
  for (int i = 0; i < 10; ++i) {
    const std::string other(h.body.size(), static_cast<char>('a' + i));
    std::vector<std::byte> memory(h.body.size());
    auto reading = std::async(std::launch::async, [&] { return h.read(memory, {.slice = 1'000}); });
    std::this_thread::sleep_for(std::chrono::milliseconds(i));
    h.server.put("bkt", "o", other);
    const auto done = reading.get();
    if (done) {
      CHECK(done->verified);
      CHECK((h.right(memory) || dataflux::as_text(memory) == other));
    } else {
      CHECK(done.error().code() == errc::aborted);
    }
    h.body = other;
  }
}

}  // namespace ranged_read_test
