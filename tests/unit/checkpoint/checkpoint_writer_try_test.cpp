#include "tags_told.hpp"
#include "writer_fixture.hpp"

#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/store/memory_store.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <support/catch.hpp>
#include <support/store_fixture.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace checkpoint_writer_try_test {

// All on one thread, which is the strand's, too: whatever waited would wait for ever.
using namespace std::chrono_literals;
using dataflux::as_bytes;
using dataflux::checkpoint_writer;
using dataflux::commit_mode;
using dataflux::completion_queue;
using dataflux::errc;
using dataflux::injected_fault;
using dataflux::store_verb;
using dataflux::upload_request;

namespace {

constexpr std::size_t part = writer_fixture::part;
constexpr auto for_ever = dataflux::duration::max();

std::string pattern(std::size_t size) {
  std::string body(size, '\0');
  for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>(i * 7 + i / 251);
  return body;
}

struct fixture : transfer_fixture<> {
  explicit fixture(std::uint64_t memory = 4 * part)
      : transfer_fixture({.traits = {.scheme = "s3", .min_part_size = part}, .rtt = 10ms},
                         {.upload_memory = memory}) {
    store.put("bkt", "o", as_bytes("old"));
  }
  checkpoint_writer open(upload_request r = {}) {
    auto opened =
        end(checkpoint_writer::submit_open(context, writer_fixture::request(std::move(r))));
    REQUIRE(opened);
    return std::move(*opened);
  }
  /// Requests of a verb arrive that much later.
  void slow(store_verb verb, dataflux::duration by) {
    store.set_faults([=](store_verb v, std::string_view, std::uint64_t) {
      return v == verb ? std::optional(injected_fault{.delay = by}) : std::nullopt;
    });
  }
  /// The tags that the queue was told since the last call, all of them with ok.
  std::vector<std::uint64_t> told() { return tags_told(queue); }
  /// Until the queue is told something.
  std::vector<std::uint64_t> hear() {
    for (;;) {
      if (auto tags = told(); !tags.empty()) return tags;
      REQUIRE(clock.run_one());
    }
  }
  /// Takes what there is room for, by tries; gives how many bytes that were.
  static std::size_t fill(checkpoint_writer& writer, std::string_view body) {
    std::size_t all = 0;
    while (all < body.size()) {
      const auto some = writer.try_write(as_bytes(body.substr(all)));
      REQUIRE(some);
      if (*some == 0) break;
      all += *some;
    }
    return all;
  }
  /// As far as it goes in half a second of the clock's.
  std::size_t fill_all(checkpoint_writer& writer, std::string_view body) {
    std::size_t all = 0;
    const auto until = clock.now() + 500ms;
    while (clock.now() < until) {
      all += fill(writer, body.substr(all));
      clock.run_for(1ms);
    }
    return all;
  }
  std::string content(const std::string& name = "o") {
    std::string body(std::size_t{8} << 20U, '\0');
    dataflux::span_sink sink(std::as_writable_bytes(std::span(body)));
    const auto read = end(store.submit_read({.bucket = "bkt", .object = name}, sink));
    body.resize(read ? static_cast<std::size_t>(read->bytes) : 0);
    return body;
  }
  void clean() {
    clock.run();
    CHECK(store.open_uploads() == 0);
    const auto& memory = context.state()->uploads.memory;
    CHECK(memory.held() == 0);
    CHECK(memory.free_to_own() == memory.cap());
    CHECK(memory.peak() <= memory.cap());
  }

  completion_queue queue{};
};

}  // namespace

TEST_CASE("checkpoint_writer: a try takes what there is room for, and a bell tells of more",
          "[checkpoint]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    fixture w;
    const std::string body = pattern(1 + random() % (9 * part));
    auto writer = w.open();
    int returned = 0;
    int lent = 0;
    for (std::size_t at = 0; at < body.size();) {
      const std::size_t size = std::min<std::size_t>(body.size() - at, 1 + random() % (3 * part));
      const auto bytes = as_bytes(std::string_view(body).substr(at, size));
      const bool lends = random() % 2 == 0;
      const auto some = lends ? writer.try_write_borrowed(bytes, [&returned] { ++returned; })
                              : writer.try_write(bytes);
      REQUIRE(some);
      REQUIRE(*some <= size);
      lent += lends && *some > 0 ? 1 : 0;
      at += *some;
      CHECK(writer.written() == at);
      if (*some == size) continue;
      writer.notify(w.queue, at);
      REQUIRE(w.hear() == std::vector<std::uint64_t>{at});
      CHECK(*writer.try_write(as_bytes(std::string_view(body).substr(at, 1))) == 1);
      ++at;
    }
    const auto made = w.end(writer.submit_commit());
    REQUIRE(made);
    CHECK(made->object.size == body.size());
    CHECK(returned == lent);
    CHECK(w.told().empty());
    CHECK(w.content() == body);
    w.clean();
  }
}

TEST_CASE("checkpoint_writer: a try for a part asks for its memory", "[checkpoint]") {
  fixture w;
  const std::string body = pattern(part + 5);
  auto writer = w.open();
  CHECK(*writer.try_write(as_bytes(body)) == 0);
  CHECK(*writer.try_write(as_bytes(body)) == 0);
  CHECK(*writer.try_write({}) == 0);
  w.clock.run();
  CHECK(w.context.state()->uploads.memory.held() == part);  // asked for once
  writer.notify(w.queue, 1);
  CHECK(w.told() == std::vector<std::uint64_t>{1});  // there is room
  CHECK(*writer.try_write(as_bytes("a")) == 1);
  writer.notify(w.queue, 2);
  CHECK(w.told() == std::vector<std::uint64_t>{2});  // in the part that is begun
  CHECK(*writer.try_write(as_bytes(body).subspan(1)) == part - 1);
  writer.notify(w.queue, 3);
  CHECK(w.told().empty());
  w.clock.run();
  CHECK(w.told() == std::vector<std::uint64_t>{3});
  // What was asked for and is not needed goes back.
  CHECK(w.context.state()->uploads.memory.held() == part);
  REQUIRE(w.end(writer.submit_commit()));
  writer.notify(w.queue, 4);
  CHECK(w.told() == std::vector<std::uint64_t>{4});
  CHECK(writer.try_write(as_bytes(body)).error().code() == errc::failed_precondition);
  w.clean();
}

TEST_CASE("checkpoint_writer: a full memory is no room until a part is sent", "[checkpoint]") {
  for (const bool lends : {false, true}) {
    fixture w;
    w.slow(store_verb::upload_part, 1h);
    const std::string body = pattern(6 * part + 9);
    auto writer = w.open();
    std::size_t at = 0;
    int returned = 0;
    const auto write = [&] {
      const auto rest = as_bytes(body).subspan(at);
      const auto some = lends ? writer.try_write_borrowed(rest, [&returned] { ++returned; })
                              : writer.try_write(rest);
      REQUIRE(some);
      at += *some;
    };
    for (int i = 0; i < 100; ++i) {
      write();
      w.clock.run_for(1ms);
    }
    CHECK(at == 4 * part);
    CHECK(writer.written() == 4 * part);
    writer.notify(w.queue, 5);
    w.clock.run_for(50min);
    CHECK(w.told().empty());
    CHECK(returned == 0);
    CHECK(w.hear() == std::vector<std::uint64_t>{5});
    CHECK(returned == (lends ? 1 : 0));
    w.store.set_faults({});
    while (at < body.size()) {
      write();
      if (at < body.size()) {
        writer.notify(w.queue, 6);
        w.hear();
      }
    }
    REQUIRE(w.end(writer.submit_commit()));
    CHECK(w.content() == body);
    w.clean();
  }
}

TEST_CASE("checkpoint_writer: a bell tells of a failure, too", "[checkpoint]") {
  fixture w;
  w.store.set_faults([](store_verb v, std::string_view, std::uint64_t nth) {
    std::optional<injected_fault> fault;
    if (v != store_verb::upload_part) return fault;
    fault.emplace(injected_fault{.delay = nth == 2 ? dataflux::duration(1h) : for_ever});
    if (nth == 2) fault->failure = dataflux::error(errc::data_loss, "damaged on the way");
    return fault;
  });
  const std::string body = pattern(6 * part);
  auto writer = w.open();
  CHECK(w.fill_all(writer, body) == 4 * part);
  writer.notify(w.queue, 5);
  writer.notify(w.queue, 6);
  CHECK(w.told().empty());
  CHECK(w.hear() == std::vector<std::uint64_t>{5, 6});
  const auto failed = writer.try_write(as_bytes(body));
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == errc::data_loss);
  CHECK(failed.error().message().find("part 2") == 0);
  CHECK(writer.try_write_borrowed(as_bytes(body)).error().code() == errc::data_loss);
  writer.notify(w.queue, 7);
  CHECK(w.told() == std::vector<std::uint64_t>{7});
  CHECK(writer.written() == 4 * part);
  CHECK(w.end(writer.submit_commit()).error().code() == errc::data_loss);
  CHECK(w.end(writer.submit_abort()));
  CHECK(w.content() == "old");
  w.clean();
}

TEST_CASE("checkpoint_writer: two share the memory, and each has its own", "[checkpoint]") {
  fixture w;
  w.slow(store_verb::upload_part, 1h);
  const std::string body = pattern(5 * part);
  auto a = w.open({.mode = commit_mode::direct});
  auto b = w.open({.object = "other", .mode = commit_mode::direct});
  CHECK(w.fill_all(a, body) == 3 * part);
  CHECK(w.fill_all(b, body) == part);
  a.notify(w.queue, 1);
  b.notify(w.queue, 2);
  CHECK(w.told().empty());
  w.store.set_faults({});
  std::size_t of_a = 3 * part;
  std::size_t of_b = part;
  // Whoever is told finds room, and what one holds without filling it does not stop the other.
  while (of_b < body.size()) {
    for (const std::uint64_t tag : w.hear()) {
      if (tag == 1) continue;
      const std::size_t some = fixture::fill(b, std::string_view(body).substr(of_b));
      CHECK(some > 0);
      of_b += some;
      b.notify(w.queue, 2);
    }
  }
  REQUIRE(w.end(b.submit_commit()));
  of_a += w.fill_all(a, std::string_view(body).substr(of_a));
  CHECK(of_a == body.size());
  REQUIRE(w.end(a.submit_commit()));
  CHECK(w.content() == body);
  CHECK(w.content("other") == body);
  w.clean();
}

TEST_CASE("checkpoint_writer: a deadline, a stop and a cancel end a commit", "[checkpoint]") {
  for (const std::string how : {"deadline", "stop", "cancel"}) {
    for (const auto verb : {store_verb::upload_part, store_verb::multipart_complete}) {
      INFO(how << " verb " << int(verb));
      fixture w;
      w.slow(verb, for_ever);
      const std::string body = pattern(2 * part + 5);
      auto writer = w.open();
      CHECK(w.fill_all(writer, body) == body.size());
      std::stop_source stop;
      const auto began = w.clock.now();
      auto commit =
          writer.submit_commit({.timeout = how == "deadline" ? 20s : 0s, .stop = stop.get_token()});
      w.clock.run_for(10s);
      CHECK_FALSE(commit.poll());
      if (how == "stop") stop.request_stop();
      if (how == "cancel") commit.cancel();
      const auto made = w.end(commit);
      REQUIRE_FALSE(made);
      const errc why = how == "deadline" ? errc::deadline_exceeded : errc::cancelled;
      CHECK(made.error().code() == why);
      CHECK(made.error().object() == "o");
      CHECK(made.error().scheme() == "s3");
      CHECK(w.clock.now() - began < 21s);
      // It is over, and says why.
      CHECK(writer.try_write(as_bytes(body)).error().code() == why);
      CHECK(w.end(writer.submit_commit()).error().code() == why);
      CHECK(w.end(writer.submit_abort()));
      CHECK(w.content() == "old");
      w.clean();
    }
  }
}

TEST_CASE("checkpoint_writer: who does not wait for an abort leaves it to the store",
          "[checkpoint]") {
  for (const bool cancels : {false, true}) {
    fixture w;
    w.slow(store_verb::multipart_abort, 30s);
    const std::string body = pattern(3 * part);
    bool returned = false;
    auto writer = w.open();
    CHECK(w.fill_all(writer, pattern(part)) == part);
    while (*writer.try_write_borrowed(as_bytes(body), [&] { returned = true; }) == 0) {
      REQUIRE(w.clock.run_one());
    }
    writer.notify(w.queue, 3);
    const auto began = w.clock.now();
    auto abort = writer.submit_abort({.timeout = cancels ? 0s : 5s});
    CHECK(w.told() == std::vector<std::uint64_t>{3});
    w.clock.run_for(1s);
    CHECK_FALSE(abort.poll());
    if (cancels) abort.cancel();
    const auto left = w.end(abort);
    REQUIRE_FALSE(left);
    CHECK(left.error().code() == (cancels ? errc::cancelled : errc::deadline_exceeded));
    CHECK(left.error().scheme() == "s3");
    CHECK(w.clock.now() - began < 6s);
    CHECK(writer.try_write(as_bytes(body)).error().code() == errc::failed_precondition);
    CHECK(w.end(writer.submit_abort()));
    CHECK(w.store.open_uploads() == 1);
    w.clock.run();
    CHECK(returned);
    CHECK(w.content() == "old");
    w.clean();
  }
}

TEST_CASE("checkpoint_writer: a part that was copied before lent bytes holds no more than it has",
          "[checkpoint]") {
  fixture w(32 * part);
  w.slow(store_verb::upload_part, 1h);
  const std::string head = pattern(64);
  const std::string body = pattern(16 * part - head.size());
  auto writer = w.open({.part_size = 16 * part});
  const auto began = w.clock.now();
  std::string expected;
  const auto give = [&](const std::string& bytes, bool lends) {
    for (std::size_t at = 0; at < bytes.size();) {
      const auto rest = as_bytes(bytes).subspan(at);
      const auto some = lends ? writer.try_write_borrowed(rest, [] {}) : writer.try_write(rest);
      REQUIRE(some);
      at += *some;
      if (*some == 0) w.clock.run_for(1s);
    }
    expected += bytes;
  };
  // Two times half a part copied, half of one lent: all that fits, and none has been sent.
  for (int i = 0; i < 2; ++i) {
    give(head, false);
    give(body, true);
  }
  CHECK(w.clock.now() - began < 1min);
  CHECK(w.context.state()->uploads.memory.held() == 32 * part);
  REQUIRE(w.end(writer.submit_commit()));
  CHECK(w.content() == expected);
  w.clean();
}

TEST_CASE("checkpoint_writer: lent bytes are told to be free once they are", "[checkpoint]") {
  fixture w;
  const std::string body = pattern(2 * part);
  auto writer = w.open();
  const auto lend = [&](std::size_t size) {
    return *writer.try_write_borrowed(as_bytes(body).first(size), [&] {
      w.queue.push({9, errc::ok});
    });
  };
  // Nothing was taken: nothing is given back.
  CHECK(lend(2 * part) == 0);
  CHECK(w.told().empty());
  w.clock.run();
  CHECK(lend(part) == part);
  CHECK(w.told().empty());
  CHECK(w.hear() == std::vector<std::uint64_t>{9});
  CHECK(w.store.counters().of(store_verb::upload_part) == 1);
  // What is copied is the caller's at once.
  CHECK(lend(100) == 0);
  w.clock.run();
  CHECK(lend(100) == 100);
  CHECK(w.told() == std::vector<std::uint64_t>{9});
  REQUIRE(w.end(writer.submit_commit()));
  CHECK(w.content() == body.substr(0, part) + body.substr(0, 100));
  // Nor where it is refused.
  CHECK_FALSE(writer.try_write_borrowed(as_bytes(body), [&] { w.queue.push({10, errc::ok}); }));
  CHECK(w.told().empty());
  w.clean();
}

TEST_CASE("checkpoint_writer: one that is gone tells no queue", "[checkpoint]") {
  fixture w;
  {
    auto writer = w.open();
    auto other = w.open();
    writer.notify(w.queue, 1);
    other.notify(w.queue, 2);
    writer = std::move(other);  // the bell goes with it
    w.clock.run();
    CHECK(w.told() == std::vector<std::uint64_t>{2});
    CHECK(*writer.try_write(as_bytes(pattern(part))) == part);
    writer.notify(w.queue, 3);
  }
  CHECK(w.told().empty());
  CHECK(w.content() == "old");
  w.clean();
}

TEST_CASE("checkpoint_writer: a wait for room ends by a deadline, a stop and a failure",
          "[checkpoint]") {
  const std::string body = pattern(8 * part);
  for (const std::string how : {"deadline", "stop", "failure"}) {
    for (const bool lends : {false, true}) {
      INFO(how << (lends ? " lent" : " copied"));
      writer_fixture w;
      std::stop_source stop;
      w.store.set_faults([&](store_verb v, std::string_view, std::uint64_t nth) {
        std::optional<injected_fault> fault;
        if (v != store_verb::upload_part) return fault;
        fault.emplace(injected_fault{.delay = for_ever});
        if (nth == 4 && how == "stop") stop.request_stop();
        if (nth == 4 && how == "failure") {
          fault->delay = 0s;
          fault->failure = dataflux::error(errc::data_loss, "damaged on the way");
        }
        return fault;
      });
      int returned = 0;
      w.run([&] {
        auto writer = checkpoint_writer::open(w.context, writer_fixture::request());
        REQUIRE(writer);
        const auto write = [&](dataflux::call_limits limits) {
          const auto rest = as_bytes(body).subspan(static_cast<std::size_t>(writer->written()));
          return lends ? writer->write_borrowed(
                             rest, [&returned] { ++returned; }, limits)
                       : writer->write(rest, limits);
        };
        if (how == "deadline") {
          // The clock may go on as soon as nothing else is to be done.
          int calls = 0;
          while (writer->written() < 4 * part) {
            CHECK(write({.timeout = 1s}).error().code() == errc::deadline_exceeded);
            ++calls;
          }
          CHECK(write({.timeout = 1s}).error().code() == errc::deadline_exceeded);
          CHECK(writer->written() == 4 * part);
          CHECK(calls > 0);
        } else {
          const auto wrote = write({.timeout = 0s, .stop = stop.get_token()});
          REQUIRE_FALSE(wrote);
          CHECK(wrote.error().code() == (how == "stop" ? errc::cancelled : errc::data_loss));
          // The memory of a part that fails is the next one's, for which nobody waits any more.
          CHECK(writer->written() >= 4 * part);
          CHECK(writer->written() <= (how == "stop" ? 4 : 5) * part);
        }
        if (how == "stop") {
          // It is asked before anything is done.
          CHECK(write({.stop = stop.get_token()}).error().code() == errc::cancelled);
        }
        CHECK(writer->abort());
      });
      CHECK(w.store.open_uploads() == 0);
      CHECK((returned > 0) == lends);
      CHECK(w.context.state()->uploads.memory.held() == 0);
    }
  }
}

}  // namespace checkpoint_writer_try_test
