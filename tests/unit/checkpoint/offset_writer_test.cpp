#include "writer_fixture.hpp"

#include <dataflux/checkpoint/offset_writer.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/store/memory_store.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <support/catch.hpp>
#include <support/sanitized.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace offset_writer_test {

using namespace std::chrono_literals;
using dataflux::commit_mode;
using dataflux::errc;
using dataflux::error;
using dataflux::offset_writer;
using dataflux::result;
using dataflux::store_verb;
using dataflux::upload_path;
using dataflux::upload_request;

namespace {

constexpr std::size_t part = writer_fixture::part;

struct fixture : writer_fixture {
  using writer_fixture::writer_fixture;

  /// On a thread.
  result<offset_writer> open(std::uint64_t size, upload_request r = {}) const {
    return offset_writer::open(context, request(std::move(r)), size);
  }
  std::string content() {
    std::string body(std::size_t{8} << 20U, '\0');
    dataflux::span_sink sink(std::as_writable_bytes(std::span(body)));
    const auto read = end(store.submit_read({.bucket = "bkt", .object = "o"}, sink));
    body.resize(read ? static_cast<std::size_t>(read->bytes) : 0);
    return body;
  }
  /// Nothing but the object, nothing open, no memory held.
  void clean() {
    CHECK(store.open_uploads() == 0);
    const auto page = end(store.submit_list_page({.bucket = "bkt"}));
    REQUIRE(page);
    CHECK(page->objects.size() == 1);
    const auto& memory = context.state()->uploads.memory;
    CHECK(memory.held() == 0);
    CHECK(memory.free_to_own() == memory.cap());
    CHECK(memory.peak() <= memory.cap());
  }
};

std::string pattern(std::size_t size) {
  std::string body(size, '\0');
  for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>(i * 7 + i / 251);
  return body;
}

/// What is written in one call.
struct piece {
  std::size_t offset;
  std::size_t size;
};

result<void> write(offset_writer& writer, std::string_view body, piece p) {
  return writer.write_at(p.offset, dataflux::as_bytes(body.substr(p.offset, p.size)));
}

/// Checks an error that refuses one call.
void refused(const result<void>& outcome, errc code, std::vector<std::string> words) {
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code() == code);
  for (const auto& word : words) {
    INFO(outcome.error().message());
    CHECK(outcome.error().message().find(word) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("offset_writer: pieces of any sizes in any order make one object", "[checkpoint]") {
  const std::size_t seeds = sanitized ? 6 : 40;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
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
    const auto mode = random() % 2 == 0 ? commit_mode::staged : commit_mode::direct;
    w.run([&] {
      auto writer = w.open(body.size(), {.mode = mode});
      REQUIRE(writer);
      std::atomic<std::size_t> next{0};
      std::atomic<int> failed{0};
      std::vector<std::thread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
          for (std::size_t n = 0; (n = next++) < pieces.size();) {
            if (!write(*writer, body, pieces[n])) ++failed;
          }
        });
      }
      for (auto& thread : threads) thread.join();
      CHECK(failed == 0);
      CHECK(writer->written() == body.size());
      const auto made = writer->commit();
      REQUIRE(made);
      CHECK(made->object.crc32c == dataflux::codec::crc32c(dataflux::as_bytes(body)));
      CHECK(made->parts.size() == (body.size() + part - 1) / part);
      CHECK(made->path == (body.size() > part ? upload_path::multipart : upload_path::insert));
    });
    CHECK(w.content() == body);
    w.clean();
  }
}

TEST_CASE("offset_writer: objects of no byte, one part, and parts at their borders",
          "[checkpoint]") {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, part - 1, part, part + 1, 2 * part, 3 * part - 1}) {
    for (const bool at_once : {true, false}) {
      INFO("size " << size << (at_once ? " at once" : " in halves"));
      fixture w;
      const std::string body = pattern(size);
      w.run([&] {
        auto writer = w.open(size);
        REQUIRE(writer);
        CHECK(writer->size() == size);
        CHECK(writer->part_size() == part);
        const std::size_t half = at_once ? 0 : size / 2;
        REQUIRE(write(*writer, body, {half, size - half}));
        REQUIRE(write(*writer, body, {0, half}));
        REQUIRE(writer->write_at(size, {}));
        const auto made = writer->commit();
        REQUIRE(made);
        CHECK(made->object.size == size);
      });
      CHECK(w.content() == body);
      w.clean();
    }
  }
}

TEST_CASE("offset_writer: threads that meet within a part", "[checkpoint]") {
  fixture w;
  const std::string body = pattern(2 * part);
  for (int round = 0; round < 20; ++round) {
    w.run([&] {
      auto writer = w.open(body.size());
      REQUIRE(writer);
      std::atomic<int> failed{0};
      std::vector<std::thread> threads;
      for (std::size_t i = 0; i < 4; ++i) {
        // Pieces that end within parts, and at the border between them.
        const piece mine{i * part / 2, part / 2};
        threads.emplace_back([&, mine] { failed += write(*writer, body, mine) ? 0 : 1; });
      }
      for (auto& thread : threads) thread.join();
      CHECK(failed == 0);
      REQUIRE(writer->commit());
    });
    CHECK(w.content() == body);
  }
  w.clean();
}

TEST_CASE("offset_writer: a byte is written once", "[checkpoint]") {
  fixture w(8 * part);
  const std::string body = pattern(5 * part);
  w.run([&] {
    auto writer = w.open(body.size());
    REQUIRE(writer);
    REQUIRE(write(*writer, body, {100, 50}));
    const auto twice = [&](piece p, std::vector<std::string> words) {
      refused(write(*writer, body, p), errc::invalid_argument, std::move(words));
    };
    twice({120, 10}, {"bytes [120, 130)", "bytes [100, 150)"});  // inside a part
    twice({0, 101}, {"bytes [0, 101)", "bytes [100, 150)"});
    twice({149, 1000}, {"bytes [100, 150)"});
    REQUIRE(write(*writer, body, {2 * part, part}));  // a part already sent
    twice({2 * part + 7, 1}, {"bytes [524288, 786432)"});
    twice({part + 3, 2 * part}, {"bytes [524288, 786432)"});  // across parts
    // What was refused is not written; the rest goes on.
    REQUIRE(write(*writer, body, {0, 100}));
    REQUIRE(write(*writer, body, {150, 2 * part - 150}));
    REQUIRE(write(*writer, body, {3 * part, 2 * part}));
    twice({0, body.size()}, {"bytes [0, 1310720)"});
    REQUIRE(writer->commit());
  });
  CHECK(w.content() == body);
  w.clean();
}

TEST_CASE("offset_writer: beyond the size nothing is written", "[checkpoint]") {
  fixture w;
  const std::string body = pattern(2 * part);
  w.run([&] {
    auto writer = w.open(part + 10);
    REQUIRE(writer);
    refused(write(*writer, body, {part, 11}), errc::out_of_range, {"262154"});
    refused(writer->write_at(part + 11, {}), errc::out_of_range, {});
    refused(writer->write_at(~std::uint64_t{0}, dataflux::as_bytes("x")), errc::out_of_range, {});
    REQUIRE(write(*writer, body, {0, part + 10}));
    REQUIRE(writer->commit());
    const auto huge = w.open(std::uint64_t{6} << 40U);
    REQUIRE_FALSE(huge);
    CHECK(huge.error().code() == errc::out_of_range);
  });
  CHECK(w.content() == body.substr(0, part + 10));
  w.clean();
}

TEST_CASE("offset_writer: a commit names the first gap, and the writer goes on", "[checkpoint]") {
  for (const std::size_t size : {3 * part, part}) {
    const std::size_t middle = size / 2;
    const std::string body = pattern(size);
    for (const piece gap : {piece{0, 5}, piece{middle, 7}, piece{size - 9, 9}}) {
      fixture w;
      w.run([&] {
        auto writer = w.open(size);
        REQUIRE(writer);
        refused(writer->commit() ? result<void>() : result<void>(writer->commit().error()),
                errc::failed_precondition, {"bytes [0, " + std::to_string(size) + ")"});
        const std::size_t end = gap.offset + gap.size;
        REQUIRE(write(*writer, body, {0, gap.offset}));
        REQUIRE(write(*writer, body, {end, size - end}));
        const auto early = writer->commit();
        REQUIRE_FALSE(early);
        CHECK(early.error().code() == errc::failed_precondition);
        CHECK(early.error().message().find("bytes [" + std::to_string(gap.offset) + ", " +
                                           std::to_string(end) + ")") != std::string::npos);
        REQUIRE(write(*writer, body, gap));
        REQUIRE(writer->commit());
        refused(write(*writer, body, gap), errc::failed_precondition, {"committed"});
        CHECK(writer->commit().error().code() == errc::failed_precondition);
        CHECK(writer->abort());
      });
      CHECK(w.content() == body);
      w.clean();
    }
  }
}

TEST_CASE("offset_writer: when all memory is begun parts it says which", "[checkpoint]") {
  fixture w;  // of four parts
  const std::string body = pattern(8 * part);
  w.run([&] {
    auto writer = w.open(body.size());
    REQUIRE(writer);
    for (const std::size_t i : {1U, 4U, 6U}) REQUIRE(write(*writer, body, {i * part, 10}));
    const auto more = [&] { return write(*writer, body, {2 * part + 5, 1}); };
    refused(more(), errc::resource_exhausted,
            {"part 2 (bytes [262144, 524288)), 5 (", ", 7 (", "upload_memory"});
    // Both ends or none.
    refused(write(*writer, body, {2 * part + 5, part}), errc::resource_exhausted, {"part 2"});
    // Others' are not taken either, and parts as wholes need none of it.
    REQUIRE(write(*writer, body, {0, part}));
    REQUIRE(write(*writer, body, {part + 10, part - 10}));
    REQUIRE(more());
    refused(write(*writer, body, {3 * part, 1}), errc::resource_exhausted, {"part 3"});
    REQUIRE(write(*writer, body, {2 * part, 5}));
    REQUIRE(write(*writer, body, {2 * part + 6, 2 * part - 6}));
    REQUIRE(write(*writer, body, {4 * part + 10, 2 * part - 10}));
    REQUIRE(write(*writer, body, {6 * part + 10, 2 * part - 10}));
    REQUIRE(writer->commit());
  });
  CHECK(w.content() == body);
  w.clean();
}

TEST_CASE("offset_writer: what is not committed is aborted", "[checkpoint]") {
  for (const std::size_t size : {part / 2, 3 * part}) {
    for (const bool explicitly : {false, true}) {
      fixture w;
      const std::string body = pattern(size);
      w.run([&] {
        auto writer = w.open(size);
        REQUIRE(writer);
        REQUIRE(write(*writer, body, {0, size - 1}));
        if (!explicitly) return;
        CHECK(writer->abort());
        CHECK(writer->abort());
        refused(write(*writer, body, {size - 1, 1}), errc::failed_precondition, {"aborted"});
        CHECK(writer->commit().error().code() == errc::failed_precondition);
      });
      CHECK(w.content() == "old");
      w.clean();
    }
  }
}

TEST_CASE("offset_writer: an abort ends the writes of other threads", "[checkpoint]") {
  for (int round = 0; round < 10; ++round) {
    fixture w;
    const std::string body = pattern(24 * part);
    w.run([&] {
      auto writer = w.open(body.size());
      REQUIRE(writer);
      std::vector<std::thread> threads;
      for (std::size_t i = 0; i < 3; ++i) {
        threads.emplace_back([&, i] {
          for (std::size_t at = i * 8 * part; at < (i + 1) * 8 * part; at += part / 2) {
            if (!write(*writer, body, {at, part / 2})) return;
          }
        });
      }
      CHECK(writer->abort());
      for (auto& thread : threads) thread.join();
    });
    CHECK(w.content() == "old");
    w.clean();
  }
}

TEST_CASE("offset_writer: whichever request fails, nothing is left", "[checkpoint]") {
  const std::string body = pattern(4 * part + 9);
  for (const auto mode : {commit_mode::staged, commit_mode::direct}) {
    for (const store_verb verb :
         {store_verb::stat, store_verb::multipart_initiate, store_verb::upload_part,
          store_verb::multipart_complete, store_verb::move}) {
      if (verb == store_verb::move && mode == commit_mode::direct) continue;
      for (std::uint64_t nth = 1; nth <= (verb == store_verb::upload_part ? 5U : 1U); ++nth) {
        INFO("mode " << int(mode) << " verb " << int(verb) << " nth " << nth);
        fixture w;
        // The move after the probe's.
        const std::uint64_t which = verb == store_verb::move ? 2 : nth;
        const errc why = nth % 2 == 0 ? errc::unavailable : errc::data_loss;
        // A reply that is lost leaves what it was for.
        w.fail(verb, which, error(why, "damaged on the way"), nth % 3 == 0);
        w.run([&] {
          auto writer = w.open(body.size(), {.mode = mode});
          CHECK(writer.has_value() == (verb != store_verb::stat));
          if (!writer) return;
          result<void> wrote;
          for (std::size_t at = 0; at < body.size() && wrote; at += part + part / 3) {
            wrote = write(*writer, body, {at, std::min(part + part / 3, body.size() - at)});
          }
          const auto made = writer->commit();
          REQUIRE_FALSE(made);
          CHECK(made.error().code() == why);
          CHECK(made.error().object() == "o");
          if (!wrote) CHECK(wrote.error().code() == why);
        });
        CHECK(w.content() == "old");
        w.clean();
      }
    }
  }
}

TEST_CASE("offset_writer: where no parts are permitted it says what is missing", "[checkpoint]") {
  fixture w;
  const std::string body = pattern(3 * part);
  w.fail(store_verb::multipart_initiate, 1, error(errc::permission_denied, "no"), false, 100);
  w.run([&] {
    auto writer = w.open(body.size());
    REQUIRE(writer);
    const auto wrote = write(*writer, body, {0, body.size()});
    refused(wrote, errc::permission_denied, {"storage.multipartUploads.create"});
    // An object of one part needs none.
    CHECK(writer->commit().error().code() == errc::permission_denied);
    auto small = w.open(part);
    REQUIRE(small);
    REQUIRE(write(*small, body, {0, part}));
    REQUIRE(small->commit());
  });
  CHECK(w.content() == body.substr(0, part));
  w.clean();
}

TEST_CASE("offset_writer: a deadline and a cancel end it", "[checkpoint]") {
  const std::string body = pattern(3 * part);
  {
    fixture w;
    w.run([&] {
      upload_request hurried;
      hurried.limits.timeout = 30ms;  // open takes 10 of them
      auto writer = w.open(body.size(), hurried);
      REQUIRE(writer);
      auto outcome = write(*writer, body, {0, body.size()});
      const auto made = writer->commit();
      REQUIRE_FALSE(made);
      CHECK(made.error().code() == errc::deadline_exceeded);
    });
    CHECK(w.content() == "old");
    w.clean();
  }
  fixture w;
  std::atomic<bool> cancelled{false};
  w.store.set_faults([&](store_verb v, std::string_view, std::uint64_t) {
    std::optional<dataflux::injected_fault> fault;
    if (v == store_verb::multipart_complete) {
      // Hours pass in no time here.
      while (!cancelled) std::this_thread::yield();
      fault.emplace();
      fault->delay = std::chrono::hours(10);
    }
    return fault;
  });
  w.run([&] {
    auto writer = w.open(body.size());
    REQUIRE(writer);
    REQUIRE(write(*writer, body, {0, body.size()}));
    auto commit = writer->submit_commit();
    commit.cancel();
    cancelled = true;
    const auto made = commit.take();
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == errc::cancelled);
  });
  CHECK(w.content() == "old");
  w.clean();
}

TEST_CASE("offset_writer: by callbacks", "[checkpoint]") {
  const std::string body = pattern(2 * part + 5);
  for (const bool committed : {true, false}) {
    fixture w;
    std::optional<offset_writer> writer;
    offset_writer::start_open(w.context, fixture::request(), body.size(),
                              [&](result<offset_writer> made) { writer = std::move(*made); });
    while (!writer) w.clock.step();
    w.run([&] { CHECK(write(*writer, body, {0, body.size()})); });
    bool over = false;
    if (committed) {
      writer->start_commit(
          [&](result<dataflux::committed_object> made) { over = made.has_value(); });
    } else {
      writer->start_abort([&](result<void> outcome) { over = outcome.has_value(); });
    }
    while (!over) w.clock.step();
    w.run([&] { writer.reset(); });
    CHECK(w.content() == (committed ? body : "old"));
    w.clean();
  }
}

TEST_CASE("offset_writer: two writers share the memory", "[checkpoint]") {
  fixture w(6 * part);
  const std::string body = pattern(4 * part);
  w.run([&] {
    auto a = w.open(body.size(), {.mode = commit_mode::direct});
    REQUIRE(a);
    auto b = offset_writer::open(
        w.context, {.bucket = "bkt", .object = "o", .mode = commit_mode::direct, .part_size = part},
        body.size());
    REQUIRE(b);
    for (std::size_t i = 0; i < 4; ++i) REQUIRE(write(*a, body, {i * part, 1}));
    // What a has begun takes nothing of what b needs to go on.
    refused(write(*b, body, {0, 1}), errc::resource_exhausted, {"this writer has begun no part"});
    REQUIRE(write(*b, body, {0, 4 * part}));
    REQUIRE(b->commit());
    REQUIRE(a->abort());
  });
  CHECK(w.content() == body);
  w.clean();
}

TEST_CASE("offset_writer: a wait that ends before a byte is on its way takes none",
          "[checkpoint]") {
  const std::string body = pattern(4 * part);
  for (const bool stopped : {false, true}) {
    fixture w(2 * part);
    std::atomic<int> sent{0};
    w.store.set_faults([&](store_verb v, std::string_view, std::uint64_t) {
      std::optional<dataflux::injected_fault> fault;
      if (v != store_verb::upload_part) return fault;
      ++sent;
      fault.emplace().delay = dataflux::duration::max();  // is never answered
      return fault;
    });
    w.run([&] {
      auto writer = w.open(body.size());
      REQUIRE(writer);
      REQUIRE(write(*writer, body, {0, 10}));
      // One part's worth is begun, the other one's is on its way: there is none for a third.
      std::thread waits([&] { CHECK_FALSE(write(*writer, body, {part, part})); });
      while (sent == 0) std::this_thread::yield();
      for (int i = 0; i < 3; ++i) {
        std::stop_source stop;
        std::thread asks([&] { stop.request_stop(); });
        const auto bytes = dataflux::as_bytes(std::string_view(body).substr(2 * part, 2 * part));
        const auto outcome = stopped ? writer->write_at(2 * part, bytes, {.stop = stop.get_token()})
                                     : writer->write_at(2 * part, bytes, {.timeout = 1s});
        asks.join();
        refused(outcome, stopped ? errc::cancelled : errc::deadline_exceeded, {});
        CHECK(writer->written() == part + 10);
      }
      CHECK(writer->abort());
      waits.join();
    });
    CHECK(w.content() == "old");
    w.clean();
  }
}

TEST_CASE("offset_writer: a wait that ends with bytes on their way ends the upload",
          "[checkpoint]") {
  const std::string body = pattern(4 * part);
  fixture w;
  std::stop_source stop;
  w.store.set_faults([&](store_verb v, std::string_view, std::uint64_t) {
    std::optional<dataflux::injected_fault> fault;
    if (v != store_verb::upload_part) return fault;
    stop.request_stop();
    fault.emplace().delay = dataflux::duration::max();
    return fault;
  });
  w.run([&] {
    auto writer = w.open(body.size());
    REQUIRE(writer);
    const auto outcome =
        writer->write_at(0, dataflux::as_bytes(std::string_view(body).substr(0, 2 * part)),
                         {.stop = stop.get_token()});
    refused(outcome, errc::cancelled, {});
    refused(write(*writer, body, {2 * part, 10}), errc::cancelled, {});
    CHECK(writer->commit().error().code() == errc::cancelled);
    CHECK(writer->abort());
  });
  CHECK(w.content() == "old");
  w.clean();
}

}  // namespace offset_writer_test
