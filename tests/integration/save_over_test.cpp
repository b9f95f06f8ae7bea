#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/checkpoint_sets.hpp>
#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/impatient_client.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace save_over_test {

// A set that is saved over and over, over a socket.
namespace {

namespace fault = emulator::fault;
namespace gcs = dataflux::gcs;
using namespace std::chrono_literals;
using dataflux::checkpoint_set;
using dataflux::errc;
using dataflux::member_record;

const std::string folder = "run/latest/";
const std::string marker = folder + ".dataflux-complete";

/// Members as `count` ranks write them, each by a record that travels as text.
dataflux::result<std::vector<member_record>> write(const checkpoint_set& set, std::size_t count,
                                                   const std::string& text) {
  std::vector<member_record> all;
  for (std::size_t rank = 0; rank < count; ++rank) {
    auto writer = set.open_member("rank-" + std::to_string(rank));
    if (!writer) return writer.error();
    const std::string state = text + std::to_string(rank);
    if (auto good = writer->write(dataflux::as_bytes(state)); !good) return good.error();
    const auto made = writer->commit();
    if (!made) return made.error();
    auto record = set.record_of(*made);
    if (!record) return record.error();
    all.push_back(dataflux::parse_member_record(to_text(*record)).value());
  }
  return all;
}

dataflux::result<dataflux::committed_set> save(const checkpoint_set& set, std::size_t count,
                                               const std::string& text) {
  const auto begun = set.begin_over();
  if (!begun) return begun.error();
  const checkpoint_set mine = set.over(dataflux::parse_save_over(to_text(*begun)).value());
  auto records = write(mine, count, text);
  if (!records) return records.error();
  return mine.commit(*std::move(records));
}

struct harness {
  harness() : server({.threads = 2}) {
    server.create_bucket("bkt");
    client = impatient_client(server);
    context.emplace(*client);
  }
  checkpoint_set set() const { return {*context, "bkt", folder}; }
  std::size_t objects() const {
    return client->list_page({.bucket = "bkt"}).value().objects.size();
  }
  /// What the members of the set that is there have in common, each of them read.
  std::string text() const {
    const auto saved = set().open();
    if (!saved) return saved.error().to_string();
    std::string common;
    for (const member_record& member : saved->members()) {
      auto reader = saved->open(member.name).value();
      std::string text(reader.size(), '\0');
      reader.read_all(std::as_writable_bytes(std::span(text))).value();
      text.resize(text.size() - 1);
      if (!common.empty() && common != text) return "members of two saves";
      common = text;
    }
    return common + ' ' + std::to_string(saved->members().size());
  }

  emulator::server server;
  std::shared_ptr<gcs::client> client{};
  std::optional<dataflux::transfer_context> context{};
};

}  // namespace

TEST_CASE("save_over: over a socket, again and again", "[integration]") {
  harness h;
  for (const char* text : {"first", "second", "third"}) {
    const auto done = save(h.set(), 4, text);
    REQUIRE(done);
    CHECK(done->replaced.failures.empty());
    CHECK(h.text() == std::string(text) + " 4");
    CHECK(h.objects() == 6);
  }
  const auto old = h.set().open().value();
  auto reader = old.open("rank-1").value();
  REQUIRE(save(h.set(), 2, "fourth"));
  std::vector<std::byte> memory(reader.size());
  for (const auto& gone : {reader.read_all(memory).error(), old.open("rank-0").error()}) {
    CHECK(gone.code() == errc::not_found);
    CHECK(gone.message().find("open it again") != std::string::npos);
  }
  CHECK(h.text() == "fourth 2");
}

TEST_CASE("save_over: over a socket, whatever becomes of the last object's insert",
          "[integration]") {
  const fault::action broken[]{
      fault::refuse{503},
      fault::refuse{429},
      fault::cut{.where = fault::point::before_reply},
      fault::cut{.where = fault::point::in_body, .body_bytes = 20},
      fault::lose_reply{},
      fault::execute_twice{},
      fault::refuse{403},
  };
  for (const fault::action& action : broken) {
    for (const std::uint64_t times : {1U, 0U}) {
      if (times == 0 && std::get_if<fault::refuse>(&action) != nullptr &&
          std::get<fault::refuse>(action).status == 429) {
        continue;  // a service that asks for fewer requests is waited for
      }
      harness h;
      REQUIRE(save(h.set(), 3, "old"));
      h.server.faults().add(
          {.verb = "objects.insert", .object = marker, .count = times, .action = action});
      const auto done = save(h.set(), 3, "new");
      CHECK(h.server.faults().hits() > 0);
      h.server.faults().clear();
      INFO(action.index() << ' ' << times << (done ? "" : done.error().to_string()));
      const std::string there = h.text();
      CHECK((there == "new 3" || (!done && there == "old 3")));
      REQUIRE(save(h.set(), 3, "newer"));
      CHECK(h.text() == "newer 3");
      CHECK(h.objects() == 5);
    }
  }
}

TEST_CASE("save_over: over a socket, a last object that is not what was sent takes the set along",
          "[integration]") {
  harness h;
  REQUIRE(save(h.set(), 3, "old"));
  h.server.faults().add(
      {.verb = "objects.insert", .object = marker, .action = fault::wrong_hash{}});
  const auto done = save(h.set(), 3, "new");
  REQUIRE_FALSE(done);
  CHECK(done.error().code() == errc::data_loss);
  CHECK(done.error().message().find("is gone with it") != std::string::npos);
  CHECK(h.set().open().error().code() == errc::failed_precondition);
  REQUIRE(save(h.set(), 3, "newer"));
  CHECK(h.text() == "newer 3");
  CHECK(h.objects() == 5);
}

TEST_CASE("save_over: over a socket, a last object that is not what was sent is no success",
          "[integration]") {
  for (const std::uint64_t times : {6U, 0U}) {  // the client's own removal alone, or all of them
    harness h;
    REQUIRE(save(h.set(), 3, "old"));
    h.server.faults().add(
        {.verb = "objects.insert", .object = marker, .action = fault::wrong_hash{}});
    h.server.faults().add(
        {.verb = "objects.delete", .object = marker, .count = times, .action = fault::refuse{503}});
    const auto done = save(h.set(), 3, "new");
    h.server.faults().clear();
    REQUIRE_FALSE(done);
    INFO(times << done.error().to_string());
    CHECK(done.error().code() == errc::data_loss);
    CHECK(done.error().message().find("is lost") != std::string::npos);
    const bool left = done.error().message().find("could not be removed") != std::string::npos;
    CHECK(left == (times == 0));
    // Here it is the reply that was wrong: what was left is a set, by its manifest.
    CHECK(h.text().starts_with("new 3") == left);
    REQUIRE(save(h.set(), 3, "newer"));
    CHECK(h.text() == "newer 3");
    CHECK(h.objects() == 5);
  }
}

TEST_CASE("save_over: over a socket, of many at once exactly one is committed", "[integration]") {
  harness h;
  const auto other = impatient_client(h.server);
  const dataflux::transfer_context others(*other);
  REQUIRE(save(h.set(), 2, "zeroth"));
  for (int round = 0; round < 8; ++round) {
    std::vector<dataflux::operation<dataflux::committed_set>> all;
    std::vector<checkpoint_set> sets;
    std::vector<std::vector<member_record>> records;
    for (std::size_t i = 0; i < 4; ++i) {
      const checkpoint_set set(i % 2 == 0 ? others : *h.context, "bkt", folder);
      sets.push_back(set.over(set.begin_over().value()));
      records.push_back(write(sets.back(), i + 1, "save of " + std::to_string(i)).value());
    }
    for (std::size_t i = 0; i < 4; ++i) all.push_back(sets[i].submit_commit(records[i]));
    std::string winner;
    for (std::size_t i = 0; i < 4; ++i) {
      const auto done = all[i].take();
      if (!done) CHECK(done.error().code() == errc::aborted);
      if (!done) continue;
      CHECK(winner.empty());
      winner = "save of " + std::to_string(i) + ' ' + std::to_string(i + 1);
    }
    REQUIRE_FALSE(winner.empty());
    CHECK(h.text() == winner);
  }
}

TEST_CASE("save_over: over a socket, one saves while others open", "[integration]") {
  harness h;
  REQUIRE(save(h.set(), 3, "zeroth"));
  std::vector<std::thread> readers;
  std::vector<std::string> bad(2);
  for (std::string& wrong : bad) {
    readers.emplace_back([&h, &wrong] {
      for (int i = 0; i < 40; ++i) {
        const auto saved = h.set().open();
        // Retryable is what says that saves are faster than listings.
        if (!saved && !saved.error().retryable()) wrong = saved.error().to_string();
        if (saved && saved->members().size() != 3) wrong = "not whole";
      }
    });
  }
  for (int i = 0; i < 20; ++i) CHECK(save(h.set(), 3, "state"));
  for (std::thread& reader : readers) reader.join();
  CHECK(bad == std::vector<std::string>(2));
  CHECK(h.objects() == 5);
}

#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes
TEST_CASE("save_over: over a socket, killed at any request the old set or the new one is there",
          "[integration]") {
  bool seen[2]{};
  for (const bool carried_out : {false, true}) {
    for (std::uint64_t request = 1;; ++request) {
      harness h;
      REQUIRE(save(h.set(), 3, "old"));
      emulator::fault_rule rule{.from = request, .action = fault::stall{}};
      if (!carried_out) rule.request_bytes = 0;
      h.server.faults().add(rule);
      const ::pid_t pid = ::fork();
      if (pid == 0) {
        ::alarm(100);
        const auto client =
            gcs::client::create({.endpoint = h.server.endpoint(), .emulator = true}).value();
        const dataflux::transfer_context context(*client);
        ::_exit(save({context, "bkt", folder}, 3, "new") ? 0 : 1);
      }
      int status = 0;
      ::pid_t ended = 0;
      while (ended == 0 && h.server.faults().hits() == 0) {
        ended = ::waitpid(pid, &status, WNOHANG);
        std::this_thread::sleep_for(1ms);
      }
      if (ended == 0) {
        // With `carried_out` the reply is what is held back.
        std::this_thread::sleep_for(20ms);
        ::kill(pid, SIGKILL);
        ::waitpid(pid, &status, 0);
      }
      h.server.faults().clear();
      INFO(request << ' ' << carried_out);
      const std::string there = h.text();
      CHECK((there == "old 3" || there == "new 3"));
      seen[there == "new 3" ? 1 : 0] = true;
      const auto list =
          dataflux::list_checkpoint_sets(*h.client, {.bucket = "bkt", .prefix = "run"}).value();
      CHECK(list.complete.size() == 1);
      CHECK(list.damaged.empty());
      CHECK((h.objects() == 5) == list.unfinished.empty());
      REQUIRE(save(h.set(), 2, "newer"));
      CHECK(h.text() == "newer 2");
      CHECK(h.objects() == 4);
      if (ended == 0) continue;
      REQUIRE(WIFEXITED(status));
      REQUIRE(WEXITSTATUS(status) == 0);
      CHECK(request > 8);
      break;
    }
  }
  CHECK((seen[0] && seen[1]));
}
#endif

}  // namespace save_over_test
