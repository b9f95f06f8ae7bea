#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/store/detail/reserved_prefixes.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/upload_faults.hpp>
#include <support/verb_driver.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace checkpoint_writer_test {

// Saving while everything goes wrong that can: there is the old object or the new one, whole, and
// nothing else but what the error names.
namespace {

using namespace std::chrono_literals;
using dataflux::as_bytes;
using dataflux::checkpoint_writer;
using dataflux::commit_mode;
using dataflux::transfer_context;
using dataflux::upload_path;
namespace fault = emulator::fault;
namespace gcs = dataflux::gcs;

using upload_faults::large_body;
using upload_faults::old_body;
using upload_faults::part;

struct service {
  emulator::server server{{.threads = 1, .service = {.log_limit = 0}}};
  std::shared_ptr<gcs::client> looker{
      gcs::client::create(quick_options(server, std::chrono::seconds(30))).value()};

  std::string orphans(const std::string& bucket) {
    return upload_faults::orphans(*looker, bucket, "ckpt/o");
  }
};

dataflux::result<dataflux::committed_object> save(gcs::client& client, const std::string& bucket,
                                                  std::string_view body, commit_mode mode) {
  const transfer_context context(client, {.upload_memory = 4 * part});
  auto writer = checkpoint_writer::open(
      context, {.bucket = bucket, .object = "ckpt/o", .mode = mode, .part_size = part});
  if (!writer) return writer.error();
  for (std::size_t at = 0; at < body.size(); at += 700'000) {
    if (!writer->write(as_bytes(body.substr(at, 700'000)))) break;
  }
  return writer->commit();
}

enum class way { insert, staged, direct, resumable };
constexpr std::string_view way_names[] = {"insert", "staged", "direct", "resumable"};

struct cell {
  way how;
  std::string_view verb;
  std::string_view name;
  fault::action action;
  std::uint64_t count;  ///< requests hit; 0: all
  std::uint64_t from{1};
  std::optional<std::uint64_t> request_bytes{};
};

std::vector<cell> all_cells() {
  struct step {
    way how;
    std::string_view verb;
    std::uint64_t from{1};
  };
  const step steps[] = {
      {way::insert, "objects.get"},        {way::insert, "objects.insert"},
      {way::staged, "objects.get"},        {way::staged, "objects.delete"},
      {way::staged, "buckets.get"},        {way::staged, "objects.move"},
      {way::staged, "objects.move", 2},    {way::staged, "multipart.initiate"},
      {way::staged, "multipart.part"},     {way::staged, "multipart.part", 3},
      {way::staged, "multipart.complete"}, {way::direct, "objects.get", 2},
      {way::direct, "multipart.initiate"}, {way::direct, "multipart.part", 2},
      {way::direct, "multipart.complete"}, {way::resumable, "resumable.start"},
      {way::resumable, "resumable.chunk"}, {way::resumable, "resumable.chunk", 3},
  };
  std::vector<cell> cells;
  for (const step& s : steps) {
    for (const upload_faults::named_fault& f : upload_faults::all()) {
      for (const std::uint64_t count : {1U, 0U}) {
        cells.push_back({s.how, s.verb, f.name, f.action, count, s.from, f.request_bytes});
      }
    }
  }
  return cells;
}

/// What is wrong about a run; empty when nothing is.
std::string verify(service& s, const std::string& bucket, std::string_view body,
                   const dataflux::result<dataflux::committed_object>& made, const cell& c) {
  const auto there = s.server.get(bucket, "ckpt/o");
  const bool is_new = there && *there == body;
  const bool is_old = there && *there == old_body;
  // Who goes direct has the object seen before it is compared; one that is not right is removed.
  const bool removed =
      !there && !made && c.how != way::staged &&
      made.error().message().find("damaged object was removed") != std::string::npos;
  if (!is_new && !is_old && !removed) return "neither the old object nor the new one";
  if (made && !is_new) return "committed, and the old object is there";
  const std::string left = s.orphans(bucket);
  // A request that the network doubles gets the second answer: an upload that nobody knows of.
  const bool doubled = c.name == "carried out twice" && c.verb == "multipart.initiate";
  const bool told = !made && made.error().message().find("uploads list") != std::string::npos;
  if (!left.empty() && !told && !doubled) return "left behind: " + left;
  return {};
}

std::string run_cell(service& s, const cell& c, int number) {
  const std::string bucket = "cell-" + std::to_string(number);
  s.server.faults().clear();
  s.server.put(bucket, "ckpt/o", old_body);
  s.server.faults().add({.verb = std::string(c.verb),
                         .bucket = bucket,
                         .from = c.from,
                         .count = c.count,
                         .request_bytes = c.request_bytes,
                         .action = c.action});
  if (c.how == way::resumable) {
    s.server.faults().add(
        {.verb = "multipart.initiate", .bucket = bucket, .count = 0, .action = fault::refuse{403}});
  }
  const std::string_view body = c.how == way::insert ? std::string_view("a small new object")
                                                     : std::string_view(large_body());
  // A client of its own, lest a connection that one fault has spoilt surprise the next.
  auto options = quick_options(s.server, 700ms);
  options.retry.max_elapsed = 2s;  // rates that are refused for ever
  const auto client = gcs::client::create(options).value();
  const auto made =
      save(*client, bucket, body, c.how == way::direct ? commit_mode::direct : commit_mode::staged);
  s.server.faults().clear();
  std::string wrong = verify(s, bucket, body, made, c);
  s.server.put(bucket, "ckpt/o", old_body);  // or all cells' bytes would be kept, 6 GB
  if (!wrong.empty()) wrong += made ? " (committed)" : " (" + made.error().to_string() + ")";
  return wrong;
}

}  // namespace

TEST_CASE("checkpoint_writer: every fault at every request, the old object or the new one",
          "[checkpoint]") {
  const std::string objections =
      upload_faults::run_all<service>(all_cells(), run_cell, [](const cell& c) {
        return std::string(way_names[static_cast<int>(c.how)]) + " / " + std::string(c.verb) +
               " from " + std::to_string(c.from) + (c.count == 0 ? ", always" : "") + " / " +
               std::string(c.name);
      });
  CHECK(objections == "");
}

TEST_CASE("checkpoint_writer: over a socket, each way", "[checkpoint]") {
  for (const way how : {way::insert, way::staged, way::direct, way::resumable}) {
    service s;
    s.server.put("bkt", "ckpt/o", old_body);
    if (how == way::resumable) {
      s.server.faults().add(
          {.verb = "multipart.initiate", .count = 0, .action = fault::refuse{403}});
    }
    const std::string_view body = how == way::insert ? std::string_view("a small new object")
                                                     : std::string_view(large_body());
    const auto made = save(*s.looker, "bkt", body,
                           how == way::direct ? commit_mode::direct : commit_mode::staged);
    REQUIRE(made);
    CHECK(made->path == (how == way::insert      ? upload_path::insert
                         : how == way::resumable ? upload_path::resumable
                                                 : upload_path::multipart));
    CHECK(made->mode == (how == way::staged ? commit_mode::staged : commit_mode::direct));
    CHECK(made->fallback.empty() == (how != way::resumable));
    CHECK(s.server.get("bkt", "ckpt/o") == body);
    CHECK(made->object.size == body.size());
    CHECK(s.orphans("bkt").empty());
  }
}

TEST_CASE("checkpoint_writer: an object that must not be there is, whichever way", "[checkpoint]") {
  for (const way how : {way::insert, way::staged, way::direct, way::resumable}) {
    // There from the beginning, or made by another meanwhile.
    for (const bool early : {true, false}) {
      INFO(way_names[static_cast<int>(how)] << (early ? ", early" : ", late"));
      service s;
      s.server.create_bucket("bkt");
      if (early) s.server.put("bkt", "ckpt/o", old_body);
      if (how == way::resumable) {
        s.server.faults().add(
            {.verb = "multipart.initiate", .count = 0, .action = fault::refuse{403}});
      }
      const transfer_context context(*s.looker, {.upload_memory = 4 * part});
      auto writer = checkpoint_writer::open(
          context, {.bucket = "bkt",
                    .object = "ckpt/o",
                    .mode = how == way::direct ? commit_mode::direct : commit_mode::staged,
                    .if_generation_match = 0,
                    .part_size = part});
      REQUIRE(writer);
      const std::string_view body = how == way::insert ? std::string_view("a small new object")
                                                       : std::string_view(large_body());
      // A session that is begun in vain is told of here already.
      const auto wrote = writer->write(as_bytes(body));
      if (!wrote) CHECK(wrote.error().code() == dataflux::errc::already_exists);
      if (!early) s.server.put("bkt", "ckpt/o", old_body);
      const auto made = writer->commit();
      REQUIRE_FALSE(made);
      CHECK(made.error().code() == dataflux::errc::already_exists);
      CHECK(made.error().object() == "ckpt/o");
      CHECK(s.server.get("bkt", "ckpt/o") == old_body);
      CHECK(s.orphans("bkt").empty());
    }
  }
}

TEST_CASE("checkpoint_writer: where nothing may be deleted it goes direct, and says so",
          "[checkpoint]") {
  service s;
  emulator::bucket_settings settings;
  settings.no_delete = true;
  s.server.service().store().create_bucket("bkt", settings);
  const auto made = save(*s.looker, "bkt", large_body(), commit_mode::staged);
  REQUIRE(made);
  CHECK(made->mode == commit_mode::direct);
  CHECK(made->fallback.find("may not be removed or moved") != std::string::npos);
  CHECK(s.server.get("bkt", "ckpt/o") == large_body());
  CHECK(s.orphans("bkt").empty());
}

TEST_CASE("checkpoint_writer: where the bucket lets nothing go it goes direct (mend 3)",
          "[checkpoint]") {
  emulator::bucket_settings retains;
  retains.retention = 1h;
  emulator::bucket_settings holds;
  holds.default_event_based_hold = true;
  for (const auto& settings : {retains, holds}) {
    service s;
    s.server.service().store().create_bucket("bkt", settings);
    const auto made = save(*s.looker, "bkt", large_body(), commit_mode::staged);
    REQUIRE(made);
    CHECK(made->mode == commit_mode::direct);
    CHECK(made->fallback.find(settings.retention ? "retention policy" : "hold") !=
          std::string::npos);
    CHECK(s.server.get("bkt", "ckpt/o") == large_body());
    CHECK(s.orphans("bkt").empty());
  }
}

TEST_CASE("checkpoint_writer: a refused move is made up for by a copy (mend 3)", "[checkpoint]") {
  service s;
  emulator::bucket_settings settings;
  settings.retention = 1h;
  s.server.service().store().create_bucket("bkt", settings);
  s.server.faults().add({.verb = "buckets.get", .count = 0, .action = fault::refuse{403}});
  const auto made = save(*s.looker, "bkt", large_body(), commit_mode::staged);
  REQUIRE(made);
  CHECK(made->mode == commit_mode::staged);
  CHECK(made->fallback.find("left behind") != std::string::npos);
  CHECK(s.server.get("bkt", "ckpt/o") == large_body());
  CHECK(s.orphans("bkt").find("dataflux-uploads/") == 0);
}

TEST_CASE("checkpoint_writer: a versioned bucket keeps no temporaries (mend 6)", "[checkpoint]") {
  for (const bool moves : {true, false}) {
    service s;
    emulator::bucket_settings settings;
    settings.versioning = true;
    s.server.service().store().create_bucket("bkt", settings);
    s.server.put("bkt", "ckpt/o", old_body);
    if (!moves) {
      s.server.faults().add(
          {.verb = "objects.move", .from = 2, .count = 0, .action = fault::refuse{412}});
    }
    // The temporary object is removed although the first reply to that is lost.
    s.server.faults().add({.verb = "objects.delete", .from = 2, .action = fault::lose_reply{}});
    CHECK(save(*s.looker, "bkt", large_body(), commit_mode::staged).has_value() == moves);
    const auto all = s.server.service().store().list("bkt", {.versions = true}).items;
    CHECK(all.size() == (moves ? 2U : 1U));
    for (const auto& each : all) CHECK(each->name == "ckpt/o");
  }
}

TEST_CASE("checkpoint_writer: an upload that cannot be aborted is named", "[checkpoint]") {
  service s;
  s.server.put("bkt", "ckpt/o", old_body);
  s.server.faults().add({.verb = "multipart.part", .count = 0, .action = fault::refuse{400}});
  s.server.faults().add({.verb = "multipart.abort", .count = 0, .action = fault::refuse{503}});
  const auto made = save(*s.looker, "bkt", large_body(), commit_mode::staged);
  s.server.faults().clear();
  REQUIRE_FALSE(made);
  CHECK(made.error().message().find("left behind") != std::string::npos);
  CHECK(made.error().object() == "ckpt/o");
  CHECK(s.server.get("bkt", "ckpt/o") == old_body);
  CHECK(s.orphans("bkt").find("upload of dataflux-uploads/") == 0);
}

TEST_CASE("checkpoint_writer: all attributes arrive, whichever way", "[checkpoint]") {
  for (const std::size_t size : {std::size_t{10}, 2 * part}) {
    service s;
    s.server.create_bucket("bkt");
    const transfer_context context(*s.looker, {.upload_memory = 4 * part});
    auto writer = checkpoint_writer::open(
        context, {.bucket = "bkt",
                  .object = "ckpt/o",
                  .attributes = {.content_type = "application/x-checkpoint",
                                 .metadata = {{"step", "7"}},
                                 .storage_class = "NEARLINE",
                                 .custom_time = dataflux::parse_timestamp("2026-01-02T03:04:05Z")},
                  .part_size = part});
    REQUIRE(writer);
    REQUIRE(writer->write(as_bytes(std::string_view(large_body()).substr(0, size))));
    REQUIRE(writer->commit());
    const auto object = s.looker->stat({.bucket = "bkt", .object = "ckpt/o"}).value();
    CHECK(object.content_type == "application/x-checkpoint");
    CHECK(object.metadata == std::vector<std::pair<std::string, std::string>>{{"step", "7"}});
    CHECK(object.storage_class == "NEARLINE");
    CHECK(object.custom_time == dataflux::parse_timestamp("2026-01-02T03:04:05Z"));
  }
}

TEST_CASE("checkpoint_writer: many threads, each its writer, one memory", "[checkpoint]") {
  service s;
  s.server.create_bucket("bkt");
  const transfer_context context(*s.looker, {.upload_memory = 6 * part});
  std::vector<std::thread> threads;
  std::atomic<int> committed{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      auto writer = checkpoint_writer::open(
          context, {.bucket = "bkt", .object = "m" + std::to_string(i), .part_size = part});
      if (!writer) return;
      for (std::size_t at = 0; at < large_body().size(); at += 1'000'000) {
        const auto bytes = as_bytes(std::string_view(large_body()).substr(at, 1'000'000));
        if (!(i % 2 == 0 ? writer->write(bytes) : writer->write_borrowed(bytes))) return;
      }
      if (i == 3) return;  // dropped
      committed += writer->commit() ? 1 : 0;
    });
  }
  for (auto& t : threads) t.join();
  CHECK(committed == 3);
  for (int i = 0; i < 3; ++i) CHECK(s.server.get("bkt", "m" + std::to_string(i)) == large_body());
  CHECK_FALSE(s.server.get("bkt", "m3"));
  CHECK(context.counters().upload_held == 0);
  CHECK(context.counters().upload_peak <= 6 * part);
}

TEST_CASE("checkpoint_writer: a slow service, a full memory, and writes with a time limit",
          "[checkpoint]") {
  service s;
  s.server.put("bkt", "ckpt/o", old_body);
  s.server.faults().add({.verb = "multipart.part", .count = 3, .action = fault::delay{1s}});
  const transfer_context context(*s.looker, {.upload_memory = 2 * part});
  auto writer =
      checkpoint_writer::open(context, {.bucket = "bkt", .object = "ckpt/o", .part_size = part});
  REQUIRE(writer);
  const std::string_view body = large_body();
  int late = 0;
  while (writer->written() < body.size()) {
    const std::uint64_t before = writer->written();
    const auto wrote = writer->write(as_bytes(body.substr(before)), {.timeout = 20ms});
    if (wrote) break;
    REQUIRE(wrote.error().code() == dataflux::errc::deadline_exceeded);
    ++late;
  }
  CHECK(late > 0);
  REQUIRE(writer->commit());
  CHECK(s.server.get("bkt", "ckpt/o") == body);
  CHECK(s.orphans("bkt").empty());
}

TEST_CASE("checkpoint_writer: tries and bells over a socket, two in one memory", "[checkpoint]") {
  service s;
  s.server.create_bucket("bkt");
  const transfer_context context(*s.looker, {.upload_memory = 3 * part});
  dataflux::completion_queue queue;
  const std::string_view body = large_body();
  struct one {
    checkpoint_writer writer;
    std::size_t at{0};
  };
  std::vector<one> both;
  for (const std::string name : {"a", "b"}) {
    both.push_back(
        {checkpoint_writer::open(context, {.bucket = "bkt", .object = name, .part_size = part})
             .value()});
    both.back().writer.notify(queue, both.size() - 1);
  }
  std::array<dataflux::completion_event, 2> events;
  while (both[0].at < body.size() || both[1].at < body.size()) {
    const std::size_t count = queue.next(events, 60s);
    REQUIRE(count > 0);
    for (std::size_t e = 0; e < count; ++e) {
      const std::uint64_t tag = events[e].tag;
      one& each = both[static_cast<std::size_t>(tag)];
      const auto some = each.writer.try_write(as_bytes(body.substr(each.at)));
      REQUIRE(some);
      each.at += *some;
      if (each.at < body.size()) each.writer.notify(queue, tag);
    }
  }
  for (one& each : both) CHECK(each.writer.commit({.timeout = 60s}));
  CHECK(s.server.get("bkt", "a") == body);
  CHECK(s.server.get("bkt", "b") == body);
}

TEST_CASE("checkpoint_writer: a stop ends a wait for a service that is silent", "[checkpoint]") {
  service s;
  s.server.put("bkt", "ckpt/o", old_body);
  s.server.faults().add({.verb = "multipart.part", .count = 0, .action = fault::stall{}});
  const transfer_context context(*s.looker, {.upload_memory = 2 * part});
  auto writer =
      checkpoint_writer::open(context, {.bucket = "bkt", .object = "ckpt/o", .part_size = part});
  REQUIRE(writer);
  // As far as the memory goes.
  const auto late = writer->write(as_bytes(large_body()), {.timeout = 200ms});
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == dataflux::errc::deadline_exceeded);
  std::stop_source stop;
  std::thread asks([&stop] { stop.request_stop(); });
  const auto wrote = writer->write(as_bytes(large_body()), {.stop = stop.get_token()});
  asks.join();
  REQUIRE_FALSE(wrote);
  CHECK(wrote.error().code() == dataflux::errc::cancelled);
  CHECK(writer->written() <= 2 * part);
  const auto made = writer->commit({.timeout = 100ms});
  REQUIRE_FALSE(made);
  CHECK(made.error().code() == dataflux::errc::deadline_exceeded);
  CHECK(s.server.get("bkt", "ckpt/o") == old_body);
  CHECK(s.orphans("bkt").empty());
}

}  // namespace checkpoint_writer_test
