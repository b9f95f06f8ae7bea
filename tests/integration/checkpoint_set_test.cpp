#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/checkpoint_sets.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/impatient_client.hpp>
#include <support/run_child.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace checkpoint_set_test {

// Sets over a socket, with what can become of their requests.
namespace {

namespace fault = emulator::fault;
namespace gcs = dataflux::gcs;
using namespace std::chrono_literals;
using dataflux::errc;
using dataflux::member_record;

const std::string folder = "run/step-1/";
const std::string marker = folder + ".dataflux-complete";
const std::string manifests = folder + ".dataflux-set-*";

struct harness {
  harness() : server({.threads = 2}) {
    server.create_bucket("bkt");
    client = make_client();
    context.emplace(*client);
  }
  std::shared_ptr<gcs::client> make_client() const { return impatient_client(server); }
  member_record put(const std::string& name, const std::string& body) {
    const std::uint32_t crc = dataflux::crc32c(dataflux::as_bytes(body));
    return {.name = name,
            .size = body.size(),
            .generation = server.put("bkt", folder + name, body),
            .crc32c = crc,
            .parts = {{body.size(), crc}}};
  }
  std::vector<member_record> put_members(std::size_t count) {
    std::vector<member_record> all;
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(put("rank-" + std::to_string(i), "state of " + std::to_string(i)));
    }
    return all;
  }
  dataflux::checkpoint_set set() const { return {*context, "bkt", folder}; }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    const auto page = client->list_page({.bucket = "bkt"}).value();
    for (const auto row : page.objects) all.emplace_back(row.name);
    return all;
  }
  std::size_t count(std::string_view pattern) const {
    const auto all = names();
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const auto& name) {
      return emulator::matches_pattern(pattern, name);
    }));
  }

  emulator::server server;
  std::shared_ptr<gcs::client> client{};
  std::optional<dataflux::transfer_context> context{};
};

/// All that can become of an insert.
const fault::action broken_inserts[]{
    fault::refuse{503},
    fault::refuse{429},
    fault::refuse{408},
    fault::send{.status = 502, .body = "<html>Bad Gateway</html>"},
    fault::cut{.where = fault::point::before_reply},
    fault::cut{.where = fault::point::before_reply, .reset = false},
    fault::cut{.where = fault::point::in_head},
    fault::cut{.where = fault::point::in_body, .body_bytes = 20},
    fault::lose_reply{},
    fault::lose_reply{.reset = false},
    fault::wrong_hash{},
    fault::flip_byte{3},
    fault::execute_twice{},
    fault::drip{.bytes = 100, .interval = 1ms},
    fault::expire_tokens{},
    fault::refuse{403},
    fault::stall{.where = fault::point::before_reply, .duration = 50ms},
    fault::stall{.where = fault::point::before_reply},
    fault::stall{.where = fault::point::in_body, .body_bytes = 10}};

constexpr std::size_t too_many = 1;
/// So many of them do no harm if they come but once.
constexpr std::size_t mended = 10;

/// What must hold whatever has been broken.
void check_state(harness& h, const dataflux::result<dataflux::committed_set>& done) {
  const auto opened = h.set().open();
  if (done) INFO("committed");
  if (!done) INFO(done.error().to_string());
  CHECK(opened.has_value() == (h.count(marker) == 1));
  if (done) CHECK(opened);
  if (!opened) CHECK(opened.error().code() == errc::failed_precondition);
  const std::size_t orphans = h.count(manifests) - (opened ? 1 : 0);
  const bool told = !done && done.error().message().find("manifest") != std::string::npos;
  CHECK(orphans <= 1);
  CHECK((orphans == 0 || told));
}

}  // namespace

TEST_CASE("checkpoint_set: over a socket, whatever becomes of single requests", "[integration]") {
  for (const std::string& object : {manifests, marker}) {
    for (std::size_t i = 0; i < std::size(broken_inserts); ++i) {
      for (const std::uint64_t times : {1U, 0U}) {
        const bool stalls = i + 2 >= std::size(broken_inserts);
        if (stalls && times != 1) continue;  // takes long
        // A service that asks for fewer requests is waited for as long as the caller likes.
        if (i == too_many && times == 0) continue;
        harness h;
        const auto records = h.put_members(3);
        h.server.faults().add({.verb = "objects.insert",
                               .object = object,
                               .count = times,
                               .action = broken_inserts[i]});
        INFO(object << ' ' << i << ' ' << times);
        const auto done = h.set().commit(records, {.data = dataflux::as_bytes("last")});
        CHECK(h.server.faults().hits() > 0);
        h.server.faults().clear();
        check_state(h, done);
        if (times == 1 && i < mended) CHECK((done && h.names().size() == 5));
        if (done) continue;
        const bool there = h.count(marker) == 1;
        CHECK(h.set().commit(records).has_value() == !there);
      }
    }
  }
}

TEST_CASE("checkpoint_set: over a socket, broken listings and reads", "[integration]") {
  harness h;
  const auto records = h.put_members(30);
  h.server.faults().add(
      {.verb = "objects.list", .count = 0, .probability = 0.1, .action = fault::refuse{503}});
  h.server.faults().add(
      {.verb = "objects.list", .count = 0, .probability = 0.5, .action = fault::short_page{3}});
  h.server.faults().add({.verb = "objects.media",
                         .count = 0,
                         .probability = 0.1,
                         .action = fault::cut{.where = fault::point::in_body, .body_bytes = 99}});
  h.server.faults().add(
      {.verb = "objects.delete", .count = 0, .probability = 0.3, .action = fault::lose_reply{}});
  REQUIRE(h.set().commit(records));
  for (int i = 0; i < 10; ++i) CHECK(h.set().open().value().members().size() == 30);
  CHECK(dataflux::list_checkpoint_sets(*h.client, {.bucket = "bkt", .prefix = "run"})
            .value()
            .complete.size() == 1);
  const auto removed =
      dataflux::remove_checkpoint_set(*h.client, {.bucket = "bkt", .prefix = folder});
  REQUIRE(removed);
  CHECK(removed->objects == 32);
  CHECK(h.names().empty());
}

TEST_CASE("checkpoint_set: over a socket, of many who commit at once exactly one wins",
          "[integration]") {
  harness h;
  const auto other = h.make_client();
  const dataflux::transfer_context others(*other);
  for (int round = 0; round < 15; ++round) {
    const auto records = h.put_members(4);
    if (round % 3 == 2) {
      h.server.faults().clear();
      h.server.faults().add({.verb = "objects.insert",
                             .object = marker,
                             .count = 0,
                             .probability = 0.5,
                             .seed = static_cast<std::uint64_t>(round),
                             .action = fault::lose_reply{}});
    }
    std::vector<dataflux::operation<dataflux::committed_set>> all;
    for (std::size_t i = 1; i <= 4; ++i) {
      const auto& context = i % 2 == 0 ? others : *h.context;
      const dataflux::checkpoint_set set(context, "bkt", folder);
      all.push_back(set.submit_commit({records.data(), records.data() + i}));
    }
    std::size_t winner = 0;
    for (std::size_t i = 1; i <= 4; ++i) {
      const auto done = all[i - 1].take();
      if (!done) CHECK(done.error().code() == errc::already_exists);
      if (!done) continue;
      CHECK(winner == 0);
      winner = i;
    }
    h.server.faults().clear();
    REQUIRE(winner != 0);
    CHECK(h.set().open().value().members().size() == winner);
    CHECK(h.names().size() == 6);
    REQUIRE(dataflux::remove_checkpoint_set(*h.client, {.bucket = "bkt", .prefix = folder}));
  }
}

TEST_CASE("checkpoint_set: over a socket, 2,500 members", "[integration]") {
  harness h;
  const auto records = h.put_members(2'500);
  h.put("stranger", "x");
  const auto done = h.set().commit(records, {.name = ".metadata"});
  REQUIRE(done);
  CHECK(done->members == 2'500);
  const auto opened = h.set().open();
  REQUIRE(opened);
  CHECK(opened->members().size() == 2'500);
  CHECK(opened->info().last == ".metadata");
  h.put("rank-2222", "of another state");
  const auto damaged = h.set().open();
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().message().find("\"rank-2222\" has changed") != std::string::npos);
  const auto list = dataflux::list_checkpoint_sets(*h.client, {.bucket = "bkt", .prefix = ""});
  REQUIRE(list);
  CHECK(list->complete.empty());
  CHECK(list->damaged.size() == 1);
  const auto removed =
      dataflux::remove_checkpoint_set(*h.client, {.bucket = "bkt", .prefix = "run"});
  REQUIRE(removed);
  CHECK(removed->objects == 2'503);
  CHECK(h.names().empty());
}

TEST_CASE("checkpoint_set: over a socket, members by many writers of two clients",
          "[integration]") {
  harness h;
  const auto other = h.make_client();
  const dataflux::transfer_context others(*other);
  constexpr std::size_t ranks = 6;
  const std::size_t sizes[ranks]{0, 1, 100'000, 5 << 20, (12 << 20) + 7, (10 << 20)};
  const auto body = [&](std::size_t rank) {
    std::string text(sizes[rank], '\0');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * (rank + 3) / 7);
    return text;
  };
  std::vector<std::string> texts(ranks);  // as they come from other processes
  std::vector<std::thread> writers;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    writers.emplace_back([&, rank] {
      const dataflux::checkpoint_set set(rank % 2 == 0 ? others : *h.context, "bkt", folder);
      auto writer = set.open_member("rank-" + std::to_string(rank), {.part_size = 5 << 20});
      if (!writer || !writer->write(dataflux::as_bytes(body(rank)))) return;
      const auto made = writer->commit();
      if (made) texts[rank] = to_text(set.record_of(*made).value());
    });
  }
  for (std::thread& writer : writers) writer.join();
  std::vector<member_record> records;
  for (const std::string& text : texts) {
    records.push_back(dataflux::parse_member_record(text).value());
  }
  CHECK(records[0].parts.empty());
  CHECK(records[1].parts.size() == 1);
  CHECK(records[4].parts.size() == 3);
  CHECK(h.server.get("bkt", folder + "rank-4") == body(4));
  {
    const auto dropped = h.set().open_member("rank-9");
    REQUIRE(dropped);
  }
  REQUIRE(h.set().commit(records, {.data = dataflux::as_bytes("the last")}));
  CHECK(h.names().size() == ranks + 2);

  const auto saved = h.set().open();
  REQUIRE(saved);
  CHECK(saved->members().size() == ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    auto reader = saved->open("rank-" + std::to_string(rank));
    REQUIRE(reader);
    REQUIRE(reader->size() == sizes[rank]);
    std::vector<std::byte> memory(sizes[rank]);
    REQUIRE(reader->read_all(memory));
    CHECK(reader->verified());
    CHECK(dataflux::as_text(memory) == body(rank));
  }
  auto last = saved->open(".dataflux-complete");
  REQUIRE(last);
  std::vector<std::byte> memory(8);
  REQUIRE(last->read_all(memory));
  CHECK(dataflux::as_text(memory) == "the last");
  CHECK(saved->open("rank-9").error().code() == errc::not_found);
  // A bit that has changed in the second part is found by a range that begins there.
  h.server.faults().add({.verb = "objects.media",
                         .object = folder + "rank-4",
                         .count = 0,
                         .action = fault::flip_byte{1'000}});
  auto damaged = saved->open("rank-4");
  REQUIRE(damaged);
  std::vector<std::byte> some(2'000);
  CHECK(damaged->read_at(5 << 20, some).error().code() == errc::data_loss);
  h.server.faults().clear();
  h.put("rank-4", body(4));
  CHECK_FALSE(saved->open("rank-4"));
}

TEST_CASE("checkpoint_set: over a socket, a save goes on where another was killed (mend 9)",
          "[integration]") {
  harness h;
  const auto save = [&](const std::string& name, std::size_t size) {
    auto writer = h.set().open_member(name, {.part_size = 5 << 20});
    REQUIRE(writer);
    REQUIRE(writer->write(dataflux::as_bytes(std::string(size, 'x'))));
    return writer->commit();
  };
  REQUIRE(h.set().begin());
  REQUIRE(save("rank-0", 100));
  REQUIRE(save("deep/rank-1", 6U << 20U));  // in parts
  // It was killed here.
  const auto list =
      dataflux::list_checkpoint_sets(*h.client, {.bucket = "bkt", .prefix = "run"}).value();
  REQUIRE(list.unfinished.size() == 1);
  CHECK(list.unfinished[0].prefix == "run/step-1/");
  CHECK(list.unfinished[0].objects == 2);
  CHECK(list.unfinished[0].bytes == 100 + (6U << 20U));
  REQUIRE(list.unfinished[0].age);
  CHECK(save("rank-0", 100).error().code() == errc::already_exists);
  CHECK(h.set().begin().error().code() == errc::already_exists);
  const auto room = h.set().begin(dataflux::unfinished_members::replace);
  REQUIRE(room);
  CHECK(room->objects == 2);
  const auto made = save("rank-0", 100);
  REQUIRE(made);
  REQUIRE(h.set().commit({h.set().record_of(*made).value()}));
  CHECK(h.set().open());
  CHECK(dataflux::list_checkpoint_sets(*h.client, {.bucket = "bkt", .prefix = "run"})
            .value()
            .unfinished.empty());
}

TEST_CASE("checkpoint_set: over a socket, a member does not replace another but on request",
          "[integration]") {
  harness h;
  REQUIRE(h.set().commit(h.put_members(3)));
  auto writer = h.set().open_member("rank-1");
  REQUIRE(writer);
  REQUIRE(writer->write(dataflux::as_bytes("new")));
  const auto refused = writer->commit();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::already_exists);
  CHECK(refused.error().message().find("unfinished = replace") != std::string::npos);
  CHECK(h.set().open());

  auto replacing = h.set().replace_member("rank-1");
  REQUIRE(replacing);
  REQUIRE(replacing->write(dataflux::as_bytes("new")));
  const auto made = replacing->commit();
  REQUIRE(made);
  CHECK(h.set().record_of(*made).value().size == 3);
  CHECK(h.set().open().error().message().find("\"rank-1\" has changed") != std::string::npos);
  CHECK(h.set().open_member("/x").error().code() == errc::invalid_argument);
  CHECK(h.set().open_member(".dataflux-x").error().code() == errc::invalid_argument);
}

#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes
TEST_CASE("checkpoint_set: in the child of a fork every call is refused", "[integration]") {
  harness h;
  const auto records = h.put_members(3);
  REQUIRE(h.set().commit(records));
  const int bad = run_child([&] {
    const auto refused = [](const auto& outcome) {
      return !outcome && outcome.error().code() == errc::failed_precondition;
    };
    if (!refused(h.set().open())) return 1;
    if (!refused(h.set().commit(records))) return 2;
    if (!refused(dataflux::list_checkpoint_sets(*h.client, {.bucket = "bkt", .prefix = ""})))
      return 3;
    if (!refused(
            dataflux::keep_last_checkpoint_sets(*h.client, {.bucket = "bkt", .prefix = "run"})))
      return 4;
    if (!refused(dataflux::remove_checkpoint_set(*h.client, {.bucket = "bkt", .prefix = "run"})))
      return 5;
    return 0;
  });
  CHECK(bad == 0);
  CHECK(h.set().open());
}
#endif

}  // namespace checkpoint_set_test
