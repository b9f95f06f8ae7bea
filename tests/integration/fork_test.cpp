#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/checkpoint/upload_file.hpp>
#include <dataflux/download/batch_getter.hpp>
#include <dataflux/download/download_file.hpp>
#include <dataflux/download/get_one.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/transfer/leftovers.hpp>
#include <dataflux/transfer/remove_objects.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/impatient_client.hpp>
#include <support/run_child.hpp>
#include <support/temporary_folder.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace fork_test {

// The worker processes of a training job are often forked with all that their parent has made.
// What they then do with it fails at once and says why; it never waits for threads that are not
// there. (Readers, sets and listings have their own cases.)
#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes
namespace {

using dataflux::as_bytes;
using dataflux::errc;
using dataflux::error;

struct harness {
  harness() : server({.threads = 1}) {
    server.put("bkt", "o", std::string(100, 'x'));
    server.put("bkt", "q", "something else");
    std::ofstream(path) << "a file";
  }
  emulator::server server;
  const temporary_folder scratch{};
  const std::string path{(scratch.path / "f").string()};
  std::shared_ptr<dataflux::gcs::client> client{impatient_client(server)};
  dataflux::transfer_context context{*client};
  std::vector<std::byte> memory{100};

  dataflux::checkpoint_writer writer() {
    return dataflux::checkpoint_writer::open(context, {.bucket = "bkt", .object = "w"}).value();
  }
  dataflux::getter getter() {
    return {context,
            {.bucket = "bkt"},
            std::vector<dataflux::get_request>{{.object = "o"}, {.object = "q"}}};
  }
};

/// What it fails with.
template <class T>
std::optional<error> failure_of(const dataflux::result<T>& outcome) {
  if (outcome) return std::nullopt;
  return outcome.error();
}

/// What is wrong with `failure`, in the child.
bool refused(const std::optional<error>& failure, std::string_view object) {
  return failure && failure->code() == errc::failed_precondition &&
         failure->message().find("was made before fork()") != std::string::npos &&
         failure->bucket() == "bkt" && failure->object() == object;
}

/// The first use in a child that is not refused; 0 if all are.
int first_bad(const std::vector<std::function<bool()>>& uses) {
  return run_child([&] {
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (!uses[i]()) return static_cast<int>(i) + 1;
    }
    return 0;
  });
}

}  // namespace

TEST_CASE("fork: nothing new begins on the parent's client", "[integration]") {
  harness h;
  REQUIRE(h.writer().abort());  // all threads are at work
  const auto rows = dataflux::object_columns{};
  const int bad = first_bad({
      [&] {
        return refused(
            failure_of(dataflux::get_one(h.context, {.bucket = "bkt", .object = "o"}, h.memory)),
            "o");
      },
      [&] {
        return refused(failure_of(dataflux::download_file(
                           h.context, {.bucket = "bkt", .object = "o", .path = h.path + "2"})),
                       "o");
      },
      [&] {
        auto items = h.getter();
        items.cancel();
        return refused(failure_of(items.next()), "") &&
               refused(failure_of(items.next_batch(2)), "");
      },
      [&] {
        dataflux::upload_file_request r;
        r.path = h.path;
        r.upload.bucket = "bkt";
        r.upload.object = "u";
        return refused(failure_of(dataflux::upload_file(h.context, r)), "u");
      },
      [&] {
        return refused(failure_of(dataflux::checkpoint_writer::open(
                           h.context, {.bucket = "bkt", .object = "w"})),
                       "w");
      },
      [&] {
        return refused(failure_of(dataflux::remove_leftovers(*h.client, {.bucket = "bkt"})), "") &&
               refused(failure_of(
                           dataflux::remove_objects(*h.client, {.bucket = "bkt", .names = {"o"}})),
                       "");
      },
      [&] {
        return refused(failure_of(dataflux::save_manifest(
                           *h.client, {.bucket = "bkt", .object = "m"}, {}, rows)),
                       "m");
      },
      [&] {
        const dataflux::transfer_context late(*h.client);
        return refused(
            failure_of(dataflux::get_one(late, {.bucket = "bkt", .object = "o"}, h.memory)), "o");
      },
  });
  CHECK(bad == 0);
  CHECK(dataflux::get_one(h.context, {.bucket = "bkt", .object = "o"}, h.memory));
}

TEST_CASE("fork: what the parent has begun stays the parent's", "[integration]") {
  harness h;
  auto writer = h.writer();
  REQUIRE(writer.write(as_bytes(std::string_view("half"))));
  auto items = h.getter();
  REQUIRE(items.next());
  std::vector<std::byte> row(100);
  dataflux::batch_getter batches(h.context, {.bucket = "bkt"});
  std::vector<dataflux::get_request> rows{{.object = "o", .object_size = row.size()}};
  REQUIRE(batches.push(rows, {.memory = row}));
  const auto inherited = [](const std::optional<error>& failure) {
    return failure && failure->code() == errc::failed_precondition;
  };
  const int bad = first_bad({
      [&] { return inherited(failure_of(writer.write(as_bytes(std::string_view("x"))))); },
      [&] {
        dataflux::completion_queue queue;
        writer.notify(queue, 1);
        std::array<dataflux::completion_event, 2> events;
        return queue.next(events, {}) == 1 && events[0].code == errc::failed_precondition;
      },
      [&] {
        const auto bytes = as_bytes(std::string_view("x"));
        return inherited(failure_of(writer.try_write(bytes))) &&
               inherited(failure_of(writer.try_write_borrowed(bytes)));
      },
      [&] { return inherited(failure_of(writer.commit())); },
      [&] { return inherited(failure_of(writer.abort())); },
      [&] { return inherited(failure_of(items.next())); },
      [&] {
        batches.finish();
        batches.cancel();
        return inherited(failure_of(batches.next())) &&
               inherited(failure_of(batches.push(rows, {.memory = row})));
      },
      [&] {
        const auto gone = std::move(writer);
        const auto gone_too = std::move(items);
        const auto batches_too = std::move(batches);
        return true;
      },
  });
  CHECK(bad == 0);
  REQUIRE(writer.write(as_bytes(std::string_view(" and half"))));
  REQUIRE(writer.commit());
  CHECK(h.server.get("bkt", "w") == "half and half");
  const auto batch = batches.next();
  REQUIRE((batch && *batch));
  CHECK((*batch)->failures.empty());
  CHECK(row == std::vector<std::byte>(100, std::byte{'x'}));
  const auto last = items.next();
  REQUIRE((last && *last));
  CHECK_FALSE((*last)->failure);
}

TEST_CASE("fork: the child makes a client of its own", "[integration]") {
  harness h;
  REQUIRE(dataflux::get_one(h.context, {.bucket = "bkt", .object = "o"}, h.memory));
  const int bad = first_bad({[&] {
    const auto own = impatient_client(h.server);
    const dataflux::transfer_context context(*own);
    auto writer = dataflux::checkpoint_writer::open(context, {.bucket = "bkt", .object = "w"});
    return writer && writer->write(as_bytes(std::string_view("the child's"))) && writer->commit();
  }});
  CHECK(bad == 0);
  CHECK(h.server.get("bkt", "w") == "the child's");
}

TEST_CASE("fork: memory that is borrowed is dropped without the parent's locks (mend 10)",
          "[integration]") {
  harness h;
  std::vector<dataflux::get_request> requests;
  for (int i = 0; i < 40; ++i) {
    requests.push_back({.object = std::to_string(i)});
    h.server.put("bkt", requests.back().object, std::string(i % 2 == 0 ? 1000 : 200'000, 'x'));
  }
  dataflux::getter all(h.context, {.bucket = "bkt"}, requests);
  auto borrowed = all.next_batch(40).value();
  REQUIRE_FALSE(borrowed.empty());
  // Meanwhile the parent's threads take memory and give it back.
  std::atomic<bool> over{false};
  std::thread reads([&] {
    while (!over) {
      dataflux::getter items(h.context, {.bucket = "bkt"}, requests);
      while (!items.next_batch(4).value().empty()) {
      }
    }
  });
  int bad = 0;
  for (int i = 0; i < 50 && bad == 0; ++i) {
    bad = first_bad({
        [&] {
          borrowed.clear();
          return true;
        },
        [&] { return h.context.counters().borrowed == 0; },
    });
  }
  over = true;
  reads.join();
  CHECK(bad == 0);
}
#endif

}  // namespace fork_test
