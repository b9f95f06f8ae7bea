#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/impatient_client.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace get_composite_test {

// Composites over a socket: requests end on several I/O threads, and the client repeats them.
namespace {

using namespace std::chrono_literals;
using dataflux::compose_options;
using dataflux::errc;
using dataflux::get_order;
using dataflux::get_request;
using dataflux::getter;
using dataflux::transfer_context;
namespace fault = emulator::fault;
namespace gcs = dataflux::gcs;

struct log_lines final : dataflux::observer {
  void on_log(dataflux::log_level, std::string_view line) noexcept override {
    std::scoped_lock lock(mutex);
    lines.emplace_back(line);
  }
  std::mutex mutex{};
  std::vector<std::string> lines{};
};

struct harness {
  explicit harness(emulator::bucket_settings settings = {}) : server({.threads = 2}) {
    // What is written while the settings forbid it has to be there before.
    server.service().store().create_bucket("bkt", {});
    for (int i = 0; i < 400; ++i) {
      const std::string name = "o" + std::to_string(i);
      std::string body(static_cast<std::size_t>(200 + i % 7 * 300), '\0');
      for (std::size_t k = 0; k < body.size(); ++k) {
        body[k] = static_cast<char>(k * 7 + k / 251 + static_cast<std::size_t>(i));
      }
      get_request r;
      r.object = name;
      r.object_size = body.size();
      r.crc32c = dataflux::crc32c(dataflux::as_bytes(body));
      r.generation = server.put("bkt", name, body);
      requests.push_back(r);
      bodies.push_back(std::move(body));
    }
    server.service().store().configure("bkt", {},
                                       [&](emulator::bucket_settings& now) { now = settings; });
    client = impatient_client(server, 12);
    context.emplace(*client,
                    dataflux::transfer_options{.slice = 20'000, .concurrency = {.max = 8}});
  }
  ~harness() { context.reset(); }
  harness(const harness&) = delete;
  harness& operator=(const harness&) = delete;

  dataflux::get_many_request options(get_order order = get_order::as_asked) {
    return {.bucket = "bkt",
            .order = order,
            .compose = compose_options{.min_objects = 2, .observer = &log}};
  }
  /// Reads everything, those in `lost` must fail.
  void read_right(get_order order = get_order::as_asked,
                  const std::map<std::uint64_t, errc>& lost = {}) {
    getter items(*context, options(order), requests);
    std::uint64_t n = 0;
    while (auto item = items.next().value()) {
      INFO(item->index << " " << (item->failure ? item->failure->to_string() : ""));
      if (order == get_order::as_asked) CHECK(item->index == n);
      ++n;
      const auto wrong = lost.find(item->index);
      REQUIRE(item->failure.has_value() == (wrong != lost.end()));
      if (item->failure) {
        CHECK(item->failure->code() == wrong->second);
        continue;
      }
      CHECK(dataflux::as_text(item->bytes) == bodies[item->index]);
      CHECK(item->verified);
      CHECK(item->generation == requests[item->index].generation);
    }
    CHECK(n == requests.size());
  }
  /// Composites of any generation, live or not.
  std::size_t orphans() {
    server.faults().clear();
    return client
        ->list_page({.bucket = "bkt",
                     .prefix = std::string(dataflux::detail::composed_objects_prefix),
                     .versions = true})
        .value()
        .objects.size();
  }
  void inflict(std::string verb, fault::action action, std::uint64_t from = 1,
               std::uint64_t count = 1, double probability = 1) {
    server.faults().add({.verb = std::move(verb),
                         .object = "dataflux-composed-objects/*",
                         .from = from,
                         .count = count,
                         .probability = probability,
                         .action = std::move(action)});
  }

  emulator::server server;
  std::vector<std::string> bodies{};
  std::vector<get_request> requests{};
  log_lines log{};
  std::shared_ptr<gcs::client> client{};
  std::optional<transfer_context> context{};
};

}  // namespace

TEST_CASE("get_composite: over a socket", "[integration]") {
  const bool versions = GENERATE(false, true);
  harness h({.versioning = versions});
  h.read_right();
  h.read_right(get_order::as_ready);
  CHECK(h.context->counters().composites > 10);
  CHECK(h.context->counters().composites_left == 0);
  CHECK(h.orphans() == 0);
  CHECK(h.log.lines.empty());
}

TEST_CASE("get_composite: over a socket, whatever becomes of single requests", "[integration]") {
  harness h;
  const std::pair<std::string, fault::action> troubles[]{
      {"objects.compose", fault::lose_reply{}},
      {"objects.compose", fault::lose_reply{.reset = false}},
      {"objects.compose", fault::execute_twice{}},
      {"objects.compose", fault::cut{.where = fault::point::before_reply}},
      {"objects.compose", fault::cut{.where = fault::point::in_head}},
      {"objects.compose", fault::cut{.where = fault::point::in_body, .body_bytes = 10}},
      {"objects.compose", fault::refuse{503}},
      {"objects.compose", fault::refuse{429}},
      {"objects.compose", fault::refuse{412}},
      {"objects.compose", fault::refuse{404}},
      {"objects.compose", fault::delay{20ms}},
      {"objects.media", fault::refuse{429}},
      {"objects.media", fault::refuse{503}},
      {"objects.media", fault::refuse{404}},
      {"objects.media", fault::flip_byte{50}},
      {"objects.media", fault::wrong_hash{}},
      {"objects.media", fault::cut{.where = fault::point::in_body, .body_bytes = 5'000}},
      {"objects.delete", fault::refuse{503}},
      {"objects.delete", fault::refuse{429}},
      {"objects.delete", fault::lose_reply{}},
      {"objects.delete", fault::cut{.where = fault::point::before_reply}}};
  for (std::size_t i = 0; i < std::size(troubles); ++i) {
    INFO(i << " " << troubles[i].first);
    h.inflict(troubles[i].first, troubles[i].second, 1, 0, 0.3);
    h.read_right(i % 2 == 0 ? get_order::as_asked : get_order::as_ready);
    CHECK(h.server.faults().hits() > 0);
    CHECK(h.context->counters().composites_left == 0);
    CHECK(h.orphans() == 0);
  }
  for (const std::string& line : h.log.lines) FAIL_CHECK(line);
}

TEST_CASE("get_composite: over a socket, a compose that never answers", "[integration]") {
  harness h;
  SECTION("and was carried out") { h.inflict("objects.compose", fault::lose_reply{}, 1, 12); }
  SECTION("and was not") {
    h.inflict("objects.compose", fault::cut{.where = fault::point::before_reply}, 1, 12);
  }
  SECTION("or whose object cannot be looked at for a while") {
    h.inflict("objects.compose", fault::lose_reply{}, 1, 1);
    h.inflict("objects.get", fault::refuse{503}, 1, 4);
  }
  h.read_right();
  CHECK(h.context->counters().composites > 0);
  CHECK(h.context->counters().composites_left == 0);
  CHECK(h.orphans() == 0);
}

TEST_CASE("get_composite: over a socket, buckets that forbid it", "[integration]") {
  SECTION("no writes") {
    harness h({.read_only = true});
    h.read_right();
    CHECK(h.context->counters().composites == 0);
    REQUIRE(h.log.lines.size() == 1);
    CHECK(h.log.lines[0].find("one by one") != std::string::npos);
    CHECK(h.orphans() == 0);
  }
  SECTION("no removal: one is left, and told") {
    harness h({.no_delete = true});
    h.read_right();
    CHECK(h.context->counters().composites == 1);
    CHECK(h.context->counters().composites_left == 1);
    CHECK(h.log.lines.size() == 2);
    CHECK(h.orphans() == 1);
  }
}

TEST_CASE("get_composite: over a socket, sources that changed", "[integration]") {
  harness h;
  h.server.put("bkt", "o100", "longer than it was when it was listed");
  REQUIRE(h.client->remove({.bucket = "bkt", .object = "o200"}));
  REQUIRE(h.client->insert({.bucket = "bkt",
                            .object = "o300",
                            .data = dataflux::as_bytes(h.bodies[300]),
                            .attributes = {.storage_class = "NEARLINE"}}));
  h.requests[300].generation =
      h.client->stat({.bucket = "bkt", .object = "o300"}).value().generation;
  h.read_right(get_order::as_asked, {{100, errc::not_found}, {200, errc::not_found}});
  CHECK(h.context->counters().composites > 0);
  CHECK(h.orphans() == 0);
  CHECK(h.log.lines.empty());
}

TEST_CASE("get_composite: over a socket, dropped at any time, nothing stays", "[integration]") {
  harness h;
  std::uint64_t composed = 0;
  for (int round = 0; round < 40; ++round) {
    INFO(round);
    {
      getter items(*h.context, h.options(), h.requests);
      if (round % 2 == 0) std::this_thread::sleep_for(round * 100us);
      for (int i = 0; i < round * 5; ++i) static_cast<void>(items.next().value());
      if (round % 3 == 0) items.cancel();
    }
    composed = h.context->counters().composites;
    CHECK(h.orphans() == 0);
  }
  CHECK(composed > 20);
  CHECK(h.context->counters().composites_left == 0);
  CHECK(h.log.lines.empty());
}

}  // namespace get_composite_test
