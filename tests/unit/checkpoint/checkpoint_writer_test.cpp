#include "writer_fixture.hpp"

#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/checkpoint/detail/writer_state.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/exec/detail/fork.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/memory_store.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <support/catch.hpp>

#include <pthread.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace checkpoint_writer_test {

using namespace std::chrono_literals;
using dataflux::as_bytes;
using dataflux::checkpoint_writer;
using dataflux::commit_mode;
using dataflux::errc;
using dataflux::memory_store;
using dataflux::store_verb;
using dataflux::transfer_context;
using dataflux::upload_path;
using dataflux::upload_request;

namespace {

constexpr std::size_t part = writer_fixture::part;

struct fixture : writer_fixture {
  using writer_fixture::writer_fixture;

  std::string content(std::size_t size) {
    std::string body(size + 1, '\0');
    dataflux::span_sink sink(std::as_writable_bytes(std::span(body)));
    run([&] {
      const auto read = store.read({.bucket = "bkt", .object = "o"}, sink);
      body.resize(read ? static_cast<std::size_t>(read->bytes) : 0);
    });
    return body;
  }
};

std::string pattern(std::size_t size) {
  std::string body(size, '\0');
  for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>(i * 7 + i / 251);
  return body;
}

}  // namespace

TEST_CASE("checkpoint_writer: writes of any sizes make one object", "[checkpoint]") {
  for (const std::size_t step : {std::size_t{1000}, part - 1, part, 3 * part + 7}) {
    fixture w;
    const std::string body = pattern(6 * part + 11);
    w.run([&] {
      auto writer = checkpoint_writer::open(w.context, w.request());
      REQUIRE(writer);
      for (std::size_t at = 0; at < body.size(); at += step) {
        REQUIRE(writer->write(as_bytes(std::string_view(body).substr(at, step))));
      }
      CHECK(writer->written() == body.size());
      const auto made = writer->commit();
      REQUIRE(made);
      CHECK(made->path == upload_path::multipart);
      CHECK(made->parts.size() == 7);
      CHECK(made->object.size == body.size());
    });
    CHECK(w.content(body.size()) == body);
    CHECK(w.store.open_uploads() == 0);
    CHECK(w.context.state()->uploads.memory.peak() <= 4 * part);
  }
}

TEST_CASE("checkpoint_writer: borrowed bytes are sent from where they are", "[checkpoint]") {
  struct piece {
    std::size_t size;
    bool borrowed;
  };
  const std::vector<std::vector<piece>> plans{
      {{5 * part, true}},
      {{5 * part + 77, true}},
      {{100, false}, {5 * part + 77, true}, {part / 2, false}, {part / 4, true}},
      {{part / 2 + 9, true}, {part / 2 + 9, true}, {part, true}, {3 * part - 1, true}},
      {{part - 1, false}, {2 * part, true}, {1, true}, {0, true}},
      {{10, true}},
  };
  for (const auto& plan : plans) {
    fixture w;
    std::size_t all = 0;
    for (const piece& p : plan) all += p.size;
    const std::string body = pattern(all);
    std::atomic<int> released{0};
    w.run([&] {
      auto writer = checkpoint_writer::open(w.context, w.request());
      REQUIRE(writer);
      std::size_t at = 0;
      for (const piece& p : plan) {
        const auto bytes = as_bytes(std::string_view(body).substr(at, p.size));
        at += p.size;
        if (p.borrowed) {
          REQUIRE(writer->write_borrowed(bytes, [&] { ++released; }));
        } else {
          REQUIRE(writer->write(bytes));
        }
      }
      REQUIRE(writer->commit());
      int borrowed = 0;
      for (const piece& p : plan) borrowed += p.borrowed ? 1 : 0;
      CHECK(released == borrowed);
    });
    CHECK(w.content(body.size()) == body);
  }
}

TEST_CASE("checkpoint_writer: what is not committed is aborted", "[checkpoint]") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, 9 * part}) {
    for (const bool explicitly : {false, true}) {
      fixture w;
      const std::string body = pattern(size);
      std::atomic<int> released{0};
      w.run([&] {
        auto writer = checkpoint_writer::open(w.context, w.request());
        REQUIRE(writer);
        REQUIRE(writer->write(as_bytes(body)));
        REQUIRE(writer->write_borrowed(as_bytes(body), [&] { ++released; }));
        if (explicitly) {
          CHECK(writer->abort());
          CHECK(writer->abort());
          CHECK(writer->write(as_bytes("x")).error().code() == errc::failed_precondition);
          CHECK(writer->commit().error().code() == errc::failed_precondition);
        }
      });
      CHECK(w.content(10) == "old");
      CHECK(w.store.open_uploads() == 0);
      CHECK(released == 1);
      CHECK(w.context.state()->uploads.memory.held() == 0);
    }
  }
}

TEST_CASE("checkpoint_writer: nothing after commit", "[checkpoint]") {
  fixture w;
  w.run([&] {
    auto writer = checkpoint_writer::open(w.context, w.request());
    REQUIRE(writer);
    REQUIRE(writer->write(as_bytes("new")));
    REQUIRE(writer->commit());
    CHECK(writer->write(as_bytes("x")).error().code() == errc::failed_precondition);
    CHECK(writer->commit().error().code() == errc::failed_precondition);
    CHECK(writer->abort());
  });
  CHECK(w.content(10) == "new");
}

TEST_CASE("checkpoint_writer: a part that fails is told by the next write", "[checkpoint]") {
  fixture w;
  w.store.set_faults([](store_verb v, std::string_view, std::uint64_t nth) {
    std::optional<dataflux::injected_fault> fault;
    if (v == store_verb::upload_part && nth == 3) {
      fault.emplace();
      fault->failure = dataflux::error(errc::data_loss, "damaged on the way");
    }
    return fault;
  });
  const std::string body = pattern(part);
  w.run([&] {
    auto writer = checkpoint_writer::open(w.context, w.request());
    REQUIRE(writer);
    dataflux::result<void> wrote;
    for (int i = 0; i < 100 && wrote; ++i) wrote = writer->write(as_bytes(body));
    REQUIRE_FALSE(wrote);
    CHECK(wrote.error().code() == errc::data_loss);
    CHECK(wrote.error().message().find("part 3") == 0);
    const auto made = writer->commit();
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == errc::data_loss);
    CHECK(w.store.open_uploads() == 0);
  });
  CHECK(w.content(10) == "old");
}

TEST_CASE("checkpoint_writer: many writers that one thread fills in turns", "[checkpoint]") {
  fixture w(8 * part);
  const std::string body = pattern(3 * part + 5);
  w.run([&] {
    std::vector<checkpoint_writer> writers;
    for (int i = 0; i < 8; ++i) {
      auto writer = checkpoint_writer::open(
          w.context, w.request({.object = "m" + std::to_string(i), .mode = commit_mode::direct}));
      REQUIRE(writer);
      writers.push_back(std::move(*writer));
    }
    for (std::size_t at = 0; at < body.size(); at += 1000) {
      for (auto& writer : writers) {
        REQUIRE(writer.write(as_bytes(std::string_view(body).substr(at, 1000))));
      }
    }
    for (auto& writer : writers) {
      const auto made = writer.commit();
      REQUIRE(made);
      CHECK(made->object.crc32c == dataflux::crc32c(as_bytes(body)));
    }
  });
  CHECK(w.context.state()->uploads.memory.peak() <= 8 * part);
}

TEST_CASE("checkpoint_writer: a write waits on through signals, or says that one came",
          "[checkpoint]") {
  struct sigaction handles {};
  struct sigaction before {};
  handles.sa_handler = [](int) {};
  ::sigaction(SIGUSR2, &handles, &before);
  fixture w;
  const std::string body = pattern(40 * part);
  w.run([&] {
    auto writer = checkpoint_writer::open(w.context, w.request());
    REQUIRE(writer);
    std::atomic<bool> over{false};
    std::thread signals([&over, writing = ::pthread_self()] {
      while (!over) ::pthread_kill(writing, SIGUSR2);
    });
    const std::string_view half = std::string_view(body).substr(0, 20 * part);
    const auto good = writer->write(as_bytes(half));
    while (good && writer->written() < body.size()) {
      const auto rest = std::string_view(body).substr(static_cast<std::size_t>(writer->written()));
      const auto end = dataflux::detail::interruptible::write(*writer, as_bytes(rest), {});
      if (!end) break;
      if (*end == dataflux::detail::write_end::all) CHECK(writer->written() == body.size());
    }
    over = true;
    signals.join();
    CHECK(good);
    CHECK(writer->commit());
  });
  ::sigaction(SIGUSR2, &before, nullptr);
  CHECK(w.content(body.size()) == body);
}

TEST_CASE("checkpoint_writer: a write that finds no descriptor to wait by ends the writer",
          "[checkpoint]") {
  fixture w;
  std::atomic<bool> tried{false};
  w.store.set_faults([&](store_verb v, std::string_view, std::uint64_t) {
    while (v == store_verb::upload_part && !tried) std::this_thread::yield();
    return std::optional<dataflux::injected_fault>();
  });
  const std::string body = pattern(40 * part);
  w.run([&] {
    auto writer = checkpoint_writer::open(w.context, w.request());
    REQUIRE(writer);
    ::rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    ::rlimit none = before;
    none.rlim_cur = 0;
    ::setrlimit(RLIMIT_NOFILE, &none);
    const auto refused = writer->write(as_bytes(body));
    ::setrlimit(RLIMIT_NOFILE, &before);
    tried = true;
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::resource_exhausted);
    CHECK(refused.error().message().find("descriptor") != std::string::npos);
    // Part of the bytes was taken: nothing may be committed.
    CHECK(writer->write(as_bytes(body)).error().code() == errc::resource_exhausted);
    CHECK(writer->commit().error().code() == errc::resource_exhausted);
  });
}

TEST_CASE("checkpoint_writer: an operation that is cancelled ends the commit", "[checkpoint]") {
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
  const std::string body = pattern(3 * part);
  w.run([&] {
    auto writer = checkpoint_writer::open(w.context, w.request());
    REQUIRE(writer);
    REQUIRE(writer->write(as_bytes(body)));
    auto commit = writer->submit_commit();
    commit.cancel();
    cancelled = true;
    const auto made = commit.take();
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == errc::cancelled);
  });
  CHECK(w.content(10) == "old");
  CHECK(w.store.open_uploads() == 0);
}

TEST_CASE("checkpoint_writer: opens, commits and aborts by callbacks, too", "[checkpoint]") {
  dataflux::virtual_thread clock;
  memory_store store(clock, {.traits = {.min_part_size = part}, .rtt = 10ms});
  const transfer_context context(store, {.upload_memory = 4 * part});
  store.put("bkt", "o", as_bytes("old"));
  const auto open = [&] {
    std::promise<dataflux::result<checkpoint_writer>> opened;
    checkpoint_writer::start_open(
        context, {.bucket = "bkt", .object = "o", .part_size = part},
        [&](dataflux::result<checkpoint_writer> w) { opened.set_value(std::move(w)); });
    return opened.get_future().get();
  };
  const auto ended = [](checkpoint_writer& writer) {
    std::promise<dataflux::result<void>> aborted;
    writer.start_abort([&](dataflux::result<void> done) { aborted.set_value(std::move(done)); });
    return aborted.get_future().get();
  };
  auto dropped = open();
  REQUIRE(dropped);
  REQUIRE(dropped->write(as_bytes(pattern(2 * part))));
  CHECK(ended(*dropped));
  CHECK(store.stat({.bucket = "bkt", .object = "o"})->size == 3);
  CHECK(store.open_uploads() == 0);
  auto writer = open();
  REQUIRE(writer);
  REQUIRE(writer->write(as_bytes("new bytes")));
  std::promise<dataflux::result<dataflux::committed_object>> made;
  writer->start_commit(
      [&](dataflux::result<dataflux::committed_object> done) { made.set_value(std::move(done)); });
  CHECK(made.get_future().get().value().object.size == 9);
  CHECK(ended(*writer));
  CHECK(store.stat({.bucket = "bkt", .object = "o"})->size == 9);
}

}  // namespace checkpoint_writer_test
