#include "tags_told.hpp"
#include "writer_fixture.hpp"

#include <dataflux/checkpoint/offset_writer.hpp>
#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/store/memory_store.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <support/catch.hpp>
#include <support/store_fixture.hpp>
#include <support/threaded_virtual_clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace offset_writer_try_test {

// All on one thread, which is the strand's, too: whatever waited would wait for ever.
using namespace std::chrono_literals;
using dataflux::completion_queue;
using dataflux::errc;
using dataflux::injected_fault;
using dataflux::offset_writer;
using dataflux::result;
using dataflux::store_verb;
using dataflux::upload_request;

namespace {

constexpr std::size_t part = writer_fixture::part;

std::string pattern(std::size_t size) {
  std::string body(size, '\0');
  for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>(i * 7 + i / 251);
  return body;
}

struct fixture : transfer_fixture<> {
  explicit fixture(std::uint64_t memory = 4 * part)
      : transfer_fixture({.traits = {.min_part_size = part}, .rtt = 10ms},
                         {.upload_memory = memory}) {
    store.put("bkt", "o", dataflux::as_bytes("old"));
  }
  offset_writer open(std::uint64_t size, upload_request r = {}) {
    auto opened =
        end(offset_writer::submit_open(context, writer_fixture::request(std::move(r)), size));
    REQUIRE(opened);
    return std::move(*opened);
  }
  static result<std::size_t> try_write(offset_writer& writer, std::string_view body,
                                       std::size_t offset, std::size_t size) {
    return writer.try_write_at(offset, dataflux::as_bytes(body.substr(offset, size)));
  }
  std::vector<std::uint64_t> told() { return tags_told(queue); }
  std::vector<std::uint64_t> hear() {
    for (;;) {
      if (auto tags = told(); !tags.empty()) return tags;
      REQUIRE(clock.run_one());
    }
  }
  /// All of it, by tries, as the queue tells.
  void write(offset_writer& writer, std::string_view body, std::size_t offset, std::size_t size) {
    for (std::size_t done = 0; done < size;) {
      const auto some = try_write(writer, body, offset + done, size - done);
      REQUIRE(some);
      done += *some;
      if (done == size) return;
      writer.notify(queue, offset);
      CHECK(hear() == std::vector<std::uint64_t>{offset});
    }
  }
  std::string content() {
    std::string body(std::size_t{8} << 20U, '\0');
    dataflux::span_sink sink(std::as_writable_bytes(std::span(body)));
    const auto read = end(store.submit_read({.bucket = "bkt", .object = "o"}, sink));
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

TEST_CASE("offset_writer: tries of any sizes in any order make one object", "[checkpoint]") {
  struct piece {
    std::size_t offset;
    std::size_t size;
  };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    fixture w(64 * part);
    const std::string body = pattern(1 + random() % (6 * part));
    std::vector<piece> pieces;
    for (std::size_t at = 0; at < body.size();) {
      const std::size_t most = random() % 3 == 0 ? 3 * part : part / 3;
      const std::size_t size = std::min<std::size_t>(body.size() - at, 1 + random() % most);
      pieces.push_back({at, size});
      at += size;
    }
    std::shuffle(pieces.begin(), pieces.end(), random);
    auto writer = w.open(body.size());
    for (const piece& p : pieces) w.write(writer, body, p.offset, p.size);
    CHECK(writer.written() == body.size());
    REQUIRE(w.end(writer.submit_commit()));
    CHECK(w.content() == body);
    w.clean();
  }
}

TEST_CASE("offset_writer: a try takes up to the first part that is not begun", "[checkpoint]") {
  fixture w(8 * part);
  const std::string body = pattern(3 * part);
  auto writer = w.open(body.size());
  CHECK(*fixture::try_write(writer, body, 0, 0) == 0);
  writer.notify(w.queue, 1);
  CHECK(w.told() == std::vector<std::uint64_t>{1});  // nothing is asked for
  CHECK(*fixture::try_write(writer, body, part / 2, part) == 0);
  CHECK(*fixture::try_write(writer, body, part / 2, part) == 0);
  writer.notify(w.queue, 2);
  CHECK(w.told().empty());
  w.clock.run();
  CHECK(w.told() == std::vector<std::uint64_t>{2});
  CHECK(w.context.state()->uploads.memory.held() == part);  // asked for once
  CHECK(*fixture::try_write(writer, body, part / 2, part) == part / 2);
  CHECK(writer.written() == part / 2);
  w.clock.run();
  // What is written is not written again; bytes of others are where a try ends.
  CHECK(fixture::try_write(writer, body, part - 1, 2).error().code() == errc::invalid_argument);
  CHECK(fixture::try_write(writer, body, body.size() - 1, 1).value() == 0);
  CHECK(writer.try_write_at(body.size(), dataflux::as_bytes("x")).error().code() ==
        errc::out_of_range);
  CHECK(w.end(writer.submit_commit()).error().code() == errc::failed_precondition);  // a gap
  w.write(writer, body, part, 2 * part);
  w.write(writer, body, 0, part / 2);
  REQUIRE(w.end(writer.submit_commit()));
  writer.notify(w.queue, 3);
  CHECK(w.told() == std::vector<std::uint64_t>{3});
  CHECK(fixture::try_write(writer, body, 0, 1).error().code() == errc::failed_precondition);
  CHECK(w.content() == body);
  w.clean();
}

TEST_CASE("offset_writer: a try is told when all memory is begun parts", "[checkpoint]") {
  fixture w;  // of four parts, one of which is for those on their way
  const std::string body = pattern(5 * part);
  auto writer = w.open(body.size());
  for (const std::size_t i : {0U, 1U, 2U}) w.write(writer, body, i * part, 10);
  CHECK(*fixture::try_write(writer, body, 3 * part, 10) == 0);
  writer.notify(w.queue, 7);
  CHECK(w.hear() == std::vector<std::uint64_t>{7});
  const auto refused = fixture::try_write(writer, body, 3 * part, 10);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::resource_exhausted);
  CHECK(refused.error().message().find("part 1 (bytes [0, 262144)), 2 (") != std::string::npos);
  CHECK(writer.written() == 30);
  // Filling one makes room.
  w.write(writer, body, 10, part - 10);
  w.write(writer, body, 3 * part, part);
  w.write(writer, body, part + 10, part - 10);
  w.write(writer, body, 2 * part + 10, part - 10);
  w.write(writer, body, 4 * part, part);
  REQUIRE(w.end(writer.submit_commit()));
  CHECK(w.content() == body);
  w.clean();
}

TEST_CASE("offset_writer: a bell tells of a failure and of an abort, and not of what is gone",
          "[checkpoint]") {
  for (const std::string how : {"failure", "abort", "gone"}) {
    INFO(how);
    fixture w(2 * part);
    w.store.set_faults([&](store_verb v, std::string_view, std::uint64_t) {
      std::optional<injected_fault> fault;
      if (v != store_verb::upload_part) return fault;
      fault.emplace(injected_fault{.delay = 1h});
      fault->failure = dataflux::error(errc::data_loss, "damaged on the way");
      return fault;
    });
    const std::string body = pattern(4 * part);
    std::optional<offset_writer> writer(w.open(body.size()));
    w.write(*writer, body, 0, part);
    // Its memory would be there, and a part on its way has it.
    w.write(*writer, body, part, 10);
    CHECK(*w.try_write(*writer, body, 2 * part, 10) == 0);
    w.clock.run_for(1s);
    CHECK(w.try_write(*writer, body, 2 * part, 10).error().code() == errc::resource_exhausted);
    CHECK(*w.try_write(*writer, body, 2 * part, 10) == 0);
    writer->notify(w.queue, 4);
    CHECK(w.told().empty());
    if (how == "gone") {
      writer.reset();
      CHECK(w.told().empty());
    } else if (how == "abort") {
      auto abort = writer->submit_abort();
      CHECK(w.told() == std::vector<std::uint64_t>{4});
      CHECK(w.try_write(*writer, body, 2 * part, 10).error().code() == errc::failed_precondition);
      CHECK(w.end(abort));
    } else {
      w.clock.run();
      CHECK(w.told() == std::vector<std::uint64_t>{4});
      CHECK(w.try_write(*writer, body, 2 * part, 10).error().code() == errc::data_loss);
      writer->notify(w.queue, 5);
      CHECK(w.told() == std::vector<std::uint64_t>{5});
      CHECK(w.end(writer->submit_commit()).error().code() == errc::data_loss);
    }
    CHECK(w.content() == "old");
    w.clean();
  }
}

namespace {

/// Does something once when another thread asks for the time, as a call does that has a limit.
struct tripped_clock final : dataflux::scheduler {
  dataflux::time_point now() const noexcept override {
    if (!is_current() && trip) std::exchange(trip, {})();
    return clock.now();
  }
  void post(dataflux::task work) override { clock.post(std::move(work)); }
  dataflux::timer_id at(dataflux::time_point when, dataflux::task work) override {
    return clock.at(when, std::move(work));
  }
  bool cancel(dataflux::timer_id id) noexcept override { return clock.cancel(id); }
  bool is_current() const noexcept override { return clock.is_current(); }
  bool step() { return clock.step(); }

  threaded_virtual_clock clock{};
  mutable std::function<void()> trip{};
};

}  // namespace

TEST_CASE("offset_writer: what a write that gave up is refused is not told to a try",
          "[checkpoint]") {
  transfer_fixture<tripped_clock> w({.traits = {.min_part_size = part}, .rtt = 10ms},
                                    {.upload_memory = 4 * part});
  w.store.create_bucket("bkt");
  const std::string body = pattern(4 * part);
  completion_queue queue;
  auto opened =
      w.end(offset_writer::submit_open(w.context, writer_fixture::request(), body.size()));
  REQUIRE(opened);
  offset_writer& writer = *opened;
  const auto write = [&](std::size_t offset, std::size_t size) {
    for (std::size_t done = 0; done < size;) {
      const auto some = fixture::try_write(writer, body, offset + done, size - done);
      REQUIRE(some);
      done += *some;
      if (done < size) REQUIRE(w.clock.step());
    }
  };
  for (const std::size_t i : {0U, 1U, 2U}) write(i * part, 10);
  // It is stopped before the strand hears what it asks for.
  std::stop_source stop;
  w.clock.trip = [&stop] { stop.request_stop(); };
  result<void> outcome{};
  std::thread waits([&] {
    outcome = writer.write_at(3 * part, dataflux::as_bytes("x"),
                              {.timeout = 1h, .stop = stop.get_token()});
  });
  for (int i = 0; i < 2; ++i) REQUIRE(w.clock.step());
  waits.join();
  CHECK_FALSE(outcome);
  writer.notify(queue, 1);
  CHECK(tags_told(queue).empty());
  while (tags_told(queue).empty()) REQUIRE(w.clock.step());
  // By now there is memory.
  write(10, part - 10);
  while (w.context.state()->uploads.memory.held() >= 3 * part) REQUIRE(w.clock.step());
  write(3 * part, part);
  CHECK(w.end(writer.submit_abort()));
}

TEST_CASE("offset_writer: a deadline and a cancel end commit and abort", "[checkpoint]") {
  for (const bool cancels : {false, true}) {
    const errc why = cancels ? errc::cancelled : errc::deadline_exceeded;
    const std::string body = pattern(2 * part);
    fixture w;
    auto writer = w.open(body.size());
    w.write(writer, body, 0, body.size());
    w.store.set_faults([](store_verb v, std::string_view, std::uint64_t) {
      std::optional<injected_fault> fault;
      if (v == store_verb::multipart_complete) fault.emplace().delay = dataflux::duration::max();
      return fault;
    });
    auto commit = writer.submit_commit({.timeout = cancels ? 0s : 20s});
    w.clock.run_for(10s);
    CHECK_FALSE(commit.poll());
    if (cancels) commit.cancel();
    CHECK(w.end(commit).error().code() == why);
    CHECK(fixture::try_write(writer, body, 0, 1).error().code() == why);
    CHECK(w.content() == "old");
    w.clean();

    w.store.set_faults([](store_verb v, std::string_view, std::uint64_t) {
      std::optional<injected_fault> fault;
      if (v == store_verb::multipart_abort) fault.emplace().delay = 30s;
      return fault;
    });
    auto dropped = w.open(body.size());
    w.write(dropped, body, 0, part);
    w.clock.run_for(1s);
    auto abort = dropped.submit_abort({.timeout = cancels ? 0s : 5s});
    w.clock.run_for(1s);
    CHECK_FALSE(abort.poll());
    if (cancels) abort.cancel();
    CHECK(w.end(abort).error().code() == why);
    CHECK(w.store.open_uploads() == 1);
    CHECK(w.content() == "old");
    w.clean();
  }
}

}  // namespace offset_writer_try_test
