#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/impatient_client.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace getter_test {

// Streams over a socket: bytes arrive on several I/O threads, the reader is yet another one.
namespace {

using namespace std::chrono_literals;
using dataflux::byte_range;
using dataflux::errc;
using dataflux::get_many_request;
using dataflux::get_order;
using dataflux::get_request;
using dataflux::getter;
using dataflux::got_item;
using dataflux::transfer_context;
namespace fault = emulator::fault;
namespace gcs = dataflux::gcs;

struct harness {
  explicit harness(dataflux::transfer_options transfer = {.slice = 20'000})
      : server({.threads = 2}) {
    server.service().store().create_bucket("bkt", {});
    client = impatient_client(server);
    transfer.concurrency.max = 16;
    context.emplace(*client, transfer);
  }
  ~harness() { context.reset(); }
  harness(const harness&) = delete;
  harness& operator=(const harness&) = delete;

  const std::string& put(const std::string& name, std::size_t size) {
    std::string& body = bodies.emplace_back(size, '\0');
    for (std::size_t i = 0; i < size; ++i) {
      body[i] = static_cast<char>(i * 7 + i / 251 + bodies.size());
    }
    server.put("bkt", name, body);
    return body;
  }
  /// Small ones of known and unknown size, empty ones, one in slices, and pieces of it.
  void prepare() {
    for (int i = 0; i < 60; ++i) {
      const std::string name = "o" + std::to_string(i);
      const std::string& body = put(name, i % 9 == 0 ? 0 : static_cast<std::size_t>(i) * 97);
      get_request r;
      r.object = name;
      if (i % 2 == 0) r.object_size = body.size();
      requests.push_back(r);
      wanted.push_back(body);
    }
    const std::string& large = put("large", 150'000);
    get_request r;
    r.object = "large";
    requests.push_back(r);
    wanted.push_back(large);
    memory.resize(7'000);
    for (std::size_t i = 0; i < 40; ++i) {
      const std::size_t offset = i * 3'000 % 140'000;
      r.range = byte_range::span(offset, 700);
      r.into = {};
      if (i % 4 == 0) r.into = std::span(memory).subspan(i / 4 * 700, 700);
      requests.push_back(r);
      wanted.push_back(large.substr(offset, 700));
    }
  }
  bool right(const got_item& item) const {
    return dataflux::as_text(item.bytes) == wanted[item.index] &&
           item.crc32c == dataflux::crc32c(item.bytes);
  }
  /// Reads everything; gives the items that failed.
  std::vector<got_item> read(get_many_request how = {}) {
    std::vector<got_item> failed;
    how.bucket = "bkt";
    getter items(*context, how, requests);
    std::uint64_t n = 0;
    for (;;) {
      auto batch = items.next_batch(5).value();
      if (batch.empty()) break;
      for (got_item& item : batch) {
        if (how.order == get_order::as_asked) CHECK(item.index == n);
        ++n;
        if (item.failure) {
          CHECK(item.failure->object() == requests[item.index].object);
          failed.push_back(std::move(item));
        } else {
          INFO(item.index);
          CHECK(right(item));
        }
      }
    }
    CHECK(n == requests.size());
    return failed;
  }

  emulator::server server;
  std::deque<std::string> bodies{};
  std::vector<get_request> requests{};
  std::vector<std::string> wanted{};
  std::vector<std::byte> memory{};
  std::shared_ptr<gcs::client> client{};
  std::optional<transfer_context> context{};
};

}  // namespace

TEST_CASE("getter: over a socket, in order and as ready", "[integration]") {
  harness h;
  h.prepare();
  CHECK(h.read().empty());
  CHECK(h.read({.order = get_order::as_ready}).empty());
  CHECK(h.context->counters().borrowed == 0);
  CHECK(h.context->counters().items == 2 * h.requests.size());
}

TEST_CASE("getter: over a socket, one by one", "[integration]") {
  harness h;
  h.prepare();
  getter items(*h.context, {.bucket = "bkt"}, h.requests);
  std::uint64_t n = 0;
  while (auto item = items.next().value()) {
    CHECK(item->index == n++);
    CHECK(h.right(*item));
  }
  CHECK(n == h.requests.size());
  CHECK_FALSE(items.next().value());
}

TEST_CASE("getter: over a socket, whatever becomes of single requests", "[integration]") {
  harness h;
  h.prepare();
  const emulator::fault::action actions[]{
      fault::refuse{503},
      fault::refuse{429},
      fault::cut{.where = fault::point::before_reply},
      fault::cut{.where = fault::point::in_head},
      fault::cut{.where = fault::point::in_body, .body_bytes = 0},
      fault::cut{.where = fault::point::in_body, .body_bytes = 700},
      fault::cut{.where = fault::point::in_body, .body_bytes = 300, .reset = false},
      fault::drip{.bytes = 100, .interval = 1ms},
      fault::delay{20ms},
      fault::stall{.where = fault::point::in_body, .body_bytes = 300}};
  for (std::size_t i = 0; i < std::size(actions); ++i) {
    INFO(i);
    h.server.faults().clear();
    // A stall takes 300 ms, and few are in flight over a socket as fast as this.
    const bool stall = i + 1 == std::size(actions);
    h.server.faults().add({.verb = "objects.media",
                           .count = 0,
                           .probability = stall ? 0.03 : 0.15,
                           .seed = i,
                           .action = actions[i]});
    const auto failed = h.read({.order = i % 2 == 0 ? get_order::as_asked : get_order::as_ready});
    for (const got_item& item : failed) FAIL_CHECK(item.failure->to_string());
    CHECK(h.server.faults().hits() > 0);
  }
}

TEST_CASE("getter: over a socket, a flipped byte fails its item at most", "[integration]") {
  harness h;
  h.prepare();
  h.requests.resize(60);  // whole objects
  // Each time: a single one is mended by asking again.
  h.server.faults().add(
      {.verb = "objects.media", .object = "o31", .count = 0, .action = fault::flip_byte{50}});
  const auto failed = h.read();
  REQUIRE(failed.size() == 1);
  CHECK(failed[0].index == 31);
  CHECK(failed[0].failure->code() == errc::data_loss);
}

TEST_CASE("getter: over a socket, dropped in the midst, nothing writes any more", "[integration]") {
  harness h;
  const std::string& body = h.put("large", 400'000);
  for (int round = 0; round < 25; ++round) {
    std::vector<std::byte> memory(body.size());
    {
      std::vector<get_request> requests(3);
      for (get_request& r : requests) r.object = "large";
      requests[1].into = memory;
      getter items(*h.context, {.bucket = "bkt"}, requests);
      std::this_thread::sleep_for(round * 300us);
    }
    const std::vector<std::byte> then = memory;
    std::this_thread::sleep_for(2ms);
    CHECK(then == memory);
  }
}

TEST_CASE("getter: over a socket, cancelled from another thread", "[integration]") {
  harness h;
  h.put("o", 1'000);
  std::size_t asked = 0;
  getter items(*h.context, {.bucket = "bkt"},
               dataflux::get_source([&]() -> std::optional<get_request> {
                 ++asked;
                 get_request r;
                 r.object = "o";
                 return r;
               }));
  std::thread other([&] {
    std::this_thread::sleep_for(30ms);
    items.cancel();
  });
  std::optional<dataflux::error> end;
  while (!end) {
    auto item = items.next();
    if (!item) {
      end = item.error();
    } else {
      REQUIRE(*item);
      CHECK((*item)->bytes.size() == 1'000);
    }
  }
  other.join();
  CHECK(end->code() == errc::cancelled);
}

TEST_CASE("getter: over a socket, a timeout that passes tells what was met", "[integration]") {
  // In one read, in slices, in ranges that are read together, as a stream and alone.
  harness h;
  h.put("small", 1'000);
  h.put("large", 150'000);
  const std::int64_t generation = h.server.put("bkt", "pieces", std::string(150'000, 'p'));
  std::vector<get_request> small(1);
  std::vector<get_request> large(1);
  std::vector<get_request> ranges(3);
  small[0].object = "small";
  large[0].object = "large";
  large[0].object_size = 150'000;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    ranges[i].object = "pieces";
    ranges[i].generation = generation;
    ranges[i].range = byte_range::span(i * 700, 700);
  }
  for (const bool stop : {false, true}) {
    for (const auto& requests : {small, large, ranges}) {
      h.server.faults().clear();
      h.server.faults().add({.verb = "objects.media", .count = 3, .action = fault::refuse{503}});
      h.server.faults().add({.verb = "objects.media",
                             .count = 0,
                             .action = fault::stall{.where = fault::point::before_reply}});
      get_many_request how{.bucket = "bkt", .limits = {.timeout = 400ms}};
      if (stop) how.on_error = dataflux::get_on_error::stop;
      getter items(*h.context, how, requests);
      auto end = items.next();
      REQUIRE_FALSE(end);
      INFO(end.error().to_string());
      CHECK(end.error().code() == errc::deadline_exceeded);
      CHECK(end.error().http_status() == 503);
      CHECK(end.error().attempts() > 1);
      CHECK(end.error().bucket() == "bkt");
      CHECK(end.error().object() == requests[0].object);
      CHECK(end.error().message().find("timeout has passed") != std::string::npos);
      CHECK(end.error().message().find(" met: ") != std::string::npos);
    }
  }
}

TEST_CASE("getter: over a socket, several streams with a small cap", "[integration]") {
  harness h({.memory_cap = 200'000, .slice = 20'000});
  h.prepare();
  std::atomic<std::uint64_t> right{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      for (int round = 0; round < 5; ++round) {
        std::vector<get_request> requests(h.requests.begin(), h.requests.begin() + 61);
        getter items(*h.context, {.bucket = "bkt"}, requests);
        for (auto item = items.next(); item && *item; item = items.next()) {
          right += h.right(**item) ? 1U : 0U;
        }
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  CHECK(right == 3 * 5 * 61);
  CHECK(h.context->counters().peak_held <= 200'000);
  CHECK(h.context->counters().held == 0);
}

}  // namespace getter_test
