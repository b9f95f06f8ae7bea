#include <dataflux/exec/event_ring.hpp>
#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/prometheus_text.hpp>
#include <thread/thread_client.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace client_snapshot_thread_test {

namespace {

namespace fault = emulator::fault;
namespace gcs = dataflux::gcs;

constexpr int threads = 8;
constexpr int rounds = 25;

/// Four requests of the client, one of them a listing.
bool work(gcs::client& client, int thread) {
  const std::string bytes(5'000, 'w');
  const std::string name = "o" + std::to_string(thread);
  std::vector<std::byte> memory(bytes.size());
  dataflux::span_sink sink(memory);
  return client.insert({.bucket = "shared", .object = name, .data = dataflux::as_bytes(bytes)}) &&
         client.read({.bucket = "shared", .object = name}, sink) &&
         client.stat({.bucket = "shared", .object = name}) &&
         client.list_page({.bucket = "shared"});
}

}  // namespace

TEST_CASE("client_snapshot: is taken while threads work, and nothing is lost", "[thread]") {
  emulator::server server({.threads = 2});
  server.create_bucket("shared");
  server.faults().add(
      {.verb = "objects.get", .count = 0, .probability = 0.2, .action = fault::refuse{503}});
  dataflux::event_ring events({.capacity = 8});
  const auto client = thread_client(server, &events);
  std::atomic<int> working{threads};
  std::atomic<int> good{0};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      for (int i = 0; i < rounds; ++i) good += work(*client, t) ? 1 : 0;
      --working;
    });
  }
  std::uint64_t answered = 0;
  std::uint64_t taken = 0;
  bool grows = true;
  while (working > 0) {
    const auto seen = client->snapshot();
    std::uint64_t now = 0;
    for (const auto& verb : seen.verbs) now += verb.body.count();
    grows = grows && now >= answered;
    answered = now;
    REQUIRE_NOTHROW(prometheus_text(to_prometheus(seen)));
    taken += events.take(3).size();
  }
  for (std::thread& t : all) t.join();
  CHECK(grows);
  taken += events.take(std::numeric_limits<std::size_t>::max()).size();
  const auto seen = client->snapshot();
  CHECK(taken + events.dropped() == seen.totals.retries);
  std::uint64_t sum = 0;
  const auto served = server.counters();
  for (const auto& verb : seen.verbs) {
    CHECK(verb.queued.count() == verb.body.count());
    CHECK(verb.body.count() == served.of(verb.verb));
    sum += verb.body.count();
    if (verb.verb == "objects.insert" || verb.verb == "objects.list") {
      CHECK(verb.body.count() == threads * rounds);
    }
  }
  CHECK(sum == seen.totals.requests_a + seen.totals.requests_b);
  CHECK(good + static_cast<int>(seen.totals.failed) == threads * rounds);
}

}  // namespace client_snapshot_thread_test
