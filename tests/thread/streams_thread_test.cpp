#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/download/batch_getter.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/list/fast_list.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <thread/thread_client.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace streams_thread_test {

// One stream, many threads.
namespace {

using namespace std::chrono_literals;
using dataflux::errc;
namespace gcs = dataflux::gcs;

template <class Work>
void on_threads(std::size_t count, Work work) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
  for (std::thread& each : threads) each.join();
}

constexpr std::size_t objects = 400;

void fill(emulator::server& server) {
  for (std::size_t i = 0; i < objects; ++i) {
    server.put("bucket", "o" + std::to_string(i),
               std::string(1000, static_cast<char>('a' + i % 26)));
  }
}

}  // namespace

TEST_CASE("getter: many threads share one, each item goes to one of them (mend 16)", "[thread]") {
  emulator::server server;
  fill(server);
  const auto client = thread_client(server);
  const auto listing = dataflux::fast_list(*client, {.bucket = "bucket"}).value();
  REQUIRE(listing.objects.size() == objects);
  const dataflux::transfer_context context(*client);
  dataflux::getter items(context, {.bucket = "bucket"}, listing.objects.slice(0, objects));
  std::vector<std::atomic<int>> seen(objects);
  std::atomic<int> wrong{0};
  on_threads(4, [&](std::size_t thread) {
    const auto note = [&](const dataflux::got_item& item) {
      ++seen[item.index];
      if (item.failure || !item.verified || item.bytes.size() != 1000) ++wrong;
    };
    for (;;) {
      if (thread % 2 == 0) {
        const auto item = items.next();
        if (!item) ++wrong;
        if (!item || !*item) return;
        note(**item);
      } else {
        const auto some = items.next_batch(3);
        if (!some) ++wrong;
        if (!some || some->empty()) return;
        for (const auto& item : *some) note(item);
      }
    }
  });
  CHECK(wrong == 0);
  CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& times) { return times == 1; }));
}

TEST_CASE("getter: many threads feed one, and one waits for it by a queue", "[thread]") {
  emulator::server server;
  fill(server);
  const auto client = thread_client(server);
  const auto listing = dataflux::fast_list(*client, {.bucket = "bucket"}).value();
  const dataflux::transfer_context context(*client);
  dataflux::get_feed feed(listing.objects.slice(0, objects), 16);
  dataflux::completion_queue queue;
  dataflux::getter items(context, {.bucket = "bucket"}, feed);
  constexpr std::size_t feeders = 3;
  std::atomic<std::size_t> feeding{feeders};
  std::size_t got = 0;
  std::size_t wrong = 0;
  on_threads(feeders + 1, [&](std::size_t thread) {
    if (thread < feeders) {
      for (std::uint64_t row = thread; row < objects; row += feeders) {
        while (feed.push_rows(std::span(&row, 1)) == 0) std::this_thread::yield();
      }
      if (--feeding == 0) feed.finish();
      return;
    }
    std::array<dataflux::completion_event, 1> event;
    for (bool over = false; !over;) {
      items.notify(queue, 1);
      if (queue.next(event, dataflux::duration::max()) == 0) continue;
      std::vector<dataflux::got_item> some;
      const auto what = items.try_next_batch(7, some);
      if (!what || *what == dataflux::taken::nothing) ++wrong;
      over = !what || *what == dataflux::taken::ended;
      for (const auto& item : some) {
        ++got;
        if (item.failure || !item.verified) ++wrong;
      }
    }
  });
  CHECK(wrong == 0);
  CHECK(got == objects);
}

TEST_CASE("batch_getter: threads push and take batches of one", "[thread]") {
  emulator::server server;
  fill(server);
  const auto client = thread_client(server);
  const auto listing = dataflux::fast_list(*client, {.bucket = "bucket"}).value();
  const dataflux::transfer_context context(*client);
  dataflux::batch_getter batches(context, {.bucket = "bucket"}, listing.objects.slice(0, objects));
  constexpr std::size_t rows = 8;
  constexpr std::size_t pushers = 3;
  constexpr std::size_t each = 40;
  std::vector<std::byte> memory(pushers * each * rows * 1000);
  std::atomic<std::size_t> pushing{pushers};
  std::atomic<std::size_t> got{0};
  std::atomic<std::size_t> wrong{0};
  on_threads(pushers + 2, [&](std::size_t thread) {
    for (std::size_t i = 0; thread < pushers && i < each; ++i) {
      std::array<std::uint64_t, rows> numbers;
      for (std::size_t k = 0; k < rows; ++k) numbers[k] = (thread * each + i * rows + k) % objects;
      const auto mine = std::span(memory).subspan((thread * each + i) * rows * 1000, rows * 1000);
      if (!batches.push_rows(numbers, {.memory = mine})) ++wrong;
    }
    if (thread < pushers) {
      if (--pushing == 0) batches.finish();
      return;
    }
    for (;;) {
      const auto batch = batches.next();
      if (!batch) ++wrong;
      if (!batch || !*batch) return;
      ++got;
      if (!(*batch)->failures.empty() || (*batch)->bytes != rows * 1000) ++wrong;
    }
  });
  CHECK(wrong == 0);
  CHECK(got == pushers * each);
  CHECK(std::none_of(memory.begin(), memory.end(), [](std::byte b) { return b == std::byte{0}; }));
}

TEST_CASE("batch_getter: pushed to while it and its client end", "[thread]") {
  emulator::server server;
  fill(server);
  for (int round = 0; round < 20; ++round) {
    const auto client = thread_client(server);
    const auto listing = dataflux::fast_list(*client, {.bucket = "bucket"}).value();
    const dataflux::transfer_context context(*client);
    std::vector<std::byte> memory(100 * 1000);
    dataflux::batch_getter batches(context, {.bucket = "bucket"},
                                   listing.objects.slice(0, objects));
    on_threads(3, [&](std::size_t thread) {
      std::vector<std::uint64_t> numbers(100, static_cast<std::uint64_t>(round));
      if (thread == 0) std::this_thread::sleep_for(round * 100us);
      if (thread == 0) return batches.cancel();
      if (thread == 1) {
        while (batches.push_rows(numbers, {.memory = memory})) std::this_thread::yield();
        return;
      }
      while (const auto batch = batches.next()) {
        if (!*batch) break;
      }
    });
    CHECK(batches.next().error().code() == errc::cancelled);
  }
}

TEST_CASE("getter: a feed may be pushed to while its getter and client begin and end", "[thread]") {
  emulator::server server;
  fill(server);
  const auto listed = dataflux::fast_list(*thread_client(server), {.bucket = "bucket"}).value();
  for (int round = 0; round < 20; ++round) {
    dataflux::get_feed feed(listed.objects.slice(0, objects), 64);
    std::atomic<bool> over{false};
    std::thread feeder([&] {
      for (std::uint64_t row = 0; !over; row = (row + 1) % objects) {
        static_cast<void>(feed.push_rows(std::span(&row, 1)));
      }
    });
    {
      const auto client = thread_client(server);
      const dataflux::transfer_context context(*client);
      dataflux::getter items(context, {.bucket = "bucket"}, feed);
      CHECK(items.next_batch(5).value().size() > 0);
    }
    over = true;
    feeder.join();
    std::uint64_t row = 0;
    CHECK(feed.push_rows(std::span(&row, 1)) == 0);
  }
}

TEST_CASE("fast_lister: many threads share one, each page goes to one of them (mend 16)",
          "[thread]") {
  emulator::server server;
  fill(server);
  const auto client = thread_client(server);
  dataflux::fast_list_request request{.bucket = "bucket"};
  request.page_size = 20;
  dataflux::fast_lister pages(*client, request);
  std::atomic<std::size_t> found{0};
  std::atomic<int> wrong{0};
  on_threads(4, [&](std::size_t) {
    for (;;) {
      const auto page = pages.next_page();
      if (!page) ++wrong;
      if (!page || !*page) return;
      found += (*page)->objects.size();
    }
  });
  CHECK(wrong == 0);
  CHECK(found == objects);
}

TEST_CASE("checkpoint_writer: a second thread is refused at once (mend 16)", "[thread]") {
  emulator::server server;
  server.create_bucket("bucket");
  const auto client = thread_client(server);
  const dataflux::transfer_context context(*client);
  auto writer =
      dataflux::checkpoint_writer::open(context, {.bucket = "bucket", .object = "made"}).value();
  const std::vector<std::byte> piece(100'000, std::byte{7});
  std::atomic<std::uint64_t> written{0};
  std::atomic<int> refused{0};
  std::atomic<int> wrong{0};
  on_threads(8, [&](std::size_t) {
    for (int i = 0; i < 50; ++i) {
      const auto done = writer.write(piece);
      if (done) {
        written += piece.size();
      } else if (done.error().code() == errc::failed_precondition) {
        ++refused;
      } else {
        ++wrong;
      }
    }
  });
  CHECK(wrong == 0);
  CHECK(written > 0);
  CHECK(writer.written() == written);
  const auto made = writer.commit();
  REQUIRE(made);
  const auto stored = client->stat({.bucket = "bucket", .object = "made"});
  REQUIRE(stored);
  CHECK(stored->size == written);
}

TEST_CASE("transfer_context: it may own its store, which then lasts as long (mend 16)",
          "[thread]") {
  emulator::server server;
  fill(server);
  for (int round = 0; round < 20; ++round) {
    auto client = thread_client(server);
    const std::weak_ptr<gcs::client> alive = client;
    const auto listing = dataflux::fast_list(*client, {.bucket = "bucket"}).value();
    std::optional<dataflux::transfer_context> context(std::in_place, std::move(client));
    std::optional<dataflux::getter> items(std::in_place, *context,
                                          dataflux::get_many_request{.bucket = "bucket"},
                                          listing.objects.slice(0, objects));
    context.reset();
    CHECK_FALSE(alive.expired());
    for (int i = 0; i < 5; ++i) {
      const auto item = items->next();
      REQUIRE((item && *item && !(*item)->failure));
    }
    items.reset();
    while (!alive.expired()) std::this_thread::yield();
  }
}

TEST_CASE("client: the last reference may go inside a completion (mend 16)", "[thread]") {
  emulator::server server;
  fill(server);
  for (int round = 0; round < 20; ++round) {
    auto client = thread_client(server);
    const std::weak_ptr<gcs::client> alive = client;
    std::promise<bool> read;
    dataflux::object_store& store = *client;
    store.start(dataflux::stat_request{.bucket = "bucket", .object = "o1"},
                [&read, client = std::move(client)](const auto& object) mutable {
                  const bool good = object.has_value();
                  client.reset();
                  read.set_value(good);
                });
    CHECK(read.get_future().get());
    CHECK(alive.expired());
  }
}

}  // namespace streams_thread_test
