#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <thread/thread_client.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace client_thread_test {

// One client, many threads; what is asserted is little, the rest is ThreadSanitizer's.
namespace {

using namespace std::chrono_literals;
using dataflux::errc;
namespace fault = emulator::fault;
namespace gcs = dataflux::gcs;

struct tally {
  std::atomic<int> right{0};
  std::atomic<int> cancelled{0};
  std::atomic<int> wrong{0};

  void count(const dataflux::error* e) {
    if (e == nullptr) {
      ++right;
    } else if (e->code() == errc::cancelled) {
      ++cancelled;
    } else {
      ++wrong;
    }
  }
};

void read_some(gcs::client& client, int thread, tally& t) {
  std::vector<std::byte> memory(20000);
  for (int i = 0; i < 40; ++i) {
    dataflux::span_sink sink(memory);
    auto op = client.submit_read(
        {.bucket = "shared", .object = "o" + std::to_string((thread + i) % 10)}, sink);
    if (i % 4 == 3) op.cancel();
    auto outcome = op.take();
    t.count(outcome ? nullptr : &outcome.error());
    if (outcome && sink.size() != 20000) ++t.wrong;
  }
}

void write_some(gcs::client& client, int thread, tally& t) {
  const std::string bytes(30000, 'w');
  for (int i = 0; i < 20; ++i) {
    std::stop_source stop;
    auto op = client.submit_insert({.bucket = "shared",
                                    .object = "w" + std::to_string(thread) + std::to_string(i),
                                    .data = dataflux::as_bytes(bytes),
                                    .conditions = {.if_generation_match = 0},
                                    .limits = {.stop = stop.get_token()}});
    std::thread stopper;
    if (i % 3 == 0) stopper = std::thread([&] { stop.request_stop(); });
    auto outcome = op.take();
    if (stopper.joinable()) stopper.join();
    t.count(outcome ? nullptr : &outcome.error());
  }
}

}  // namespace

TEST_CASE("client: many threads share it", "[thread]") {
  emulator::server server({.threads = 2});
  for (int i = 0; i < 10; ++i) {
    server.put("shared", "o" + std::to_string(i), std::string(20000, static_cast<char>('a' + i)));
  }
  // Some trouble on the way, so that retries are among the rest.
  server.faults().add(
      {.verb = "objects.media", .from = 20, .count = 10, .action = fault::send{.status = 503}});
  server.faults().add({.verb = "objects.insert", .from = 5, .count = 5, .action = fault::cut{}});
  const auto client = thread_client(server);
  tally t;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] { read_some(*client, i, t); });
    threads.emplace_back([&, i] { write_some(*client, i, t); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(t.wrong == 0);
  CHECK(t.right + t.cancelled == 4 * 60);
  CHECK(t.right >= 4 * 30);
}

TEST_CASE("client: destroyed while others' calls end", "[thread]") {
  emulator::server server;
  server.put("shared", "o", std::string(20000, 'x'));
  for (int round = 0; round < 10; ++round) {
    auto client = thread_client(server);
    std::atomic<int> ends{0};
    std::vector<std::vector<std::byte>> memory(60, std::vector<std::byte>(20000));
    std::vector<std::unique_ptr<dataflux::span_sink>> sinks;
    for (auto& m : memory) sinks.push_back(std::make_unique<dataflux::span_sink>(m));
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 3; ++i) {
      threads.emplace_back([&, i] {
        for (std::size_t k = i * 20; k < i * 20 + 20; ++k) {
          client->start_read({.bucket = "shared", .object = "o"}, *sinks[k],
                             [&](const dataflux::result<dataflux::read_summary>&) { ++ends; });
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    client.reset();
    CHECK(ends == 60);
  }
}

}  // namespace client_thread_test
